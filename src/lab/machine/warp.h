/* Runs CUDA kernels without a GPU, a warp at a time, and counts what each source line costs: wavefronts and conflicts
 * in shared memory, sectors in global memory; races, uninitialised reads, accesses outside buffers and divergent
 * barriers. A kernel comes as PTX text (ptx/). The rules of banks are those of banks/bank.h.
 *
 * A block's warps take turns at barriers. Blocks run one after another, or in threads (smp_warp_launch.threads) where
 * none changes what another reads, or in turns (together): the same launch gives the same bytes and counts each time.
 */
#pragma once

#include <stdio.h>

#include "banks/bank.h"
#include "base/error.h"
#include "base/hash/hash_set.h"

/* ------------------------------------------------------------------------------------------------ buffers */

/* The global memory that kernels may access. Addresses are the host's own. */
typedef struct smp_warp_memory smp_warp_memory;

smp_code smp_warp_memory_open(smp_warp_memory **out, smp_error *err);
void smp_warp_memory_close(smp_warp_memory *memory); /* frees its buffers; null is allowed */

/* A zeroed buffer aligned to 512 bytes; null: no memory. name: how findings call it, null: by its address; copied. */
void *smp_warp_buffer(smp_warp_memory *memory, size_t size, const char *name);

/* The same where the host's code has no access but between two calls of smp_warp_memory_open_to_host (that of large
 * ones stays open). No address is given out twice. Null: no memory, or more than a GPU has. */
void *smp_warp_device_buffer(smp_warp_memory *memory, size_t size);

/* Sets the device's addresses apart before the first such buffer: others are the host's. */
void smp_warp_memory_reserve(smp_warp_memory *memory);
void smp_warp_memory_open_to_host(smp_warp_memory *memory, bool open);
bool smp_warp_memory_is_device(const smp_warp_memory *memory, const void *address);

/* Memory of others becomes a buffer, until smp_warp_memory_release(). False: no memory. */
bool smp_warp_memory_adopt(smp_warp_memory *memory, void *start, size_t size, const char *name);
void smp_warp_memory_release(smp_warp_memory *memory); /* of all that were adopted */

/* False: no buffer begins there. */
bool smp_warp_buffer_free(smp_warp_memory *memory, void *start);

/* The buffer in which an address lies; false: none. */
bool smp_warp_buffer_of(const smp_warp_memory *memory, uint64_t address, uint64_t *start, uint64_t *size);

/* Memory of smp_warp_device_buffer holds nothing to begin with. The host writes some; or copies some, known or not; or
 * nobody can tell any more. */
void smp_warp_memory_know(smp_warp_memory *memory, const void *start, size_t size);
void smp_warp_memory_know_copy(smp_warp_memory *memory, const void *to, const void *from, size_t size);
void smp_warp_memory_know_all(smp_warp_memory *memory);

/* A hash of what all buffers hold. */
uint64_t smp_warp_memory_digest(const smp_warp_memory *memory);

/* A copy of what all buffers hold. Null: no memory. */
typedef struct smp_warp_copy smp_warp_copy;
smp_warp_copy *smp_warp_copy_memory(smp_warp_memory *memory);
void smp_warp_copy_free(smp_warp_copy *copy); /* null is allowed */
/* In its place where more copies follow: the memory keeps two, and frees them with itself. */
void smp_warp_copy_keep(smp_warp_memory *memory, smp_warp_copy *copy);
/* Writes it back; false: the buffers are others since. */
bool smp_warp_copy_back(smp_warp_memory *memory, const smp_warp_copy *copy);
/* Returns how many bytes differ from the copy; place: the first of them. */
uint64_t smp_warp_copy_differs(const smp_warp_memory *memory, const smp_warp_copy *copy, char *place, size_t size);

/* ------------------------------------------------------------------------------------------------ modules */

typedef struct smp_warp_module smp_warp_module;
typedef struct smp_warp_kernel smp_warp_kernel;

typedef struct smp_warp_param {
    char type[8]; /* "u64", "f32"; "b8" for structures */
    uint32_t offset, size;
} smp_warp_param;

/* Parses PTX. name: the file, for messages. Variables are laid out in memory, which must outlive the module. A kernel
 * that holds an instruction which the machine lacks is kept with that as its problem; the module loads. *out is null on
 * failure. */
smp_code smp_warp_load_ptx(const char *name, const char *text, size_t length, smp_warp_memory *memory,
                           smp_warp_module **out, smp_error *err);

