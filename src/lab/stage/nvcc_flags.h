/* The flags of nvcc that a user may give for programs of her own. They are a list of what is let through: flags that
 * name another compiler, a plug-in, a file of options or where the output goes would run or overwrite what the lab has
 * not chosen. No word that is let through means anything to a shell, or it goes to a file of options (compile.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct smp_flag_list {
    char **items; /* from smp_alloc, as each item is */
    size_t count, capacity;
} smp_flag_list;

typedef struct smp_nvcc_flags {
    smp_flag_list words;     /* nvcc's own, and its host compiler's */
    smp_flag_list defines;   /* "N=4" */
    smp_flag_list includes;  /* folders */
    smp_flag_list ptxas;     /* ptxas's, of which nvcc makes no PTX */
    smp_flag_list libraries; /* "m" */
    smp_flag_list folders;   /* of libraries */
    char *arch;              /* null: none is named */
    bool linked;             /* -rdc=true: device code of several files calls each other */
} smp_nvcc_flags;

/* Whether a word begins one of nvcc's flags, also one that is refused; arguments of programs that look so are few. */
bool smp_nvcc_is_flag(const char *word);

/* Whether nvcc has a flag that the lab does not give it. A short list: arguments of programs look so too. */
bool smp_nvcc_has(const char *word);
smp_code smp_nvcc_refuse(const char *word, smp_error *err);

/* Reads all words; a word that is not let through is SMP_E_USAGE. */
smp_code smp_nvcc_flags_read(const char *const *words, size_t count, smp_nvcc_flags *flags, smp_error *err);

/* Whether libsmp_cudart has calls of a library: "cublas". */
bool smp_nvcc_stands_in(const char *library);
bool smp_nvcc_needs_gpu(const char *library); /* one of NVIDIA's, of which the lab has nothing */

smp_code smp_flag_list_add(smp_flag_list *list, const char *text, size_t size, smp_error *err);
void smp_nvcc_flags_free(smp_nvcc_flags *flags);
