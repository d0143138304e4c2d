/* What stands behind the file's name: more files of the program, nvcc's flags behind --, arguments of the program. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "cli/dashes.h"
#include "commands/lab/kernel.h"

bool smp_kernel_is_host(const char *file)
{
    static const char *const endings[] = {".cpp", ".cc", ".cxx", ".c"};
    bool is = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        is = is || smp_ends_with(file, endings[i]);
    return is && !access(file, R_OK) && !smp_is_folder(file);
}

static bool is_source(const char *file)
{
    return smp_ends_with(file, ".cu") || smp_kernel_is_host(file);
}

/* Whether it is an executable, of which all words are the program's. */
static bool is_program(const char *file)
{
    return !is_source(file) && !smp_ends_with(file, ".ptx") && !smp_ends_with(file, ".cubin");
}

/* Takes `count` words at `from` out of the list. */
static void take_out(smp_strings *list, size_t from, size_t count)
{
    memmove(list->items + from, list->items + from + count, (list->count - from - count) * sizeof *list->items);
    list->count -= count;
}

static smp_code add_options(const smp_strings *given, smp_flag_list *to, smp_error *err)
{
    for (size_t i = 0; i < given->count; i++)
        SMP_TRY(smp_flag_list_add(to, given->items[i], strlen(given->items[i]), err));
    return SMP_OK;
}

/* Words behind the first -- up to a second one. Without a second one they are nvcc's where the first looks so. */
static smp_code take_flags(smp_kernel_settings *settings, smp_error *err)
{
    smp_strings *words = &settings->program_args;
    const size_t first = smp_options_before_dashes() - 1; /* FILE stands before it */
    size_t end = first;
    if (first > words->count)
        return SMP_OK;
    while (end < words->count && strcmp(words->items[end], "--") != 0)
        end++;
    const bool second = end < words->count;
    if (end > first && !is_program(settings->file) && smp_nvcc_is_flag(words->items[first])) {
        SMP_TRY(smp_nvcc_flags_read(words->items + first, end - first, &settings->flags, err));
        if (!settings->common.quiet) {
            fprintf(stderr, "smempipe: nvcc gets");
            for (size_t i = first; i < end; i++)
                fprintf(stderr, " %s", words->items[i]);
            fprintf(stderr, "%s\n", second ? "" : "; arguments of the program would stand behind a second --");
        }
        take_out(words, first, end - first + second);
        settings->has_flags = true;
        const smp_flag_list *libraries = &settings->flags.libraries;
        for (size_t i = 0; i < libraries->count && !settings->device; i++)
            if (smp_nvcc_needs_gpu(libraries->items[i]))
                smp_cli_warning(&settings->common,
                                "lib%s needs a GPU, and the lab has nothing in its place: calls fail",
                                libraries->items[i]);
    } else if (second && end == first) /* none, and the program's may look like nvcc's */
        take_out(words, first, 1);
    else if (end > first && words->items[first][0] == '-' && settings->only)
        return smp_nvcc_refuse(words->items[first], err);
    else if (end > first && smp_nvcc_has(words->items[first]))
        smp_cli_warning(&settings->common, "%s goes to the program: it is not a flag that the lab gives nvcc",
                        words->items[first]);
    return SMP_OK;
}

smp_code smp_kernel_take_words(smp_kernel_settings *settings, smp_error *err)
{
    smp_nvcc_flags *flags = &settings->flags;
    size_t before = smp_options_before_dashes();
    SMP_TRY(take_flags(settings, err));
    SMP_TRY(add_options(&settings->defines, &flags->defines, err));
    SMP_TRY(add_options(&settings->includes, &flags->includes, err));
    settings->arch = settings->arch ? settings->arch : flags->arch;
    while (!settings->compare && before > 1 && is_source(settings->file) && settings->program_args.count &&
           is_source(settings->program_args.items[0])) {
        SMP_TRY(smp_flag_list_add(&settings->sources, settings->program_args.items[0],
                                  strlen(settings->program_args.items[0]), err));
        take_out(&settings->program_args, 0, 1);
        before--;
    }
    for (size_t i = 0; i < settings->sources.count && smp_kernel_is_host(settings->file); i++) {
        char *kernels = settings->sources.items[i];
        if (smp_kernel_is_host(kernels))
            continue;
        settings->sources.items[i] = smp_strdup(settings->file); /* their order means nothing */
        settings->file = settings->own_file = kernels;
        SMP_NEED(settings->sources.items[i], "a name", 0, err);
    }
    return SMP_OK;
}

void smp_kernel_free_words(smp_kernel_settings *settings)
{
    for (size_t i = 0; i < settings->sources.count; i++)
        smp_free(settings->sources.items[i]);
    smp_free_all(settings->sources.items, settings->own_file);
    smp_nvcc_flags_free(&settings->flags);
}