/* Reads SASS as `nvdisasm -c -gi` writes it, of the cubin that is given too (null: there are no
 * constants, and the PTX tells the shape). ptx: the same program, whose variables it shares; null: it has its own. Its
 * launches count accesses and do not look for races and uninitialised reads, since ptxas removes the barriers of a warp
 * that do nothing on the hardware. */
smp_code smp_warp_load_sass(const char *name, const char *text, size_t length, const void *cubin, size_t cubin_size,
                            const smp_warp_module *ptx, smp_warp_memory *memory, smp_warp_module **out, smp_error *err);
void smp_warp_module_free(smp_warp_module *module); /* null is allowed */

size_t smp_warp_kernel_count(const smp_warp_module *module);
const smp_warp_kernel *smp_warp_kernel_at(const smp_warp_module *module, size_t index);

/* Finds a kernel by its symbol ("_Z9transposePfPKf") or its name in the source ("transpose", "tile<32,float>",
 * "scale(float*)"). Null: there is none, or, where *many is set, several have that name. */
const smp_warp_kernel *smp_warp_kernel_find(const smp_warp_module *module, const char *name, bool *many);

const char *smp_warp_kernel_symbol(const smp_warp_kernel *kernel);
const char *smp_warp_kernel_name(const smp_warp_kernel *kernel); /* in the source; unlike those beside it */
size_t smp_warp_kernel_params(const smp_warp_kernel *kernel, const smp_warp_param **params);
uint32_t smp_warp_kernel_shared(const smp_warp_kernel *kernel); /* bytes of static shared memory */
uint32_t smp_warp_kernel_arch(const smp_warp_kernel *kernel);   /* that it is compiled for: 90; 0: not known */
/* The blocks of a cluster that it wants (__cluster_dims__). False: it leaves that to its launches. */
bool smp_warp_kernel_cluster(const smp_warp_kernel *kernel, uint32_t shape[3]);
/* The threads that a block of it may have, of registers each (0: not known); 0: no block fits. */
uint32_t smp_warp_kernel_threads(const smp_warp_kernel *kernel, uint32_t registers);
uint32_t smp_warp_kernel_param_bytes(const smp_warp_kernel *kernel);
const smp_error *smp_warp_kernel_problem(const smp_warp_kernel *kernel); /* null: it can run */

/* The last name in a mangled symbol: "_ZZ9transposePfE4tile" is "tile"; others stay as they are. */
void smp_warp_source_name(const char *symbol, size_t length, char *name, size_t size);

size_t smp_warp_variable_count(const smp_warp_module *module);
/* The same with template arguments, "tr<32,float>", and, where wanted, parameters. False: the symbol has what is not
 * known here. */
bool smp_warp_full_name(const char *symbol, bool params, char *name, size_t size);

/* Returns the length of the first of several names, with commas between: those in brackets are part of a name. */
size_t smp_warp_name_span(const char *names);

/* The memory of a __device__ or __constant__ variable; null: there is none. */
void *smp_warp_variable(const smp_warp_module *module, const char *name, size_t *size);

/* ------------------------------------------------------------------------------------------------ launches */

/* What a kernel has launched, copied or filled: done once it has ended, in the order of its calls. */
typedef struct smp_warp_task {
    const smp_warp_kernel *kernel; /* null: bytes are copied, or without `from` filled */
    uint32_t grid[3], block[3], shared;
    unsigned char *params;   /* from smp_alloc */
    uint64_t prepared;       /* where the kernel writes them, before it launches; else 0 */
    bool tail;               /* behind all others and what those launch */
    uint32_t depth;          /* of the kernel */
    uint64_t to, from, size; /* of a copy */
    int value;
} smp_warp_task;
typedef struct smp_warp_tasks {
    smp_warp_task *items;
    size_t count, capacity;
    uint32_t depth;  /* of the kernel whose they are: 0: the host launched it */
    uint32_t tails;  /* so many wait for the tail */
    int error;       /* the last one of cudaGetLastError */
    double deadline; /* of smp_now, for all that follows from the host's launch; 0: none */
} smp_warp_tasks;
void smp_warp_tasks_free(smp_warp_tasks *tasks, smp_warp_memory *memory);

