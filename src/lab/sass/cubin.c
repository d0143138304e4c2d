/* Reads what a cubin (an ELF file of 64 bits) tells of its kernels beside their code: memory, parameters, constant
 * banks. The attributes of .nv.info sections are undocumented; their meanings are those that cuobjdump -elf prints. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "lab/sass/sass.h"

/* Attributes and the format of those with a payload. */
enum { WITH_PAYLOAD = 4, PARAM_BANK = 0x0a, FRAME_SIZE = 0x11, STACK_SIZE = 0x12, PARAM_INFO = 0x17, CLUSTER = 0x3d };
enum { RESERVED_SHARED = 0x400, LOCAL_ALIGNMENT = 16, MOST_LOCAL = 1 << 20 };

typedef struct cubin {
    const unsigned char *bytes;
    size_t size;
    const Elf64_Shdr *sections; /* copied: the file's may be unaligned */
    size_t section_count;
    const Elf64_Sym *symbols;
    size_t symbol_count;
    const char *names, *symbol_names;
    size_t names_size, symbol_names_size;
    unsigned char **loaded; /* of each section: the buffer of its variables */
    struct smp_warp_module *module;
    const smp_warp_module *variables;
    smp_warp_memory *memory;
    smp_error *err;
} cubin;

static smp_code broken(cubin *c)
{
    return smp_fail(c->err, SMP_E_DECODE, "the cubin is damaged");
}

static const unsigned char *data_of(const cubin *c, const Elf64_Shdr *s)
{
    return s->sh_type == SHT_NOBITS || s->sh_offset > c->size || s->sh_size > c->size - s->sh_offset
               ? NULL
               : c->bytes + s->sh_offset;
}

static const char *text_at(const char *texts, size_t size, uint64_t at)
{
    return texts && at < size && memchr(texts + at, 0, size - at) ? texts + at : "";
}

static const char *section_name(const cubin *c, size_t index)
{
    return text_at(c->names, c->names_size, c->sections[index].sh_name);
}

static const char *symbol_name(const cubin *c, uint64_t index)
{
    return index < c->symbol_count ? text_at(c->symbol_names, c->symbol_names_size, c->symbols[index].st_name) : "";
}

/* A copy of a table, aligned. */
static void *table(const cubin *c, const Elf64_Shdr *s, size_t element, size_t *count)
{
    const unsigned char *data = data_of(c, s);
    *count = data ? s->sh_size / element : 0;
    void *copy = smp_alloc_array(*count + 1, element);
    if (copy && *count)
        memcpy(copy, data, *count * element);
    return copy;
}

static smp_code open_tables(cubin *c)
{
    Elf64_Ehdr head;
    if (c->size < sizeof head)
        return broken(c);
    memcpy(&head, c->bytes, sizeof head);
    size_t bytes;
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_shentsize != sizeof(Elf64_Shdr) || !smp_mul_size(head.e_shnum, sizeof(Elf64_Shdr), &bytes) ||
        head.e_shoff > c->size || bytes > c->size - head.e_shoff || head.e_shstrndx >= head.e_shnum)
        return broken(c);
    const Elf64_Shdr whole = {.sh_type = SHT_PROGBITS, .sh_offset = head.e_shoff, .sh_size = bytes};
    c->sections = table(c, &whole, sizeof(Elf64_Shdr), &c->section_count);
    c->loaded = smp_alloc_array(head.e_shnum, sizeof *c->loaded);
    if (!c->sections || !c->loaded)
        return smp_fail_memory(c->err, "a cubin", bytes);
    const Elf64_Shdr *names = &c->sections[head.e_shstrndx];
    c->names = (const char *)data_of(c, names);
    c->names_size = names->sh_size;
    for (size_t i = 0; i < c->section_count; i++) {
        if (c->sections[i].sh_type != SHT_SYMTAB || c->symbols || c->sections[i].sh_link >= c->section_count)
            continue;
        const Elf64_Shdr *texts = &c->sections[c->sections[i].sh_link];
        c->symbols = table(c, &c->sections[i], sizeof(Elf64_Sym), &c->symbol_count);
        c->symbol_names = (const char *)data_of(c, texts);
        c->symbol_names_size = texts->sh_size;
        if (!c->symbols)
            return smp_fail_memory(c->err, "symbols", texts->sh_size);
    }
    return SMP_OK;
}

