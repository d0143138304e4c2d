/* The program's device code and what it registers of it. `smempipe kernel` says where the code is: of a .cu that it
 * compiled one PTX (SMEMPIPE_LAB_PTX, _SASS, _CUBIN); of an executable a list (SMEMPIPE_LAB_MODULES), in which a fatbin
 * is found by its bytes. A module is read when a program first needs it, and one of images.c at once. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/whole_file.h"
#include "lab/machine/fatbin.h"
#include "lab/runtime/runtime.h"

typedef struct lab_module {
    lab_code code;
    smp_warp_module *ptx, *sass;
    bool read;
    /* of one that the program loads: the host's names of its kernels, as they lie in it; in which context */
    char *names;
    void *context;
    struct lab_module *next;
    bool closed;
} module;

static module *loaded; /* those */

typedef struct entry {
    const void *host;
    char *name;
    module *of;
    uint32_t registers; /* of a thread, once looked for; 0: not known */
    bool looked;
    int dynamic; /* the most dynamic shared memory that cudaFuncSetAttribute allows it; 0: it was not called */
    bool wide;   /* it allows clusters of more than 8 blocks */
} entry;

static entry *entries; /* functions and variables */
static size_t entry_count, entry_capacity;

/* Null: there is none, or it cannot be read. */
static char *read_file(const char *path, size_t *size)
{
    char *text = NULL;
    smp_error err;
    const smp_code code = path ? smp_read_file(path, SIZE_MAX / 2, &text, size, &err) : SMP_E_READ;
    if (code == SMP_E_MEMORY)
        exit(1);
    if (!code)
        return text;
    smp_free(text);
    *size = 0;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ code */

/* The path is that of nvdisasm's text, and the cubin lies beside it. Without them, or where they cannot be read, PTX is
 * counted. */
static smp_code read_sass(module *m, smp_error *err)
{
    const char *path = m->code.sass, *dot = path ? strrchr(path, '.') : NULL;
    char cubin[4096];
    size_t size, cubin_size;
    smp_code code = SMP_OK;
    if (!dot)
        return SMP_OK;
    snprintf(cubin, sizeof cubin, "%.*s.cubin", (int)(dot - path), path);
    char *text = read_file(path, &size), *binary = read_file(cubin, &cubin_size);
    if (text && binary)
        code = smp_warp_load_sass(path, text, size, binary, cubin_size, m->ptx, lab_memory(), &m->sass, err);
    smp_free_all(text, binary);
    if (!code || !m->ptx)
        return code;
    fprintf(stderr, "smempipe kernel: the SASS cannot be read (%s): PTX is counted\n", err->message);
    return SMP_OK;
}

static smp_code read_code(module *m, smp_error *err)
{
    size_t size;
    m->read = true;
    char *text = read_file(m->code.ptx, &size);
    if (!text && !m->code.sass)
        return smp_fail(err, SMP_E_READ, "this program was built for smempipe kernel and is run by it");
    const smp_code code = text ? smp_warp_load_ptx(m->code.ptx, text, size, lab_memory(), &m->ptx, err) : SMP_OK;
    smp_free(text);
    if (code && !m->code.sass)
        return code;
    if (code)
        fprintf(stderr, "smempipe kernel: %s: %s: SASS is counted, and no mistakes are looked for\n", err->where,
                err->message);
    return read_sass(m, err);
}

static module *with_code(module *m)
{
    smp_error err = {0};
    if (m && !m->read && read_code(m, &err))
        lab_die(&err);
    return m;
}

/* "key, PTX, SASS" with tabs between; an empty path is none. */
static module *find_in_list(const char *list, uint64_t key)
{
    size_t size;
    module *found = NULL;
    char *text = read_file(list, &size);
    for (char *line = text; line && *line && !found;) {
        char *end = line + strcspn(line, "\n"), *ptx = strchr(line, '\t'), *sass = ptx ? strchr(ptx + 1, '\t') : NULL;
        if (sass && sass < end && strtoull(line, NULL, 16) == key && (found = smp_alloc(sizeof *found))) {
            found->code.ptx = sass > ptx + 1 ? smp_strndup(ptx + 1, (size_t)(sass - ptx - 1)) : NULL;
            found->code.sass = end > sass + 1 ? smp_strndup(sass + 1, (size_t)(end - sass - 1)) : NULL;
        }
        line = end + (*end == '\n');
    }
    smp_free(text);
    return found;
}

/* Returns the module of the only source file of a program that smempipe compiled. */
static module *the_only(void)
{
    static module only;
    const char *ptx = getenv("SMEMPIPE_LAB_PTX"), *sass = getenv("SMEMPIPE_LAB_SASS"),
               *cubin = getenv("SMEMPIPE_LAB_CUBIN");
    if (!only.code.ptx && ptx && ptx[0])
        only.code.ptx = smp_strdup(ptx);
    if (!only.code.sass && sass && sass[0])
        only.code.sass = smp_strdup(sass);
    if (!only.code.cubin && cubin && cubin[0])
        only.code.cubin = smp_strdup(cubin);
    return &only;
}

/* The record that nvcc writes for each source file: a magic number, a version, where its fatbin is. */
LAB_API void **__cudaRegisterFatBinary(void *given)
{
    LAB_ALONE;
    const char *list = getenv("SMEMPIPE_LAB_MODULES");
    struct {
        uint32_t magic, version;
        const void *fatbin;
    } wrapper;
    size_t size;
    void **handle = calloc(1, sizeof *handle);
    if (!handle)
        exit(1);
    memcpy(&wrapper, given, sizeof wrapper);
    if (!list || !list[0])
        *handle = the_only();
    else if (wrapper.magic == 0x466243b1 && smp_fatbin_size(wrapper.fatbin, SIZE_MAX, &size))
        *handle = find_in_list(list, smp_fatbin_key(wrapper.fatbin, size));
    return handle;
}
LAB_API void __cudaRegisterFatBinaryEnd(void **) {}
LAB_API void __cudaUnregisterFatBinary(void **)
{
    /* programs may launch until their very end */
}
LAB_API char __cudaInitModule(void **)
{
    return 1;
}

/* ------------------------------------------------------------------------------------------------ names */

static void enter(void **handle, const void *host, const char *name)
{
    LAB_ALONE;
    if (smp_grow(&entries, &entry_capacity, entry_count + 1, sizeof *entries))
        entries[entry_count++] = (entry){.host = host, .name = smp_strdup(name), .of = *handle};
}

static entry *entry_of(const void *host)
{
    for (size_t i = entry_count; i--;)
        if (entries[i].host == host)
            return &entries[i];
    return NULL;
}

/* Its module, with its code; said once where the lab has not seen it. */
static module *module_of(const entry *e)
{
    static bool said;
    if (e && !e->of && !said)
        fprintf(stderr, "smempipe kernel: %s is in a shared library, whose kernels the lab does not have\n", e->name);
    said = said || (e && !e->of);
    return e ? with_code(e->of) : NULL;
}

void *lab_symbol(const void *host, size_t *size)
{
    LAB_ALONE;
    const entry *e = entry_of(host);
    const module *m = module_of(e);
    return m ? smp_warp_variable(m->ptx ? m->ptx : m->sass, e->name, size) : NULL;
}

const smp_warp_kernel *lab_kernel_codes(const void *host, const smp_warp_kernel **ptx, const smp_warp_kernel **sass)
{
    LAB_ALONE;
    bool many;
    const entry *e = entry_of(host);
    const module *m = module_of(e);
    *ptx = m && m->ptx ? smp_warp_kernel_find(m->ptx, e->name, &many) : NULL;
    *sass = m && m->sass ? smp_warp_kernel_find(m->sass, e->name, &many) : NULL;
    return *ptx ? *ptx : *sass;
}

const void *lab_function_of(const smp_warp_kernel *kernel)
{
    bool many;
    for (size_t i = 0; i < entry_count; i++) {
        const module *m = entries[i].of;
        if (m && m->ptx && smp_warp_kernel_find(m->ptx, entries[i].name, &many) == kernel)
            return entries[i].host;
    }
    return NULL;
}

const smp_warp_kernel *lab_kernel(const void *host)
{
    const smp_warp_kernel *ptx, *sass;
    return lab_kernel_codes(host, &ptx, &sass);
}

/* 48 KB together with what it declares, unless the program asks for more. */
size_t lab_dynamic_limit(const void *host)
{
    LAB_ALONE;
    enum { USUAL = 48 * 1024 };
    const entry *e = entry_of(host);
    const smp_warp_kernel *kernel = e ? lab_kernel(host) : NULL;
    const size_t declared = kernel ? smp_warp_kernel_shared(kernel) : 0;
    if (e && e->dynamic)
        return (size_t)e->dynamic;
    return declared < USUAL ? USUAL - declared : 0;
}

bool lab_allow_dynamic(const void *host, int bytes)
{
    LAB_ALONE;
    entry *e = entry_of(host);
    const smp_warp_kernel *kernel = e ? lab_kernel(host) : NULL;
    if (!kernel || bytes < 0 || (size_t)bytes + smp_warp_kernel_shared(kernel) > SMP_WARP_MAX_SHARED)
        return false;
    e->dynamic = bytes;
    return true;
}

unsigned lab_most_cluster(const void *host)
{
    LAB_ALONE;
    enum { PORTABLE = 8, OF_A_GPU = 16 };
    const entry *e = entry_of(host);
    return e && e->wide ? OF_A_GPU : PORTABLE;
}

void lab_allow_wide(const void *host, bool allow)
{
    LAB_ALONE;
    entry *e = entry_of(host);
    if (e)
        e->wide = allow;
}

bool lab_registers(const void *host, uint32_t *registers)
{
    LAB_ALONE;
    entry *e = entry_of(host);
    const module *m = module_of(e);
    char path[4096];
    size_t size;
    if (e && e->looked && e->registers)
        *registers = e->registers;
    if (!e || e->looked)
        return e && e->registers;
    e->looked = true;
    const char *sass = m ? m->code.sass : NULL, *dot = sass ? strrchr(sass, '.') : NULL;
    if (dot)
        snprintf(path, sizeof path, "%.*s.cubin", (int)(dot - sass), sass);
    char *cubin = read_file(dot ? path : m ? m->code.cubin : NULL, &size);
    const bool known = cubin && smp_warp_registers(cubin, size, e->name, registers);
    e->registers = known ? *registers : 0;
    smp_free(cubin);
    return known;
}

/* ------------------------------------------------------------------------------------------------ loaded modules */

smp_code lab_module_open(const lab_code *code, lab_module **out, smp_error *err)
{
    LAB_ALONE;
    module *m = smp_alloc(sizeof *m);
    SMP_NEED(m, "a module", sizeof *m, err);
    *m = (module){.code = *code, .next = loaded};
    loaded = m;
    (void)lab_current(&m->context);
    m->closed = true; /* until it is read */
    SMP_TRY(read_code(m, err));
    const smp_warp_module *from = m->ptx ? m->ptx : m->sass;
    if (!from)
        return smp_fail(err, SMP_E_READ, "its code cannot be read");
    const size_t count = smp_warp_kernel_count(from);
    m->names = smp_alloc(count + 1);
    SMP_NEED(m->names, "kernels", count, err);
    for (size_t i = 0; i < count; i++)
        enter((void **)&m, &m->names[i], smp_warp_kernel_symbol(smp_warp_kernel_at(from, i)));
    m->closed = false;
    *out = m;
    return SMP_OK;
}

bool lab_is_module(const lab_module *m)
{
    LAB_ALONE;
    const module *at = loaded;
    while (at && at != m)
        at = at->next;
    return at && !at->closed;
}

const void *lab_module_kernel(const lab_module *m, const char *symbol)
{
    LAB_ALONE;
    for (size_t i = 0; i < entry_count; i++)
        if (entries[i].of == m && !strcmp(entries[i].name, symbol))
            return entries[i].host;
    return NULL;
}

void *lab_module_variable(const lab_module *m, const char *name, size_t *size)
{
    LAB_ALONE;
    return smp_warp_variable(m->ptx ? m->ptx : m->sass, name, size);
}

const char *lab_kernel_why(const void *host)
{
    const entry *e = entry_of(host);
    return e && e->of ? e->of->code.why : NULL;
}

/* Their code stays: what was counted of it knows it by its address. */
void lab_modules_close(const lab_module *m, const void *context)
{
    LAB_ALONE;
    size_t kept = 0;
    for (module *at = loaded; at; at = at->next)
        at->closed = at->closed || (m ? at == m : at->context == context);
    for (size_t i = 0; i < entry_count; i++)
        if (!entries[i].of || !entries[i].of->closed)
            entries[kept++] = entries[i];
        else
            smp_free(entries[i].name);
    entry_count = kept;
}

LAB_API void __cudaRegisterFunction(void **handle, const char *host, char *, const char *name, int, void *, void *,
                                    void *, void *, int *)
{
    enter(handle, host, name);
}
LAB_API void __cudaRegisterVar(void **handle, char *host, char *, const char *name, int, size_t, int, int)
{
    enter(handle, host, name);
}
LAB_API void __cudaRegisterManagedVar(void **handle, void **host, char *, const char *name, int, size_t, int, int)
{
    size_t bytes;
    enter(handle, host, name);
    *host = lab_symbol(host, &bytes);
}
LAB_API void __cudaInitManagedRuntime(void **) {}
