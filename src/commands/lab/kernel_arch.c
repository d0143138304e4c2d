/* The architecture that is counted: --arch, or that of a .ptx or .cubin, which are compiled for one already. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "commands/lab/kernel.h"
#include "lab/machine/elf.h"

static const char usual[] = "sm_90";

/* ".target sm_90a", or the flags of a cubin; "": it does not say. */
static smp_code arch_of(const char *file, char arch[16], smp_error *err)
{
    char *bytes = NULL;
    size_t size;
    smp_elf elf;
    arch[0] = 0;
    SMP_TRY(smp_kernel_read(file, &bytes, &size, err));
    if (smp_ends_with(file, ".ptx")) {
        const char *target = strstr(bytes, ".target"), *sm = target ? strstr(target, "sm_") : NULL;
        if (sm && sm < target + 20)
            snprintf(arch, 16, "%.*s", (int)(3 + strspn(sm + 3, "0123456789af")), sm);
    } else if (smp_elf_open(bytes, size, &elf)) {
        enum { OLD_ABI = 7 }; /* since the next one the number lies in the second byte of the flags */
        snprintf(arch, 16, "sm_%u",
                 elf.head.e_flags >> (elf.head.e_ident[EI_ABIVERSION] > OLD_ABI ? 8 : 0) & UINT32_C(0xff));
    }
    smp_free(bytes);
    return SMP_OK;
}

/* A file's, which decides unless --arch or a file before it did. */
static smp_code of_file(smp_kernel_settings *settings, const char *file, bool *decided, smp_error *err)
{
    const bool ptx = smp_ends_with(file, ".ptx");
    char own[16];
    if (!ptx && !smp_ends_with(file, ".cubin"))
        return SMP_OK;
    if (arch_of(file, own, err))
        return err->code;
    const char *asked = smp_compile_arch(settings->arch);
    const int number = own[0] ? atoi(own + 3) : 0;
    const bool bound = !ptx || strpbrk(own + 2, "af"); /* it runs there and nowhere else */
    if (!number || (!bound && number <= atoi(asked)))
        return SMP_OK;
    if (*decided && number != atoi(asked)) {
        smp_fail(err, SMP_E_USAGE, "it is compiled for %s, and sm_%s is to be counted", own, asked);
        smp_hint(err, "--arch %s%s", own, bound ? ", or compile it for the other" : " or later");
        return smp_at(err, "%s", file);
    }
    memcpy(settings->own_arch, own, sizeof own);
    settings->arch = settings->own_arch;
    *decided = true;
    return SMP_OK;
}

smp_code smp_kernel_choose_arch(smp_kernel_settings *settings, smp_error *err)
{
    bool decided = settings->arch != NULL;
    const smp_strings *more = &settings->program_args;
    if (!decided)
        settings->arch = usual;
    SMP_TRY(of_file(settings, settings->file, &decided, err));
    for (size_t i = 0; i < more->count && settings->compare; i++)
        if (smp_kernel_is_file(more->items[i]))
            SMP_TRY(of_file(settings, more->items[i], &decided, err));
    return SMP_OK;
}
