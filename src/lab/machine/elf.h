/* Sections and symbols of an ELF file of 64 bits in memory: executables, and cubins of nvcc. What is told of lies in
 * the file. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct smp_elf {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr head;                         /* e_shnum 0: its sections cannot be read */
    Elf64_Shdr names, symbols, symbol_names; /* sh_size 0: there are none */
} smp_elf;

/* False: it is no such file. */
bool smp_elf_open(const void *bytes, size_t size, smp_elf *elf);
/* False: there is none of that number. */
bool smp_elf_section(const smp_elf *elf, uint64_t number, Elf64_Shdr *section);
/* Null: a section without bytes in the file. */
const unsigned char *smp_elf_bytes(const smp_elf *elf, const Elf64_Shdr *section);
/* The text at an offset of a section of texts; "": there is none. */
const char *smp_elf_text(const smp_elf *elf, const Elf64_Shdr *texts, uint64_t at);
/* A symbol's name; "": there is none of that number, or it has none. */
const char *smp_elf_symbol(const smp_elf *elf, uint64_t number, Elf64_Sym *symbol);