typedef struct smp_warp_launch {
    const smp_warp_kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t cluster[3];     /* blocks of a cluster; 0: as the kernel says, or none */
    uint32_t dynamic_shared; /* bytes */
    uint32_t registers;      /* of a thread; 0: not known */
    const void *params;      /* smp_warp_kernel_param_bytes of them */
    smp_warp_memory *memory;
    FILE *print;            /* where the kernel's printf goes */
    bool guarded;           /* the kernel is a stranger's: what it prints controls no terminal, and has an end */
    const uint64_t *blocks; /* the blocks that run, ascending; null: all */
    uint64_t block_count;
    bool each_instruction;  /* rows are of instructions, not of source lines */
    bool listing;           /* how often each instruction ran is wanted */
    int threads;            /* of the host that run blocks; 0: one */
    double seconds;         /* after which it is stopped with an error; 0: never */
    double block_seconds;   /* after which a block is stopped with an error; 0: never */
    double deadline;        /* where it began before: when that is, by smp_now(); 0: not */
    bool together;          /* blocks wait for each other: all of them run, in turns */
    bool counts_alone;      /* where there is SASS it runs alone, and no mistakes are looked for */
    bool watch;             /* races in global memory, and reads of what nobody wrote there, are looked for */
    bool again;             /* the launch before, with other code */
    _Atomic bool *met;      /* watched blocks run in several threads; true: they may have met, and shall run in one */
    smp_warp_tasks *tasks;  /* becomes what it launches; null: it may launch nothing */
    uint64_t grid_memory;   /* the address of 16 zeroed bytes for the barrier of such a grid; 0: none */
    unsigned char *written; /* becomes 1 for each byte written between these addresses; null: not wanted */
    uint64_t written_start, written_end;
    struct warp_observer *observer; /* of the SASS; null: none */
} smp_warp_launch;

enum { SMP_WARP_MAX_THREADS = 1024, SMP_WARP_MAX_SHARED = 227 * 1024, SMP_WARP_MAX_CLUSTER = 16 };

typedef enum smp_warp_space { SMP_WARP_SHARED, SMP_WARP_GLOBAL, SMP_WARP_LOCAL } smp_warp_space;
typedef enum smp_warp_op { SMP_WARP_LOAD, SMP_WARP_STORE, SMP_WARP_ATOMIC, SMP_WARP_COPY } smp_warp_op;

/* All accesses of one kind that a source line makes. */
typedef struct smp_warp_row {
    uint32_t file, line; /* file: an index for smp_warp_result.files */
    smp_warp_space space;
    smp_warp_op op;
    uint32_t width;                                /* bytes a lane */
    uint64_t instructions, lanes;                  /* of warps; active lanes, summed */
    uint64_t most_lanes;                           /* of one instruction of the code, in one launch: the most */
    uint64_t wavefronts, ideal, packed, conflicts; /* as in smp_bank_cost */
    uint64_t sectors, sectors_ideal;               /* of 32 bytes; ideal: the lanes' bytes side by side */
    uint64_t strided; /* of sectors beyond the ideal: those of accesses whose lanes lie `stride` bytes apart */
    uint32_t stride;  /* the least; 0: none */
    bool by_data;     /* what threads read tells some addresses: h[in[i]] */
    uint32_t worst_wavefronts, worst_ideal, worst_active; /* of one instruction: the worst */
    uint32_t worst_offset[SMP_WARP];
    smp_bank_op worst_op;
    char array[64];       /* the shared array where that is known, else "" */
    uint64_t skipped;     /* of SASS: warp instructions of which no lane took part */
    bool far;             /* other blocks' shared memory too, of which no wavefronts are told */
    bool spill;           /* local: registers that ptxas had no room for */
    uint32_t place;       /* with each_instruction: its number in the kernel */
    bool repeats;         /* the same: in a loop that waits for others, so that how often is a matter of timing */
    char instruction[80]; /* SASS, with each_instruction; else "" */
} smp_warp_row;

typedef enum smp_warp_fault {
    SMP_WARP_RACE,
    SMP_WARP_UNINITIALISED,
    SMP_WARP_BOUNDS,
    SMP_WARP_MISALIGNED,
    SMP_WARP_BARRIER,
    SMP_WARP_HOST_COPY, /* of the host's calls, as the next ones: results without a grid have them */
    SMP_WARP_FREE,
    SMP_WARP_LEAK
} smp_warp_fault;

/* The words of --fail-on and of reports: "race", "uninitialised", "bounds", "misaligned", "barrier", "copy", "free",
 * "leak". */
