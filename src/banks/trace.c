/* Adds up traces, and names the source line of an access site. */
#include "banks/trace.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os/tool.h"

void smp_trace_free(smp_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++)
        smp_free(trace->launches[i].sites);
    smp_free(trace->launches);
    memset(trace, 0, sizeof *trace);
}

smp_shared_count smp_trace_total(const smp_trace *trace)
{
    smp_shared_count total = {0, 0, 0};
    for (size_t i = 0; i < trace->count; i++)
        for (int op = 0; op < SMP_SHARED_OPS; op++) {
            const smp_shared_count *count = &trace->launches[i].ops[op];
            total.instructions += count->instructions;
            total.wavefronts += count->wavefronts;
            total.ideal += count->ideal;
        }
    return total;
}

int smp_trace_architecture(const smp_trace *trace)
{
    int architecture = 0;
    for (size_t i = 0; i < trace->count; i++) {
        if (!trace->launches[i].architecture)
            return 0;
        architecture = trace->launches[i].architecture;
    }
    return architecture;
}

smp_trace_faults smp_trace_all_faults(const smp_trace *trace)
{
    smp_trace_faults all = {0, 0, 0, 0};
    for (size_t i = 0; i < trace->count; i++) {
        const smp_trace_faults *faults = &trace->launches[i].faults;
        all.races += faults->races;
        all.uninitialised += faults->uninitialised;
        all.outside += faults->outside;
        all.divergent += faults->divergent;
    }
    return all;
}

uint64_t smp_trace_fault_count(const smp_trace_faults *faults)
{
    return faults->races + faults->uninitialised + faults->outside + faults->divergent;
}

const char *smp_shared_op_name(smp_shared_op op)
{
    static const char *const names[SMP_SHARED_OPS] = {"load", "store", "atomic", "async"};
    return names[op];
}

void smp_trace_example(smp_trace_site *site, const smp_bank_access *access, int conflicts)
{
    const smp_bank_access *old = &site->example;
    int better = old->active ? conflicts - site->example_conflicts : 1;
    if (!better)
        better = __builtin_popcount(access->active) - __builtin_popcount(old->active);
    for (int i = 0; i < SMP_WARP && !better; i++)
        better = access->offset[i] < old->offset[i] ? 1 : access->offset[i] > old->offset[i] ? -1 : 0;
    if (better > 0) {
        site->example = *access;
        site->example_conflicts = conflicts;
    }
}

/* Picks the innermost frame of addr2line's lines that is outside of headers: the emulator's shim for CUDA, which copies
 * vectors, and CUDA's templates. */
static const char *pick_line(char *lines)
{
    static const char shim[] = "emulator_shim.h:", cuda[] = "/cuda_runtime.h:";
    char *rest = lines;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (strncmp(line, shim, sizeof shim - 1) != 0 && !strstr(line, cuda))
            return line[0] ? line : lines;
    return lines;
}

_Bool smp_trace_line(const char *file, const char *address, const char *options, char *line, size_t size)
{
    smp_error ignored = {0};
    smp_tool_end end = {.status = 1};
    char executable[] = "-e";
    char *program = smp_tool_find("addr2line"), *folder = program ? smp_tool_folder() : NULL;
    char *argv[] = {
        program, (char *)(uintptr_t)options, executable, (char *)(uintptr_t)file, (char *)(uintptr_t)address, NULL};
    const smp_tool tool = {.argv = argv,
                           .folder = folder,
                           .reads_all = true,
                           .trusted = true,
                           .seconds = 60,
                           .memory = UINT64_C(4) << 30,
                           .file = 1 << 20};
    bool known = folder && !smp_tool_run(&tool, &end, &ignored) && !end.status && end.messages;
    if (known) {
        snprintf(line, size, "%.*s", (int)size - 1, pick_line(end.messages));
        char *extra = strstr(line, " (discriminator");
        if (extra)
            *extra = 0;
        known = line[0] && line[0] != '?' && !strstr(line, ":?");
    }
    smp_free(end.messages);
    smp_tool_folder_remove(folder);
    smp_free(program);
    return known;
}

_Bool smp_trace_where(const smp_trace_site *site, char *text, size_t size)
{
    Dl_info module;
    void *pc;
    if (site->place[0]) {
        snprintf(text, size, "%s", site->place);
        return true;
    }
    memcpy(&pc, &site->pc, sizeof pc);
    uintptr_t offset = site->pc;
    char address[32], line[256] = "";
    if (dladdr(pc, &module) && module.dli_fname) {
        offset = site->pc - (uintptr_t)module.dli_fbase;
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)(offset - 1)); /* inside the call */
        if (smp_trace_line(module.dli_fname, address, "-si", line, sizeof line)) {
            snprintf(text, size, "%s", line);
            return true;
        }
    }
    snprintf(text, size, "pc 0x%llx", (unsigned long long)offset);
    return false;
}
