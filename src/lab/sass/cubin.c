/* Reads what a cubin (an ELF file of 64 bits) tells of its kernels beside their code: memory, parameters, constant
 * banks. The attributes of .nv.info sections are undocumented; their meanings are those that cuobjdump -elf prints. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/elf.h"
#include "lab/ptx/execute.h"
#include "lab/sass/sass.h"

/* Attributes and the format of those with a payload. */
enum { WITH_PAYLOAD = 4, PARAM_BANK = 0x0a, FRAME_SIZE = 0x11, STACK_SIZE = 0x12, PARAM_INFO = 0x17, CLUSTER = 0x3d };
enum { RESERVED_SHARED = 0x400, LOCAL_ALIGNMENT = 16, MOST_LOCAL = 1 << 20 };

/* Where bytes of a section lie in memory. */
typedef struct place {
    uint64_t section, start, size;
    const char *name; /* in the file */
    unsigned char *memory;
} place;

typedef struct cubin {
    smp_elf elf;
    place *places; /* of the variables that are its own, in the order of sections and of their starts */
    size_t place_count, place_capacity;
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
        SMP_NEED(smp_grow(&code->params, &code->param_capacity, code->param_count + 1, sizeof *code->params),
                 "parameters", ordinal, c->err);
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
    const unsigned char *at = smp_elf_bytes(&c->elf, section), *end = at ? at + section->sh_size : NULL;
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
            Elf64_Sym symbol;
            warp_code *of = kernel_of(c, smp_elf_symbol(&c->elf, words[0], &symbol));
            if (of)
                set_stack(of, words[1]);
        }
        at += size;
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ banks */

/* The last one that begins at or before a byte of a section; null: there is none. */
static const place *place_of(const place *places, size_t count, uint64_t section, uint64_t at)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const place *p = &places[middle];
        if (p->section < section || (p->section == section && p->start <= at))
            low = middle + 1;
        else
            high = middle;
    }
    return low && places[low - 1].section == section ? &places[low - 1] : NULL;
}

static uint64_t address_of(cubin *c, uint64_t number)
{
    Elf64_Sym symbol;
    Elf64_Shdr s;
    const char *name = smp_elf_symbol(&c->elf, number, &symbol);
    size_t size;
    const int service = ptx_service_of(name);
    if (service >= 0)
        return SASS_SERVICES + (uint64_t)service;
    const place *own = place_of(c->places, c->place_count, symbol.st_shndx, symbol.st_value);
    if (own && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT)
        return (uint64_t)(uintptr_t)own->memory + symbol.st_value - own->start;
    void *variable = smp_warp_variable(c->variables, name, &size);
    if (variable)
        return (uint64_t)(uintptr_t)variable;
    const uint16_t section = symbol.st_shndx;
    if (!section || !smp_elf_section(&c->elf, section, &s) || !(s.sh_flags & SHF_WRITE))
        return 0;
    if (!c->loaded[section]) {
        c->loaded[section] = smp_warp_buffer(c->memory, s.sh_size, "variables");
        const unsigned char *data = smp_elf_bytes(&c->elf, &s);
        if (c->loaded[section] && data)
            memcpy(c->loaded[section], data, s.sh_size);
    }
    return c->loaded[section] ? (uint64_t)(uintptr_t)c->loaded[section] + symbol.st_value : 0;
}

/* The addresses that they hold; what is added to one is told beside it, or, of 8.x, stands in its place. */
static void relocate(cubin *c, const place *places, size_t count)
{
    for (size_t i = 0; i < c->elf.head.e_shnum; i++) {
        Elf64_Shdr s;
        if (!smp_elf_section(&c->elf, i, &s) || (s.sh_type != SHT_RELA && s.sh_type != SHT_REL) ||
            !place_of(places, count, s.sh_info, UINT64_MAX))
            continue;
        const bool beside = s.sh_type == SHT_RELA;
        const size_t element = beside ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        for (size_t k = 0; k < s.sh_size / element; k++) {
            Elf64_Rela entry = {.r_addend = 0};
            memcpy(&entry, smp_elf_bytes(&c->elf, &s) + k * element, element);
            const place *in = place_of(places, count, s.sh_info, entry.r_offset);
            const uint64_t at = in ? entry.r_offset - in->start : 0;
            uint64_t value = 0;
            if (!in || at > in->size || in->size - at < sizeof value)
                continue;
            if (!beside)
                memcpy(&value, in->memory + at, sizeof value);
            value += address_of(c, ELF64_R_SYM(entry.r_info)) + (uint64_t)entry.r_addend;
            memcpy(in->memory + at, &value, sizeof value);
        }
    }
}

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->section != y->section ? (x->section > y->section) - (x->section < y->section)
                                    : (x->start > y->start) - (x->start < y->start);
}