static warp_code *kernel_of(const cubin *c, const char *symbol)
{
    for (size_t i = 0; i < c->module->kernel_count; i++)
        if (!strcmp(c->module->kernels[i]->code.symbol, symbol))
            return &c->module->kernels[i]->code;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ attributes */

static void set_stack(warp_code *code, uint32_t size)
{
    size = size < MOST_LOCAL ? (size + LOCAL_ALIGNMENT - 1) / LOCAL_ALIGNMENT * LOCAL_ALIGNMENT : MOST_LOCAL;
    if (code->local_bytes < size)
        code->local_bytes = code->first_local = size;
}

static smp_code add_param(cubin *c, warp_code *code, const unsigned char *payload)
{
    enum { ORDINAL = 4, OFFSET = 6, FLAGS = 8, SIZE_SHIFT = 18 };
    uint16_t ordinal, offset;
    uint32_t flags;
    memcpy(&ordinal, payload + ORDINAL, 2);
    memcpy(&offset, payload + OFFSET, 2);
    memcpy(&flags, payload + FLAGS, 4);
    while (code->param_count <= ordinal) {
        if (!smp_grow(&code->params, &code->param_capacity, code->param_count + 1, sizeof *code->params))
            return smp_fail_memory(c->err, "parameters", ordinal);
        memset(&code->params[code->param_count++], 0, sizeof *code->params);
    }
    smp_warp_param *p = &code->params[ordinal];
    p->offset = offset;
    p->size = flags >> SIZE_SHIFT & 0x3fff;
    snprintf(p->type, sizeof p->type, "%s",
             p->size == 8   ? "u64"
             : p->size == 4 ? "u32"
             : p->size == 2 ? "u16"
             : p->size == 1 ? "u8"
                            : "b8");
    return SMP_OK;
}

/* The attributes of a section; code: the kernel's, null: of all. */
static smp_code read_info(cubin *c, const Elf64_Shdr *section, warp_code *code)
{
    const unsigned char *at = data_of(c, section), *end = at ? at + section->sh_size : NULL;
    enum { HEAD = 4 };
    while (at && end - at >= HEAD) {
        const uint8_t format = at[0], attribute = at[1];
        uint16_t size = 0;
        uint32_t words[2];
        memcpy(&size, at + 2, sizeof size);
        at += HEAD;
        if (format != WITH_PAYLOAD)
            continue;
        if (end - at < size)
            return broken(c);
        if (size >= sizeof words)
            memcpy(words, at, sizeof words);
        if (code && attribute == PARAM_BANK && size >= 8) {
            code->param_base = words[1] & 0xffff;
            code->param_bytes = words[1] >> 16;
        } else if (code && attribute == CLUSTER && size >= sizeof code->cluster) {
            memcpy(code->cluster, at, sizeof code->cluster);
        } else if (code && attribute == PARAM_INFO && size >= 12) {
            if (add_param(c, code, at))
                return c->err->code;
        } else if (!code && (attribute == STACK_SIZE || attribute == FRAME_SIZE) && size >= 8) {
            warp_code *of = kernel_of(c, symbol_name(c, words[0]));
            if (of)
                set_stack(of, words[1]);
        }
        at += size;
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ banks */

static uint64_t address_of(cubin *c, uint64_t symbol)
{
    const char *name = symbol_name(c, symbol);
    size_t size;
    if (!strcmp(name, "vprintf"))
        return SASS_PRINT;
    void *variable = c->variables ? smp_warp_variable(c->variables, name, &size) : NULL;
    if (variable)
        return (uint64_t)(uintptr_t)variable;
    const uint16_t section = symbol < c->symbol_count ? c->symbols[symbol].st_shndx : 0;
    if (!section || section >= c->section_count || !(c->sections[section].sh_flags & SHF_WRITE))
        return 0;
    const Elf64_Shdr *s = &c->sections[section];
    if (!c->loaded[section]) {
        c->loaded[section] = smp_warp_buffer(c->memory, s->sh_size, "variables");
        const unsigned char *data = data_of(c, s);
        if (c->loaded[section] && data)
            memcpy(c->loaded[section], data, s->sh_size);
    }
    return c->loaded[section] ? (uint64_t)(uintptr_t)c->loaded[section] + c->symbols[symbol].st_value : 0;
}

/* The addresses that a bank holds; what is added to one is told beside it, or, of 8.x, stands in its place. */
static smp_code relocate(cubin *c, size_t section, unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < c->section_count; i++) {
        const Elf64_Shdr *s = &c->sections[i];
        const bool beside = s->sh_type == SHT_RELA;
        const size_t element = beside ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        size_t count;
        if ((!beside && s->sh_type != SHT_REL) || s->sh_info != section)
            continue;
        unsigned char *entries = table(c, s, element, &count);
        if (!entries)
            return smp_fail_memory(c->err, "relocations", s->sh_size);
        for (size_t k = 0; k < count; k++) {
            Elf64_Rela entry = {.r_addend = 0};
            memcpy(&entry, entries + k * element, element);
            const uint64_t at = entry.r_offset;
            uint64_t value = 0;
            if (at > size || size - at < sizeof value)
                continue;
            if (!beside)
                memcpy(&value, bytes + at, sizeof value);
            value += address_of(c, ELF64_R_SYM(entry.r_info)) + (uint64_t)entry.r_addend;
            memcpy(bytes + at, &value, sizeof value);
        }
        smp_free(entries);
    }
    return SMP_OK;
}

/* __constant__ variables are the host's to write. */
static smp_code add_variables(cubin *c, size_t section, warp_bank *bank)
{
    for (size_t i = 0; i < c->symbol_count && c->variables; i++) {
        size_t size;
        const Elf64_Sym *s = &c->symbols[i];
        void *variable = s->st_shndx == section ? smp_warp_variable(c->variables, symbol_name(c, i), &size) : NULL;
        if (!variable || s->st_value > bank->size)
            continue;
        const size_t room = bank->size - s->st_value;
        if (!smp_grow(&bank->parts, &bank->part_capacity, bank->part_count + 1, sizeof *bank->parts))
            return smp_fail_memory(c->err, "constants", bank->size);
        bank->parts[bank->part_count++] =
            (warp_bank_part){(uint32_t)s->st_value, (uint32_t)(size < room ? size : room), variable};
    }
    return SMP_OK;
}

/* .nv.constant3 is the same for all kernels, .nv.constant2.NAME is one's. */
static smp_code read_bank(cubin *c, size_t section, warp_code *code)
{
    const char *name = section_name(c, section) + strlen(".nv.constant");
    const uint32_t number = (uint32_t)strtoul(name, NULL, 10);
    const Elf64_Shdr *s = &c->sections[section];
    const unsigned char *data = data_of(c, s);
    if (!number || number >= WARP_BANKS || !data || s->sh_size > UINT32_MAX)
        return SMP_OK;
    const char *dot = strchr(name, '.');
    if (dot && strcmp(dot + 1, code->symbol) != 0)
        return SMP_OK;
    warp_bank *bank = &code->banks[number];
    warp_free_bank(bank);
    bank->bytes = smp_alloc(s->sh_size + 1);
    if (!bank->bytes)
        return smp_fail_memory(c->err, "a constant bank", s->sh_size);
    bank->size = (uint32_t)s->sh_size;
    memcpy(bank->bytes, data, s->sh_size);
    const smp_code problem = relocate(c, section, bank->bytes, bank->size);
    return problem ? problem : add_variables(c, section, bank);
}

/* The bits of NaNs in instructions: 32 of an immediate operand lie in the second word of each. */
static void read_nans(const cubin *c, const Elf64_Shdr *section, const warp_code *code)
{
    const unsigned char *data = data_of(c, section);
    for (size_t i = 0; data && i < code->nan_count; i++) {
        const uint64_t at = (uint64_t)code->nans[i].inst * SASS_INST_BYTES + sizeof(uint32_t);
        uint32_t bits = 0;
        if (at + sizeof bits <= section->sh_size)
            memcpy(&bits, data + at, sizeof bits);
        if ((bits & 0x7fffffff) > 0x7f800000)
            code->constants[code->nans[i].constant].bits = bits;
    }
}

/* The bits by which ptxas steers the hardware lie in the upper half of each instruction. */
static smp_code keep_controls(cubin *c, const Elf64_Shdr *section, warp_code *code)
{
    const unsigned char *data = data_of(c, section);
    const size_t count = data ? section->sh_size / SASS_INST_BYTES : 0;
    smp_free(code->controls);
    code->control_count = count;
    code->controls = smp_alloc_array(count + 1, sizeof *code->controls);
    if (!code->controls)
        return smp_fail_memory(c->err, "instructions", section->sh_size);
    for (size_t i = 0; i < count; i++)
        memcpy(&code->controls[i], data + i * SASS_INST_BYTES + sizeof(uint64_t), sizeof *code->controls);
    return SMP_OK;
}

static smp_code read_sections(cubin *c)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; i < c->section_count && !code; i++) {
        const char *name = section_name(c, i);
        static const char info[] = ".nv.info", text[] = ".text.", shared[] = ".nv.shared.", constant[] = ".nv.constant";
        if (!strncmp(name, info, strlen(info))) {
            warp_code *of = name[strlen(info)] == '.' ? kernel_of(c, name + strlen(info) + 1) : NULL;
            if (of || !name[strlen(info)])
                code = read_info(c, &c->sections[i], of);
        } else if (!strncmp(name, text, strlen(text))) {
            warp_code *of = kernel_of(c, name + strlen(text));
            if (of) {
                read_nans(c, &c->sections[i], of);
                code = keep_controls(c, &c->sections[i], of);
            }
        } else if (!strncmp(name, shared, strlen(shared))) {
            warp_code *of = kernel_of(c, name + strlen(shared));
            const uint64_t size = c->sections[i].sh_size;
            if (of)
                of->shared_bytes = size <= SMP_WARP_MAX_SHARED + RESERVED_SHARED ? (uint32_t)size : UINT32_MAX;
        } else if (!strncmp(name, constant, strlen(constant)))
            for (size_t k = 0; k < c->module->kernel_count && !code; k++)
                code = read_bank(c, i, &c->module->kernels[k]->code);
    }
    return code;
}

smp_code sass_read_cubin(const void *bytes, size_t size, struct smp_warp_module *module,
                         const smp_warp_module *variables, smp_warp_memory *memory, smp_error *err)
{
    cubin c = {.bytes = bytes, .size = size, .module = module, .variables = variables, .memory = memory, .err = err};
    smp_code code = open_tables(&c);
    if (!code)
        code = read_sections(&c);
    smp_free((void *)(uintptr_t)c.sections);
    smp_free((void *)(uintptr_t)c.symbols);
    smp_free(c.loaded);
    return code;
}
