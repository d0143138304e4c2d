/* The one place that starts other programs. Those that read a stranger's bytes (nvcc, ptxas, nvdisasm) run in a cage: a
 * folder of their own is all that they write, what is named is all that they read, there is no network, time, memory
 * and files have bounds, and all of them end with this process, however that ends. No shell is between: arguments are
 * words. A tool may have one (nvcc has), so words that a stranger chose do not belong among them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct smp_tool {
    char *const *argv;           /* the first is the program's path; null-terminated */
    const char *folder;          /* of smp_tool_folder: where it runs, and all that it writes */
    const char *const *readable; /* files and folders besides those of the system; null-terminated, null: none */
    const char *output;          /* a file of the folder that gets its standard output; null: the messages */
    bool reads_all;              /* all but devices and processes: for what the user wrote */
    bool trusted;                /* runs where nothing confines it, too */
    double seconds;              /* of the clock, until it is ended */
    uint64_t memory, file;       /* bytes: of addresses of a process; of the largest file */
} smp_tool;

typedef struct smp_tool_end {
    int status;     /* its exit status, or its signal, negative */
    bool late;      /* it was ended after `seconds` */
    char *messages; /* what it printed, without what controls a terminal, its end cut; from smp_alloc, may be null */
} smp_tool_end;

/* The path of a program in PATH (in its absolute folders: a tool runs in another), from smp_alloc; null: it is not
 * there. */
char *smp_tool_find(const char *name);

/* Whether this system can confine a tool: it has Landlock and seccomp. */
bool smp_tool_confines(void);

/* Runs a tool and waits. A tool that is not `trusted` is SMP_E_DEVICE where smp_tool_confines is false. */
smp_code smp_tool_run(const smp_tool *tool, smp_tool_end *end, smp_error *err);

/* Makes a folder whose path is letters, digits and /._- alone, so that a shell may meet it; from smp_alloc. Null: there
 * is no place for one. Removing it takes its files along, not what their links lead to, and frees the path. */
char *smp_tool_folder(void);
void smp_tool_folder_remove(char *folder);

/* Copies a regular file that a tool left in its folder, where it is no link; mode: its rights (0666, 0777). */
smp_code smp_tool_take(const char *folder, const char *name, const char *to, int mode, smp_error *err);

/* Runs a program of the user's with the user's rights, input and terminal, and waits. It ends with this process.
 * environment: "NAME=value" besides those that are set, null-terminated, may be null; out: its standard output, -1:
 * ours; *status: its exit status, or its signal, negative. told: a signal that would end this process ends the
 * program and is told, SMP_E_INTERRUPTED or SMP_E_TERMINATED, so that what was made for it can be removed. */
smp_code smp_tool_run_own(char *const *argv, char *const *environment, int out, bool told, int *status, smp_error *err);