/* Finds the variables that the cubin has; those of a section are no more than it holds. */
static smp_code find_variables(cubin *c)
{
    static const char constants[] = ".nv.constant3", globals[] = ".nv.global";
    for (size_t i = 0; i < c->elf.symbols.sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym s;
        Elf64_Shdr in;
        const char *name = smp_elf_symbol(&c->elf, i, &s);
        if (ELF64_ST_TYPE(s.st_info) != STT_OBJECT || !s.st_size || !smp_elf_section(&c->elf, s.st_shndx, &in) ||
            s.st_value > in.sh_size || s.st_size > in.sh_size - s.st_value)
            continue;
        const char *section = smp_elf_text(&c->elf, &c->elf.names, in.sh_name);
        if (strncmp(section, constants, strlen(constants)) != 0 && strncmp(section, globals, strlen(globals)) != 0)
            continue;
        SMP_NEED(smp_grow(&c->places, &c->place_capacity, c->place_count + 1, sizeof *c->places), "variables",
                 c->place_count, c->err);
        c->places[c->place_count++] =
            (place){.section = s.st_shndx, .start = s.st_value, .size = s.st_size, .name = name};
    }
    if (c->place_count)
        qsort(c->places, c->place_count, sizeof *c->places, compare_places);
    uint64_t room = 0;
    for (size_t i = 0; i < c->place_count; i++) {
        const place *p = &c->places[i];
        Elf64_Shdr in;
        if (!i || p[-1].section != p->section)
            room = smp_elf_section(&c->elf, p->section, &in) ? in.sh_size : 0;
        if (p->size > room)
            return broken(c);
        room -= p->size;
    }
    return SMP_OK;
}

/* Without PTX the variables are those that the cubin has. */
static smp_code declare_variables(cubin *c)
{
    struct smp_warp_module *m = c->module;
    SMP_TRY(find_variables(c));
    for (place *p = c->places; p < c->places + c->place_count; p++) {
        SMP_NEED(smp_grow(&m->variables, &m->variable_capacity, m->variable_count + 1, sizeof *m->variables),
                 "variables", m->variable_count, c->err);
        p->memory = smp_warp_buffer(c->memory, p->size, p->name);
        warp_variable *v = &m->variables[m->variable_count++];
        *v = (warp_variable){.name = smp_strdup(p->name), .size = p->size, .memory = p->memory};
        SMP_NEED(v->name && v->memory, "a variable", v->size, c->err);
        Elf64_Shdr in;
        const unsigned char *data = smp_elf_section(&c->elf, p->section, &in) ? smp_elf_bytes(&c->elf, &in) : NULL;
        if (data)
            memcpy(p->memory, data + p->start, p->size);
    }
    c->variables = m;
    relocate(c, c->places, c->place_count);
    return SMP_OK;
}

/* __constant__ variables are the host's to write. */
static smp_code add_variables(cubin *c, size_t section, warp_bank *bank)
{
    for (size_t i = 0; i < c->elf.symbols.sh_size / sizeof(Elf64_Sym); i++) {
        size_t size;
        Elf64_Sym s;
        const char *name = smp_elf_symbol(&c->elf, i, &s);
        void *variable = s.st_shndx == section ? smp_warp_variable(c->variables, name, &size) : NULL;
        if (!variable || s.st_value > bank->size)
            continue;
        const size_t room = bank->size - s.st_value;
        SMP_NEED(smp_grow(&bank->parts, &bank->part_capacity, bank->part_count + 1, sizeof *bank->parts), "constants",
                 bank->size, c->err);
        bank->parts[bank->part_count++] =
            (warp_bank_part){(uint32_t)s.st_value, (uint32_t)(size < room ? size : room), variable};
    }
    return SMP_OK;
}