const char *smp_warp_fault_name(smp_warp_fault fault);

typedef struct smp_warp_place {
    uint32_t file, line;
    uint32_t thread[3];
} smp_warp_place;

/* The same mistake at the same lines (smp_warp_finding_same); the first is told in full. */
typedef struct smp_warp_finding {
    smp_warp_fault fault;
    uint64_t count;                    /* lanes, or barriers */
    uint32_t block[3], other_block[3]; /* other_block: of a race between blocks; else the same */
    smp_warp_place here, other;        /* other.line 0: one place alone */
    char text[200];                    /* what happened, without lines and threads */
} smp_warp_finding;

/* Whether both are one mistake, where their files are the same: a line that reads and writes beyond makes two. */
bool smp_warp_finding_same(const smp_warp_finding *a, const smp_warp_finding *b);

/* Resources that a kernel takes of an SM (resources.c). */
typedef struct smp_warp_fit {
    int arch;           /* 90; 0: nothing is known */
    uint32_t registers; /* of a thread */
    uint32_t blocks;    /* that an SM holds at a time */
    double occupancy;   /* their warps of those that an SM can hold, 0..1 */
    const char *limit;  /* "warps", "registers", "shared memory", "blocks" */
} smp_warp_fit;

/* Local memory of a thread, as the SASS has it, in bytes. */
typedef struct smp_warp_stack {
    uint32_t whole, spilled; /* spilled: of these, what holds registers; the rest are arrays */
    uint32_t stores, loads;  /* of spilled registers: what the instructions move, each counted once */
} smp_warp_stack;

/* How often an instruction ran, or those of a source line or operation. */
enum { SMP_WARP_STEP_TEXT = 80 };
typedef struct smp_warp_step {
    uint32_t file, line, place;    /* place: its number in the kernel, from 1 on; 0: several */
    uint64_t runs, lanes, splits;  /* by warps; active lanes, summed; branches that some lanes of a warp took */
    char text[SMP_WARP_STEP_TEXT]; /* the instruction, or "LDS"; "" of a line */
} smp_warp_step;
typedef struct smp_warp_steps {
    smp_warp_step *items;
    size_t count, capacity;
} smp_warp_steps;
/* By line, by operation; with listing each instruction of what was counted, and of PTX beside SASS. */
enum { SMP_WARP_LINES, SMP_WARP_MIX, SMP_WARP_LISTING, SMP_WARP_PTX_LISTING, SMP_WARP_STEPS };

/* Accesses to an array in shared memory that lie alike, of all launches: see patterns.c. */
typedef struct smp_warp_pattern {
    uint32_t of; /* the array; in a launch that runs the instruction */
    uint8_t op, width;
    uint32_t active, offset[SMP_WARP]; /* from the array's beginning */
    uint64_t count;
} smp_warp_pattern;
typedef struct smp_warp_patterns {
    smp_warp_pattern *items;
    size_t count, capacity;
    smp_hash_set numbers; /* from 1 on, by what a pattern is */
} smp_warp_patterns;

enum { SMP_WARP_ROWS = 32 /* of a matrix (wmma): they lie evenly apart */ };
typedef struct smp_warp_array {
    char name[64];
    uint32_t bytes; /* 0: dynamic */
    bool mixed;     /* some instruction accesses another array too */
    uint8_t whole;  /* PTX: bytes of its widest access, or SMP_WARP_ROWS; 0: not known */
    char tip[640];  /* the report's to fill in: another layout, and what the kernel costs with it; "" */
} smp_warp_array;
static inline void smp_warp_widen(smp_warp_array *array, uint8_t whole)
{
    array->whole = whole > array->whole ? whole : array->whole;
}

