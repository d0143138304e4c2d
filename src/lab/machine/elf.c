/* See elf.h. */
#include "lab/machine/elf.h"

#include <string.h>

bool smp_elf_section(const smp_elf *elf, uint64_t number, Elf64_Shdr *section)
{
    const uint64_t table = elf->head.e_shoff;
    if (number >= elf->head.e_shnum || table > elf->size || (elf->size - table) / sizeof *section <= number)
        return false;
    memcpy(section, elf->bytes + table + number * sizeof *section, sizeof *section);
    return section->sh_type == SHT_NOBITS ||
           (section->sh_offset <= elf->size && section->sh_size <= elf->size - section->sh_offset);
}

bool smp_elf_open(const void *bytes, size_t size, smp_elf *elf)
{
    static const Elf64_Shdr none = {.sh_type = SHT_NOBITS};
    Elf64_Shdr *const symbols = &elf->symbols;
    *elf = (smp_elf){.bytes = bytes, .size = size};
    if (size < sizeof elf->head)
        return false;
    memcpy(&elf->head, bytes, sizeof elf->head);
    if (memcmp(elf->head.e_ident, ELFMAG, SELFMAG) != 0 || elf->head.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    if (elf->head.e_shentsize != sizeof(Elf64_Shdr) || !smp_elf_section(elf, elf->head.e_shstrndx, &elf->names)) {
        elf->head.e_shnum = 0;
        elf->names = none;
    }
    bool found = false;
    for (uint64_t i = 0; i < elf->head.e_shnum && !found; i++)
        found = smp_elf_section(elf, i, symbols) && symbols->sh_type == SHT_SYMTAB &&
                smp_elf_section(elf, symbols->sh_link, &elf->symbol_names);
    if (!found)
        elf->symbols = elf->symbol_names = none;
    return true;
}

const unsigned char *smp_elf_bytes(const smp_elf *elf, const Elf64_Shdr *section)
{
    return section->sh_type == SHT_NOBITS ? NULL : elf->bytes + section->sh_offset;
}

const char *smp_elf_text(const smp_elf *elf, const Elf64_Shdr *texts, uint64_t at)
{
    const char *text = (const char *)smp_elf_bytes(elf, texts);
    return text && at < texts->sh_size && memchr(text + at, 0, texts->sh_size - at) ? text + at : "";
}

const char *smp_elf_symbol(const smp_elf *elf, uint64_t number, Elf64_Sym *symbol)
{
    *symbol = (Elf64_Sym){0};
    if (number >= elf->symbols.sh_size / sizeof *symbol)
        return "";
    memcpy(symbol, elf->bytes + elf->symbols.sh_offset + number * sizeof *symbol, sizeof *symbol);
    return smp_elf_text(elf, &elf->symbol_names, symbol->st_name);
}