/* .nv.constant3 is the same for all kernels, .nv.constant2.NAME is one's. name: what comes behind .nv.constant */
static smp_code read_bank(cubin *c, size_t section, const Elf64_Shdr *s, const char *name, warp_code *code)
{
    const uint32_t number = (uint32_t)strtoul(name, NULL, 10);
    const unsigned char *data = smp_elf_bytes(&c->elf, s);
    if (!number || number >= WARP_BANKS || !data || s->sh_size > UINT32_MAX)
        return SMP_OK;
    const char *dot = strchr(name, '.');
    if (dot && strcmp(dot + 1, code->symbol) != 0)
        return SMP_OK;
    warp_bank *bank = &code->banks[number];
    warp_free_bank(bank);
    bank->bytes = smp_alloc(s->sh_size + 1);
    SMP_NEED(bank->bytes, "a constant bank", s->sh_size, c->err);
    bank->size = (uint32_t)s->sh_size;
    memcpy(bank->bytes, data, s->sh_size);
    relocate(c, &(place){.section = section, .size = bank->size, .memory = bank->bytes}, 1);
    return add_variables(c, section, bank);
}

/* The bits of NaNs in instructions: 32 of an immediate operand lie in the second word of each. */
static void read_nans(const cubin *c, const Elf64_Shdr *section, const warp_code *code)
{
    const unsigned char *data = smp_elf_bytes(&c->elf, section);
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
    const unsigned char *data = smp_elf_bytes(&c->elf, section);
    const size_t count = data ? section->sh_size / SASS_INST_BYTES : 0;
    smp_free(code->controls);
    code->control_count = count;
    code->controls = smp_alloc_array(count + 1, sizeof *code->controls);
    SMP_NEED(code->controls, "instructions", section->sh_size, c->err);
    for (size_t i = 0; i < count; i++)
        memcpy(&code->controls[i], data + i * SASS_INST_BYTES + sizeof(uint64_t), sizeof *code->controls);
    return SMP_OK;
}

static smp_code read_sections(cubin *c)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; i < c->elf.head.e_shnum && !code; i++) {
        Elf64_Shdr s;
        if (!smp_elf_section(&c->elf, i, &s))
            continue;
        const char *name = smp_elf_text(&c->elf, &c->elf.names, s.sh_name);
        static const char info[] = ".nv.info", text[] = ".text.", shared[] = ".nv.shared.", constant[] = ".nv.constant";
        if (!strncmp(name, info, strlen(info))) {
            warp_code *of = name[strlen(info)] == '.' ? kernel_of(c, name + strlen(info) + 1) : NULL;
            if (of || !name[strlen(info)])
                code = read_info(c, &s, of);
        } else if (!strncmp(name, text, strlen(text))) {
            warp_code *of = kernel_of(c, name + strlen(text));
            if (of) {
                read_nans(c, &s, of);
                code = keep_controls(c, &s, of);
            }
        } else if (!strncmp(name, shared, strlen(shared))) {
            warp_code *of = kernel_of(c, name + strlen(shared));
            const uint64_t size = s.sh_size;
            if (of)
                of->shared_bytes = size <= SMP_WARP_MAX_SHARED + RESERVED_SHARED ? (uint32_t)size : UINT32_MAX;
        } else if (!strncmp(name, constant, strlen(constant)))
            for (size_t k = 0; k < c->module->kernel_count && !code; k++)
                code = read_bank(c, i, &s, name + strlen(constant), &c->module->kernels[k]->code);
    }
    return code;
}

smp_code sass_read_cubin(const void *bytes, size_t size, struct smp_warp_module *module,
                         const smp_warp_module *variables, smp_warp_memory *memory, smp_error *err)
{
    cubin c = {.module = module, .variables = variables, .memory = memory, .err = err};
    if (!smp_elf_open(bytes, size, &c.elf) || !c.elf.head.e_shnum)
        return broken(&c);
    c.loaded = smp_alloc_array((size_t)c.elf.head.e_shnum + 1, sizeof *c.loaded);
    smp_code code = !c.loaded ? smp_fail_memory(err, "a cubin", size) : variables ? SMP_OK : declare_variables(&c);
    code = code ? code : read_sections(&c);
    smp_free_all(c.loaded, c.places);
    return code;
}