typedef struct smp_warp_result {
    char *kernel, *symbol; /* null: nothing ran */
    const void *of;        /* the kernel's code, in the process that ran it: files may share a symbol */
    uint32_t grid[3], block[3], shared, dynamic_shared;
    smp_warp_stack stack; /* of PTX all 0 */
    uint64_t launches, blocks_run, blocks, instructions, lane_instructions;
    double seconds;
    char code[8];             /* what was counted: "ptx", "sass" */
    char notes[2000];         /* lines: where PTX and SASS disagree, why PTX was counted */
    uint64_t differing_bytes; /* of memory, between PTX and SASS */
    uint64_t digest;          /* of what all buffers hold behind the launches, where it was wanted */
    char **files;
    size_t file_count;
    smp_warp_row *rows; /* by file and line */
    size_t row_count;
    smp_warp_finding *findings;
    size_t finding_count;
    bool watched;   /* races in global memory were looked for */
    bool unchecked; /* races and uninitialised reads were not looked for: a note says why */
    bool asserted;  /* an assertion failed */
    bool clocked;   /* a clock was read: what it leaves may be other bytes each time */
    bool illegal;   /* a finding is of an address that a GPU would not take: it would end the launch */
    bool refused;   /* a finding is of an instruction that a GPU does not run: it would end the launch */
    bool stopped;   /* before its end: error says why */
    smp_error error;
    smp_warp_fit fit; /* the caller's to fill in; of registers and arch alone a file of results makes the rest */
    smp_warp_steps steps[SMP_WARP_STEPS];
    smp_warp_array *arrays; /* in shared memory */
    size_t array_count;
    smp_warp_patterns patterns;
    struct smp_predictions *predictions; /* of its time (predicted.h); null: not wanted */
} smp_warp_result;

/* The registers of a thread, as a cubin tells them of a kernel. False: it does not. */
bool smp_warp_registers(const void *cubin, size_t size, const char *symbol, uint32_t *registers);

/* The threads that a block can have whose threads take so many registers (0: not known). */
uint32_t smp_warp_threads_of(uint32_t registers);

/* Computes how many blocks of so many threads, with so many bytes of shared memory, an SM holds. False: no such
 * architecture or block. */
bool smp_warp_fit_of(int arch, uint32_t registers, uint32_t shared, uint32_t threads, smp_warp_fit *out);

/* Whether a GPU takes the launch: its grid and block have the sizes of a GPU, of the kernel, and of the registers. */
typedef enum smp_warp_room {
    SMP_WARP_FITS,
    SMP_WARP_OUT_OF_BOUNDS,
    SMP_WARP_OUT_OF_REGISTERS
} smp_warp_room;
smp_warp_room smp_warp_room_of(const smp_warp_launch *launch, smp_error *err);

/* Runs the kernel. A kernel that stops (trap, deadlock, unknown instruction) fails with SMP_E_PROCESS, and the result
 * tells what was counted until then. Owner of the result: the caller (smp_warp_result_free), also on failure. */
smp_code smp_warp_run(const smp_warp_launch *launch, smp_warp_result *result, smp_error *err);
void smp_warp_result_free(smp_warp_result *result);

/* Runs launch->kernel, which is of PTX, and then the same kernel's SASS on the memory as it was before: counts are the
 * SASS's, findings the PTX's. Without SASS (null, or one that has a problem or stops) counts are the PTX's, and a note
 * says why. */
smp_code smp_warp_run_both(const smp_warp_launch *launch, const smp_warp_kernel *sass, smp_warp_result *result,
                           smp_error *err);
void smp_warp_note(smp_warp_result *result, const char *format, ...) SMP_PRINTF(2, 3);

/* The blocks that "all", "first,middle,last" or a number mean, of a grid of `blocks`. *list is null for all, else from
 * smp_alloc. A wrong text is SMP_E_USAGE. */
smp_code smp_warp_choose_blocks(const char *text, uint64_t blocks, uint64_t **list, uint64_t *count, smp_error *err);

/* Adds the counts of another launch of the same kernel with the same shape, and takes its predictions where the sum has
 * none. False: it is another, as static kernels of two files are that share a symbol. */
bool smp_warp_result_add(smp_warp_result *sum, smp_warp_result *more);

/* Steps (steps.c): another launch's are added. False: no memory. */
bool smp_warp_steps_add(smp_warp_result *sum, const smp_warp_result *more);
void smp_warp_steps_free(smp_warp_result *result);

/* Adds a pattern, or its number to those that are alike. False: no memory. */
bool smp_warp_patterns_add(smp_warp_patterns *to, const smp_warp_pattern *pattern);
void smp_warp_patterns_free(smp_warp_patterns *patterns);

/* Results that another process of the same build reads back (result_file.c). *end: there was no further one. A process
 * writes that it begins, and that it ends: *open counts those that began and did not end. */
void smp_warp_result_write(FILE *to, const smp_warp_result *result);
void smp_warp_process_write(FILE *to, bool ends);
smp_code smp_warp_result_read(FILE *from, smp_warp_result *result, size_t *open, bool *end, smp_error *err);
