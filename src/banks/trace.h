/* Accesses of the emulator's traced kernels to shared memory. For every launch: the warp instructions on shared memory
 * and their wavefronts (banks/bank.h), in total and for each access site, and every mistake that was seen. The emulator
 * fills it while smp_simt_set_trace() (device/simt/simt.h) points at a trace; where wanted, with what the kernel's SASS
 * does instead (lab/program_kernels/own.h). */
#pragma once

#include <stddef.h>

#include "banks/bank.h"
#include "base/error.h"

typedef enum smp_shared_op {
    SMP_SHARED_LOAD,
    SMP_SHARED_STORE,
    SMP_SHARED_ATOMIC,
    SMP_SHARED_ASYNC, /* asynchronous copies from global memory, counted like stores */
    SMP_SHARED_OPS
} smp_shared_op;

/* Warp instructions, their wavefronts, and the wavefronts that their width needs. The difference is the conflicts. */
typedef struct smp_shared_count {
    uint64_t instructions, wavefronts, ideal;
} smp_shared_count;

/* Mistakes, each counted once for an access. */
typedef struct smp_trace_faults {
    uint64_t races;         /* two threads access the same byte, one of them writes, with no barrier between them */
    uint64_t uninitialised; /* reads of shared bytes that no thread wrote */
    uint64_t outside;       /* accesses past the block's shared memory, or in the guards round a buffer */
    uint64_t divergent;     /* barriers that some threads of the block did not reach, or reached at another place */
} smp_trace_faults;

/* A place in a kernel that accesses shared memory (or, only with faults, global memory). */
typedef struct smp_trace_site {
    uintptr_t pc;   /* return address of the access; smp_trace_where() finds the source line */
    uint64_t path;  /* names the calls that lead there */
    char place[72]; /* of SASS: the source line; then there is no pc */
    smp_shared_op op;
    int width; /* bytes a lane */
    smp_shared_count count;
    uint64_t conflicts; /* by bank.h; at most wavefronts - ideal, which also counts the room of inactive lanes */
    smp_trace_faults faults;
    smp_bank_access example; /* the instruction with the most conflicts, then the most lanes; active 0: none */
    int example_conflicts;
} smp_trace_site;

/* The predicted time of a launch of SASS (lab/time). */
typedef struct smp_trace_time {
    double us, low_us, high_us; /* us 0: not known */
    char bound[24], why[160];   /* why: it is not known */
} smp_trace_time;

typedef struct smp_trace_launch {
    char kernel[96];
    unsigned grid[3], block[3];
    size_t static_shared, dynamic_shared; /* bytes */
    smp_shared_count ops[SMP_SHARED_OPS];
    smp_trace_faults faults;
    smp_trace_site *sites;
    size_t site_count, site_capacity;
    int architecture; /* of the SASS that was counted, 90; 0: the traced kernel was; -1: PTX */
    smp_trace_time time;
    _Bool met; /* threads met: at a barrier, in an exchange, in shared memory, by an atomic operation */
} smp_trace_launch;

/* Zero it before use. */
typedef struct smp_trace {
    smp_trace_launch *launches;
    size_t count, capacity;
    _Bool counts_only; /* do not look for accesses in the guards of buffers: up to twice as fast */
    _Bool sass;        /* counts are wanted of SASS where the build has it; mistakes are not looked for there */
    const char *time;  /* a GPU that lab/time knows, "h100": launches of SASS have times, too; null: not wanted */
    char notes[1024];  /* lines: the kernels whose SASS could not be counted, and why */
    smp_error problem; /* SASS and the host's kernel left different bytes */
} smp_trace;

void smp_trace_free(smp_trace *trace);

/* The sum over all launches and operations; and of all faults. */
smp_shared_count smp_trace_total(const smp_trace *trace);
smp_trace_faults smp_trace_all_faults(const smp_trace *trace);
uint64_t smp_trace_fault_count(const smp_trace_faults *faults);

/* The architecture whose SASS was counted in all launches; 0: of some the traced kernel was. */
int smp_trace_architecture(const smp_trace *trace);

/* Writes "transpose.cu:41" to text. For traced kernels it uses binutils' addr2line, and needs it installed and a line
 * table in the program. Otherwise writes "pc 0x1234", relative to the program's start, and returns false. */
_Bool smp_trace_where(const smp_trace_site *site, char *text, size_t size);

/* Asks addr2line, with options, for the line of an address in a file: "main.cu:12". False when it is not installed or
 * knows none. */
_Bool smp_trace_line(const char *file, const char *address, const char *options, char *line, size_t size);

const char *smp_shared_op_name(smp_shared_op op);

/* Makes `access` the site's example if it is a better one. The order of calls does not matter. */
void smp_trace_example(smp_trace_site *site, const smp_bank_access *access, int conflicts);
