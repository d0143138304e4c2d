/* pack_sass CUBIN TEXT VERSION OUT: packs what `nvdisasm -c -gi` wrote of a cubin, and what of the cubin that does not
 * tell (memory, parameters, constants), into a gzip file that src/lab/program_kernels/store.c reads. Of a chain of
 * inlined source lines the one that counts is kept; of the cubin's code the bits stay by which ptxas steers the
 * hardware, and debugging sections become zeros. A tool of the build. */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t room = 0;
    *size = 0;
    while (file && !feof(file) && !ferror(file)) {
        room += (size_t)1 << 20;
        char *more = realloc(bytes, room + 1);
        if (!more)
            break;
        bytes = more;
        *size += fread(bytes + *size, 1, room - *size, file);
        bytes[*size] = 0;
    }
    if (!file || !bytes || ferror(file)) {
        fprintf(stderr, "pack_sass: %s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return bytes;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Sections that tell of memory, parameters and constants, and those that these need. */
static bool is_kept(const char *name)
{
    static const char *const kept[] = {".shstrtab",  ".strtab",           ".symtab",
                                       ".nv.info",   ".nv.shared",        ".nv.constant",
                                       ".nv.global", ".rela.nv.constant", ".rel.nv.constant"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (begins(name, kept[i]))
            return true;
    return false;
}

/* Of each instruction's 128 bits 105 to 125 stay: the model of time needs them (lab/time/code.c). */
static void blank_code(char *code, size_t size)
{
    enum { INST = 16, HALF = 8, BITS = 21 };
    for (char *at = code; at + INST <= code + size; at += INST) {
        uint64_t upper;
        memcpy(&upper, at + HALF, sizeof upper);
        upper &= ((UINT64_C(1) << BITS) - 1) << (105 - 64);
        memset(at, 0, HALF);
        memcpy(at + HALF, &upper, sizeof upper);
    }
}

static void blank_sections(char *cubin, size_t size)
{
    Elf64_Ehdr head;
    Elf64_Shdr names, section;
    const size_t each = sizeof section;
    if (size < sizeof head)
        exit(1);
    memcpy(&head, cubin, sizeof head);
    if (head.e_shoff > size || (size - head.e_shoff) / each < head.e_shnum || head.e_shstrndx >= head.e_shnum)
        exit(1);
    memcpy(&names, cubin + head.e_shoff + head.e_shstrndx * each, each);
    for (size_t i = 0; i < head.e_shnum; i++) {
        memcpy(&section, cubin + head.e_shoff + i * each, each);
        if (section.sh_type == SHT_NOBITS || section.sh_offset > size || section.sh_size > size - section.sh_offset ||
            section.sh_name >= names.sh_size || names.sh_offset + section.sh_name >= size)
            continue;
        const char *name = cubin + names.sh_offset + section.sh_name;
        if (begins(name, ".text."))
            blank_code(cubin + section.sh_offset, section.sh_size);
        else if (!is_kept(name))
            memset(cubin + section.sh_offset, 0, section.sh_size);
    }
}

/* Headers of a toolkit: what is inlined from there counts for the line that calls it (lab/sass/module.c). */
static bool is_toolkit(const char *name)
{
    return strstr(name, "include/") && (strstr(name, "cuda") || strstr(name, "nvidia") || begins(name, "/usr/"));
}

typedef struct place {
    char name[128];
    unsigned long line;
    bool chosen;
} place;

/* //## File "a.cu", line 7 inlined at "b.cu", line 9 */
static void read_place(const char *line, place *at)
{
    char path[1024];
    unsigned long number;
    const char *open = strchr(line, '"');
    if (at->chosen || !open || sscanf(open, "\"%1023[^\"]\", line %lu", path, &number) != 2 || !number)
        return;
    const char *slash = strrchr(path, '/');
    snprintf(at->name, sizeof at->name, "%.127s", slash ? slash + 1 : path);
    at->line = number;
    at->chosen = !is_toolkit(path);
}

static void pack_text(char *text, gzFile to)
{
    place now = {.line = 0}, told = {.line = 0};
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (begins(line, "\t.section\t.text.")) {
            gzprintf(to, "%s\n", line);
            memset(&now, 0, sizeof now);
            memset(&told, 0, sizeof told);
        } else if (begins(line, "\t.target"))
            gzprintf(to, "%s\n", line);
        else if (strstr(line, "//## File"))
            read_place(line, &now);
        else if (*line == '.' && line[strlen(line) - 1] == ':')
            gzprintf(to, "%s\n", line);
        else if (begins(line, "        /*")) {
            const char *code = strstr(line, "*/"), *end = strchr(line, ';');
            if (!code || !end || end < code)
                continue;
            code += 2 + strspn(code + 2, " ");
            if (now.line && (now.line != told.line || strcmp(now.name, told.name) != 0)) {
                gzprintf(to, "//## File \"%s\", line %lu\n", now.name, now.line);
                told = now;
            }
            now.chosen = false;
            gzprintf(to, "/**/%.*s;\n", (int)(end - code), code);
        } else if (line[0] && line[strlen(line) - 1] == ':')
            gzprintf(to, "%s\n", line);
    }
}

int main(int argc, char **argv)
{
    size_t cubin_size, text_size;
    if (argc != 5) {
        fprintf(stderr, "pack_sass CUBIN TEXT VERSION OUT\n");
        return 2;
    }
    char *cubin = read_file(argv[1], &cubin_size), *text = read_file(argv[2], &text_size);
    blank_sections(cubin, cubin_size);
    gzFile to = gzopen(argv[4], "wb9");
    if (!to) {
        fprintf(stderr, "pack_sass: %s cannot be written\n", argv[4]);
        return 1;
    }
    gzprintf(to, "smempipe SASS\n%s\n%zu\n", argv[3], cubin_size);
    bool written = gzwrite(to, cubin, (unsigned)cubin_size) == (int)cubin_size;
    pack_text(text, to);
    written = gzclose(to) == Z_OK && written;
    free(cubin);
    free(text);
    if (!written)
        fprintf(stderr, "pack_sass: %s cannot be written\n", argv[4]);
    return !written;
}
