/* The warp machine's inside: what a decoder (ptx/) makes of a kernel, and what the execution of its instructions may
 * use. The machine knows how warps proceed; what an instruction computes is its execute function's. */
#pragma once

#include "lab/machine/touches.h"
#include "lab/machine/warp.h"

enum { WARP_LANES = 32, WARP_BARRIERS = 16, WARP_MOST_WARPS = SMP_WARP_MAX_THREADS / 32 };
#define WARP_ALL UINT32_MAX

/* A loop over lanes that the compiler may vectorise: destination and sources are the same row or apart. */
#if defined(__clang__)
#define WARP_EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < WARP_LANES; l++)
#else
#define WARP_EACH_LANE _Pragma("GCC ivdep") for (int l = 0; l < WARP_LANES; l++)
#endif
/* The active lanes, lowest first, as l. */
#define WARP_ACTIVE_LANES(lanes)                                                                                       \
    for (uint32_t rest_ = (lanes), l = 0; rest_ && (l = (uint32_t)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)

/* Generic addresses: windows far from the host's addresses. */
#define WARP_SHARED_WINDOW (UINT64_C(1) << 60)
#define WARP_LOCAL_WINDOW  (UINT64_C(1) << 61)
#define WARP_PARAM_WINDOW  (UINT64_C(3) << 60)
#define WARP_WINDOW_MASK   (UINT64_C(7) << 60)
/* For local memory: whose it is, the depth of the call plus 1; 0: that of the function which accesses it. */
enum { WARP_DEPTH_SHIFT = 48 };

typedef struct warp_inst warp_inst;
typedef struct warp_code warp_code;
typedef struct warp_frame warp_frame;
typedef struct warp_block warp_block;
typedef struct warp_cluster warp_cluster; /* cluster.h */
typedef struct warp_watch warp_watch;     /* watch.h */

struct warp_observer;
typedef void warp_execute(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes);
typedef void warp_alu(void *d, const void *a, const void *b, const void *c);

typedef enum warp_flow {
    WARP_NEXT,     /* execute, then the next instruction */
    WARP_MEMBERS,  /* the same once all lanes of a mask are here */
    WARP_CONVERGE, /* the same, of the hardware's own: lanes of the mask that ended are not waited for; then to a target
                      if there is one */
    WARP_JUMP,     /* lanes whose guard holds, and a source if there is one, go to target */
    WARP_JUMP_TO,  /* each lane goes where the row s[0] says, in bytes of code */
    WARP_EXIT,     /* threads end */
    WARP_RETURN,   /* lanes leave the function; in a kernel: end */
    WARP_BARRIER,
    WARP_CLUSTER /* a barrier of the cluster: mode 0 arrives, 1 waits */
} warp_flow;

/* Jump kinds: per lane; if any lane's guard holds; if all do. */
enum { WARP_EACH_GOES, WARP_ANY_SENDS, WARP_ALL_GO };

typedef enum warp_space { WARP_GENERIC, WARP_GLOBAL, WARP_SHARED, WARP_LOCAL, WARP_CONST, WARP_PARAM } warp_space;

enum { WARP_DESTS = 8, WARP_SOURCES = 24 };
#define WARP_NO_ROW UINT32_MAX

/* Effect of an instruction on memory, for counting. */
enum { WARP_LOADS, WARP_STORES, WARP_UPDATES_MEMORY, WARP_COPIES };

/* Rows are byte offsets into a frame's registers: 32 words of 32 bits, 32 of 64, or for a predicate one mask. What most
 * instructions need to run lies side by side: kernels are more than a processor's first cache holds. */
struct warp_inst {
    warp_execute *execute;
    warp_alu *alu;
    const void *extra; /* of SASS and of calls */
    uint32_t guard;    /* the row of the guarding predicate, or WARP_NO_ROW */
    uint32_t target;
    uint32_t index; /* in the whole module */
    uint32_t add;   /* with parts: a row that is added to addresses, or WARP_NO_ROW */
    int64_t offset; /* of addresses */
    uint32_t bias;  /* with parts: where shared memory begins */
    uint8_t scale;  /* the address's row is shifted to the left */
    uint8_t flow;
    uint8_t kind; /* what it does to memory */
    bool guard_not;
    uint8_t d_class, s_class[4]; /* 'w', 'd', 'p' */
    uint8_t dests, sources;
    bool flush, saturate;      /* .ftz, .sat of 32-bit floats */
    uint8_t combine;           /* setp: 1 and, 2 or, 3 xor with the last source */
    bool negate_source;        /* that source is negated */
    uint8_t mode, submode;     /* of its kind */
    uint8_t space, width, vec; /* memory: bytes of an element, elements */
    uint8_t type, from_type;   /* the decoder's */
    bool address_wide, source_wide;
    bool parts;         /* 64 bits are two rows of words (SASS); addresses are such a row, with `add` added */
    bool columns;       /* matrices: column by column, or transposed; cvt: the sign fills a word */
    bool result_unused; /* atomics */
    bool replaces;      /* an exchange whose result nobody reads: a write */
    bool copies;        /* PTX: a load whose value is stored and no more, maybe with the padding of a structure */
    bool orderly;  /* PTX: a load or store that races with no atomic one, being one itself, or tried again by a swap */
    bool acquires; /* PTX: what others released before is seen after it */
    bool releases; /* PTX: what was done before it is seen by those that acquire it */
    bool serves;   /* a call that the machine answers, which may change what all blocks share */
    bool meets;    /* PTX: other blocks, the host or time have to do with it: blocks run one after another */
    bool is_volatile, of_block; /* of_block: PTX: atomic among threads of one block alone (.cta) */
    bool by_data;               /* PTX: its address depends on what threads have read (by_data.c) */
    bool spins;                 /* an atomic that is repeated until it succeeds */
    bool repeats;               /* SASS: it lies in a loop that waits for others: how often is a matter of timing */
    bool spills;                /* SASS: ptxas had no register left for what it keeps in local memory */
    uint32_t d[WARP_DESTS];
    uint32_t s[WARP_SOURCES];
    int64_t offset2;
    bool add_wide;       /* add: it has 64 bits */
    uint32_t file, line; /* in the source */
    uint32_t text_line;  /* of the PTX, or of nvdisasm's text */
    const char *text;    /* the instruction, in the module's text */
    uint32_t text_size;
};

/* A row that holds the same in all lanes. */
typedef struct warp_constant {
    uint32_t row;
    bool wide;
    uint64_t bits;
} warp_constant;

typedef enum warp_special {
#define NAMED(name, spelling, value) WARP_##name,
#define NAMELESS(name, value)        WARP_##name,
#include "lab/machine/special_list.def"
} warp_special;

typedef struct warp_special_row {
    warp_special special;
    uint32_t row;
    bool wide;
    uint64_t add;
} warp_special_row;

typedef struct warp_shared_array {
    char name[64];
    uint32_t offset, size;
    uint32_t alignment;
    uint64_t declared; /* ascending in the text */
} warp_shared_array;

/* A row that holds the same in all lanes, from a constant bank of the launch. */
typedef struct warp_bank_row {
    uint32_t row, bank, offset;
} warp_bank_row;

/* A constant of SASS, by its number, that is a NaN. An instruction's text does not tell which, its code does. */
typedef struct warp_nan {
    uint32_t inst, constant;
} warp_nan;

/* Contents of a constant bank: fixed bytes, and variables that the host may write between launches. */
enum { WARP_BANKS = 8 };
typedef struct warp_bank_part {
    uint32_t offset, size;
    const void *memory;
} warp_bank_part;
typedef struct warp_bank {
    unsigned char *bytes;
    uint32_t size;
    warp_bank_part *parts;
    size_t part_count, part_capacity;
} warp_bank;

/* A kernel or a function. */
struct warp_code {
    char *symbol, *name;
    warp_inst *insts;
    size_t count, capacity;
    uint32_t register_bytes, local_bytes, shared_bytes, param_bytes;
    warp_constant *constants;
    size_t constant_count, constant_capacity;
    warp_nan *nans;
    size_t nan_count, nan_capacity;
    warp_special_row *specials;
    size_t special_count, special_capacity;
    warp_shared_array *arrays;
    size_t array_count, array_capacity;
    smp_warp_param *params, *results; /* results: of functions; offsets are into local memory */
    size_t param_count, param_capacity, result_count, result_capacity;
    uint32_t granule; /* bytes: the narrowest element that it accesses in shared memory */
    bool entry;
    bool counts_only;      /* races and uninitialised reads are not looked for */
    uint32_t architecture; /* that it is compiled for: 90 */
    uint32_t cluster[3];   /* blocks of a cluster, as the kernel wants them; 0: as the launch says, or none */
    uint32_t most_threads; /* of a block (__launch_bounds__); 0: as the GPU has them */
    uint32_t block[3];     /* of its launches, as it wants them (__block_size__); 0: any */
    bool in_clusters;      /* it has instructions of clusters */
    uint32_t param_base;   /* SASS: where parameters lie in constant bank 0; 0: PTX */
    size_t inherited;      /* SASS: so many instructions at the beginning have the place of the kernel before it */
    uint32_t first_local;  /* SASS: the stack pointer at the beginning */
    uint64_t *controls;    /* SASS: the upper half of each instruction's bits, as the cubin has them */
    size_t control_count;
    warp_bank banks[WARP_BANKS];
    warp_bank_row *bank_rows;
    size_t bank_row_count, bank_row_capacity;
    smp_error problem;
    char *const *files; /* of the module */
    size_t file_count;
};

/* The threads of such a block; UINT32_MAX: so many or more. */
static inline uint32_t warp_block_threads(const uint32_t shape[3])
{
    const uint64_t layer = (uint64_t)shape[0] * shape[1];
    uint64_t threads;
    return __builtin_mul_overflow(layer, (uint64_t)shape[2], &threads) || threads > UINT32_MAX ? UINT32_MAX
                                                                                               : (uint32_t)threads;
}

struct smp_warp_kernel {
    warp_code code;
    const warp_inst *const *insts; /* of the whole module, by index */
    size_t inst_count;
    const struct warp_pointer *const *pointers; /* the first of those that PTX takes; null: there is no PTX */
};

typedef struct warp_function {
    struct warp_function *next;
    warp_code code;
} warp_function;

/* A function whose address is taken: its node's address. */
typedef struct warp_pointer {
    struct warp_pointer *next;
    char *name;
    const char *at; /* in the text, while that is read */
    const warp_code *code;
    const smp_warp_kernel *kernel; /* where it is one, for launches of the device */
} warp_pointer;

typedef struct warp_variable {
    char *name;
    void *memory;
    size_t size;
    bool shared;    /* weak: others of its name are the same */
    const char *at; /* in the text, while that is read */
} warp_variable;

struct smp_warp_module {
    char **files; /* by the numbers of .file */
    size_t file_count, file_capacity;
    struct smp_warp_kernel **kernels;
    size_t kernel_count, kernel_capacity;
    warp_function *functions;
    size_t function_count;
    warp_pointer *pointers;
    const warp_inst **insts;
    size_t inst_count;
    warp_variable *variables;
    size_t variable_count, variable_capacity;
    char *text; /* into which instructions point */
};

/* The lanes of a warp in one function. */
struct warp_frame {
    const warp_code *code;
    unsigned char *rows;  /* registers */
    unsigned char *local; /* local_bytes of each lane */
    uint32_t pc[WARP_LANES];
    uint32_t ready, at_barrier, at_members; /* lanes that run, wait for the block, wait for lanes of the warp */
    uint32_t live;                          /* lanes that have not returned */
    uint32_t avoid;                         /* lanes that spun long enough: others go first */
    uint32_t spins;
    uint32_t carry; /* of PTX: a bit a lane */
    uint32_t tried; /* of PTX: lanes that swapped in shared memory, as one takes a lock, with nothing there since */
    uint32_t depth; /* 0: the kernel */
    const struct warp_frame *caller;
    uint32_t at_cluster, cluster_arrived; /* lanes that wait at the cluster's barrier, that have arrived there */
    uint8_t cluster_phase[WARP_LANES];    /* at which */
    bool clustered;
    bool inside;   /* of a kernel's: its lanes wait in a function, while other warps have their turn */
    uint32_t rank; /* of the block in its cluster */
    uint32_t warp;
    uint32_t turn;             /* __syncwarp calls of all lanes so far in this interval: orders accesses of the warp */
    uint32_t turn_since, seen; /* intervals: before them the warp's own accesses, and the block's that were released */
    uint8_t barrier[WARP_LANES];
    uint32_t groups[WARP_LANES], waited[WARP_LANES]; /* of cp.async: committed, and known to be there */
};

/* What the accesses of an instruction to a space cost, as rows tell it. */
typedef union warp_sums {
    struct {
        uint64_t instructions, lanes, wavefronts, ideal, packed, conflicts, sectors, sectors_ideal;
    };
    uint64_t all[8];
} warp_sums;

typedef struct warp_count {
    bool far;           /* other blocks' shared memory, too */
    uint8_t seen_space; /* bit SMP_WARP_SHARED, SMP_WARP_GLOBAL, SMP_WARP_LOCAL */
    uint64_t skipped;   /* runs in which no lane's guard held */
    warp_sums in[SMP_WARP_LOCAL + 1];
    uint32_t worst_wavefronts, worst_ideal, worst_active;
    uint32_t worst_offset[WARP_LANES];
    smp_bank_op worst_op;
    uint64_t recorded; /* of wavefronts: those of patterns */
    uint64_t strided;  /* as in smp_warp_row */
    uint32_t stride;
} warp_count;

/* How often an instruction ran, with how many lanes in all, and how often a branch split its warp. */
typedef struct warp_tally {
    uint64_t runs, lanes, splits, whole; /* whole: runs with all lanes that are in neither yet */
} warp_tally;

typedef struct warp_fault_key {
    smp_warp_fault fault;
    uint32_t inst, other;
    uint64_t count;
    uint64_t block; /* that it happened in first */
    uint64_t other_block;
    uint32_t thread, other_thread;
    char text[200];
} warp_fault_key;

typedef struct warp_barrier {
    uint32_t arrived, waiting, expected; /* threads; expected 0: all that live */
    uint32_t inst, first_thread, other_inst, other_thread;
    bool mixed;
    uint32_t before[WARP_MOST_WARPS]; /* of each warp: what warps knew of it when they arrived, as warp_order.known */
} warp_barrier;

/* Order of accesses in a block. Time is counted in intervals: a barrier, and an arrival at one, begin a new one.
 * Accesses of intervals before `first` are of earlier blocks, those before `floor` come before all that follows.
 * Barriers of some warps order those alone: known[w][v] is the interval before which accesses of warp v come before
 * what warp w does now (a vector clock); older values than `floor` say nothing. */
enum { WARP_ACQUIRED = 16 };
typedef struct warp_order {
    uint32_t interval, first, floor;
    uint32_t atomic_read; /* the floor since which shared memory was read atomically */
    bool partial;         /* a barrier of some warps has ended */
    /* Global memory: all of before `ordered` comes before; what the block did before `fenced` is seen by those that see
     * its next atomic or volatile write; the addresses at which it saw what others released. */
    uint32_t ordered, fenced, acquired_count;
    bool acquired_any, flag_next; /* flag_next: a plain write behind the fence may be a flag */
    uint64_t acquired[WARP_ACQUIRED];
    uint32_t known[WARP_MOST_WARPS][WARP_MOST_WARPS];
} warp_order;

/* Callbacks that follow a launch as it runs (lab/time). Without streams only begin, touch and end are called. */
struct warp_observer {
    bool streams;                                                       /* this block's instructions are wanted */
    void (*begin)(struct warp_observer *self, const warp_block *block); /* a block, which is there until its end */
    void (*end)(struct warp_observer *self);
    void (*step)(struct warp_observer *self, const warp_frame *frame, const warp_inst *inst, uint32_t lanes);
    void (*cost)(struct warp_observer *self, uint64_t wavefronts); /* in shared memory, of the last step */
    void (*touch)(struct warp_observer *self, const warp_frame *frame, warp_space space, uint32_t lanes,
                  const uint64_t address[WARP_LANES], uint32_t width, int how); /* a warp_touching */
    uint32_t served; /* a bit for each of ptx_services that ran */
};

/* What a block's state was, to see that it comes again (again.c). */
typedef struct warp_again {
    uint64_t state, memory; /* memory: its digest when the state came again, once that is held */
    uint64_t samples, next; /* next: the jumps back at which it is looked at */
    uint32_t digests;
    bool held;
    uint32_t inside; /* warps that wait in functions, while others have their turn; the memory that the last one saw */
    uint64_t there;
    bool others; /* threads that could go on have no turn */
} warp_again;

struct warp_block {
    const smp_warp_launch *launch;
    struct warp_observer *observer; /* null: none */
    const warp_code *code;
    uint32_t threads, warps;
    uint64_t index; /* of the block in the grid */
    uint32_t id[3];
    warp_cluster *cluster; /* null: there are none */
    uint32_t rank, cluster_phase;
    warp_frame frames[WARP_MOST_WARPS];
    unsigned char *register_file, *local_file, *shared;
    uint32_t shared_size, dynamic_base;
    const struct warp_row_functions *rows; /* for this processor (rows.h) */
    uint32_t quick; /* the floor of which loads are counted, and noted or not, later: some are done at once */
    warp_granule *granules;
    warp_times times;
    warp_pending pending;
    uint32_t granule_shift;
    warp_order order;
    warp_lane_times *lanes; /* of each warp; null: no __syncwarp named some lanes alone */
    warp_watch *watch;      /* null: mistakes in global memory are not looked for */
    warp_barrier barriers[WARP_BARRIERS];
    const warp_inst *const *insts; /* of the module, by index */
    warp_count *counts;            /* of each */
    warp_tally *tallies;
    struct warp_memo *memos;
    bool records; /* this block's patterns */
    smp_warp_patterns patterns;
    warp_fault_key *faults;
    size_t fault_count, fault_capacity;
    uint64_t instructions, jumps;
    uint32_t calls;  /* that its warps are in */
    uint64_t clocks; /* how often the clock was read */
    bool alone;      /* no other block runs meanwhile, or the launch is done again where it met one */
    warp_again again;
    uint64_t failed_waits;             /* at mbarriers, since something arrived */
    uint64_t buffer_start, buffer_end; /* the buffer that was accessed last */
    const unsigned char *banks[WARP_BANKS];
    uint32_t bank_sizes[WARP_BANKS];
    bool illegal, refused, asserted; /* as in smp_warp_result */
    bool stop;
    bool said;                       /* that a block takes long */
    uint64_t printed;                /* bytes, of a launch that is guarded */
    double deadline, block_deadline; /* by smp_now(); 0: none */
    uint64_t look_at;                /* instructions after which time is looked at; findings bring it nearer */
    smp_error error;
};

/* ------------------------------------------------------------------------------------------------ blocks */

void warp_begin_block(warp_block *block, uint64_t index);
/* A turn of each warp. False: the block has ended or stops. *spins: a warp waits for memory to change. */
bool warp_step_block(warp_block *block, bool *spins);
/* All blocks of a grid in turns, for kernels whose blocks wait for each other; *done of them ended. */
smp_code warp_run_cooperative(warp_block *block, uint64_t count, uint64_t *done, smp_error *err);

/* ------------------------------------------------------------------------------------------------ services */

/* The bits of a word from the last to the first. */
static inline uint32_t warp_reversed(uint32_t v)
{
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
}

static inline uint32_t *warp_words(const warp_frame *frame, uint32_t row)
{
    return (uint32_t *)(void *)(frame->rows + row);
}
static inline uint64_t *warp_longs(const warp_frame *frame, uint32_t row)
{
    return (uint64_t *)(void *)(frame->rows + row);
}
static inline uint32_t warp_pred(const warp_frame *frame, uint32_t row)
{
    return *(const uint32_t *)(const void *)(frame->rows + row);
}
static inline int warp_lanes_in(uint32_t lanes)
{
    return lanes == WARP_ALL ? WARP_LANES : __builtin_popcount(lanes); /* most are whole, and processors may lack it */
}
static inline uint32_t warp_thread(const warp_frame *frame, uint32_t lane)
{
    return frame->warp * WARP_LANES + lane;
}

/* Counts an access and checks it: bounds, races, uninitialised reads. width: bytes of a lane. Returns the lanes that
 * may proceed. data: what a store writes (null: unknown), so that equal values are no race; element bytes apart. */
enum { WARP_ACCESS_BYTES = 32 }; /* of a lane, at most */
typedef enum warp_touching { WARP_READS, WARP_WRITES, WARP_UPDATES } warp_touching;
typedef struct warp_access {
    warp_touching how;
    smp_bank_op op;
    uint32_t width, granule;       /* bytes; of an element */
    const uint32_t *const *values; /* of each element its row of words, where a store writes 4 bytes; may be null */
    const unsigned char (*bytes)[WARP_ACCESS_BYTES]; /* of each lane what a store of other elements writes, or null */
    void (*value)(const warp_frame *frame, const warp_inst *inst, uint32_t lane, unsigned char *to); /* of a store */
} warp_access;
uint32_t warp_touch_shared(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                           const uint32_t offset[WARP_LANES], const warp_access *access);
uint32_t warp_touch_global(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                           const uint64_t address[WARP_LANES], const warp_access *access);

/* Counts an access to local memory: a word of all lanes lies together, so that lanes at one place take few sectors. */
void warp_count_local(warp_block *block, const warp_inst *inst, uint32_t lanes, const uint64_t address[WARP_LANES],
                      uint32_t width);

/* The same with banks filled in, but for its active lanes: asynchronous copies, whose cost depends on their source. */
uint32_t warp_touch_copy(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                         const uint32_t offset[WARP_LANES], const warp_access *access, smp_bank_access *banks);

/* Races and uninitialised reads alone, of a lane's bytes that are inside: nothing is counted. */
void warp_check_shared(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lane, uint32_t offset,
                       uint32_t bytes, warp_touching how);

/* All accesses so far, of all warps, come before all that follow. */
static inline void warp_order_all(warp_block *block)
{
    block->order.floor = ++block->order.interval;
}

/* The stamp of an access: its interval, the turn of its warp, its thread. */
static inline uint64_t warp_stamp(const warp_block *block, const warp_frame *frame, uint32_t lane)
{
    return (uint64_t)block->order.interval << 32 | (uint64_t)frame->turn << 16 | warp_thread(frame, lane);
}

/* Whether a __syncwarp of some lanes lies between an access of one thread and what another of its warp does now. */
static inline bool warp_lanes_ordered(const warp_block *block, uint32_t when, uint32_t from, uint32_t to)
{
    return block->lanes && when < block->lanes[to / WARP_LANES][to % WARP_LANES][from % WARP_LANES];
}

/* Whether an earlier access of this block, by its stamp, is not ordered before a later one. */
static inline bool warp_unordered(const warp_block *block, uint64_t was, uint64_t now)
{
    if (was >> 32 < block->order.floor || (uint16_t)was == (uint16_t)now)
        return false;
    const uint32_t from = (uint16_t)was / WARP_LANES, to = (uint16_t)now / WARP_LANES;
    if (from == to && ((uint16_t)(was >> 16) < (uint16_t)(now >> 16) ||
                       warp_lanes_ordered(block, (uint32_t)(was >> 32), (uint16_t)was, (uint16_t)now)))
        return false;
    return !block->order.partial || was >> 32 >= block->order.known[to][from];
}

/* The lanes wait for others: their next jump back gives those a turn. */
void warp_waits(warp_frame *frame);

/* Adds the cost of one more piece of the same instruction (matrices): wavefronts alone. */
void warp_count_shared(warp_block *block, uint32_t index, const smp_bank_access *access);

/* Counts a finding that is known by its kind and instructions, of which no text needs to be made. False: it is new. */
bool warp_fault_again(warp_block *block, smp_warp_fault fault, uint32_t inst, uint32_t other_inst);

/* A finding; the text is made only for the first of its kind at these instructions. */
void warp_fault(warp_block *block, smp_warp_fault fault, uint32_t inst, uint32_t thread, uint32_t other_inst,
                uint32_t other_thread, const char *format, ...) SMP_PRINTF(7, 8);

/* Ends the launch. */
void warp_stop(warp_block *block, const warp_frame *frame, const warp_inst *inst, const char *format, ...)
    SMP_PRINTF(4, 5);

void warp_run_block(warp_block *block, uint64_t index);

/* Runs the lanes of a called function until they have returned. */
bool warp_run_frame(warp_block *block, warp_frame *frame);
void warp_fill_rows(const warp_block *block, warp_frame *frame);

/* Releases what a kernel or function has (module.c). */
void warp_free_code(warp_code *code);

/* Blocks that wait for ever (again.c): a hash of a block's state; whether one comes again, with the same memory; looks
 * at a block that has jumped back often, and stops it; stops one that waits. in: the function that its lanes are in;
 * null: between turns, when no lane is in one. */
uint64_t warp_state(const warp_block *block, const warp_frame *in);
bool warp_comes_again(warp_again *again, uint64_t state, const smp_warp_memory *memory);
void warp_look_again(warp_block *block, const warp_frame *in);
void warp_stop_waiting(warp_block *block, const warp_frame *in, const char *what);

/* Numbers the instructions of a whole module (module.c). */
bool warp_number_module(smp_warp_module *module);

/* A name in a .file of PTX or in nvdisasm's text, with its bytes beyond ASCII in place of their escapes. The caller
 * frees it; NULL: no memory. (names.c) */
char *warp_file_name(const char *at, size_t size);

/* Kernels of a module that share a name get template arguments, parameters or their symbol as names (names.c). */
bool warp_tell_apart(smp_warp_module *module);

/* Constant banks of a launch (banks.c). */
smp_code warp_open_banks(warp_block *block, smp_error *err);
void warp_put_cluster(const warp_block *block); /* the shape of the cluster */
void warp_close_banks(warp_block *block);
void warp_fill_bank_rows(const warp_block *block, warp_frame *frame);
void warp_free_bank(warp_bank *bank);

/* Barriers of a block (barrier.c). */
void warp_arrive(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes);
bool warp_release_barriers(warp_block *block);
void warp_report_deadlock(warp_block *block);

/* Barriers of a cluster (cluster.c): lanes arrive or wait; they end; those of a phase that is over go on. */
void warp_cluster_barrier(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes);
void warp_cluster_exit(warp_block *block, const warp_frame *frame, uint32_t lanes);
void warp_cluster_wake(warp_block *block);

/* Mistakes in global memory (watch.c): a launch begins, and ends; the block's turn begins. */
bool warp_open_watch(warp_block *block, bool in_clusters);
void warp_close_watch(warp_block *block);
void warp_begin_turn(warp_block *block);
void warp_note_watch(const warp_block *block, smp_warp_result *result); /* what was not looked at */
/* A fence of the whole GPU. */
void warp_watch_fence(warp_block *block);

/* Patterns (patterns.c): whether a block's are recorded; an access with what it cost; those of a launch. */
bool warp_records_block(const smp_warp_launch *launch, uint64_t index);
void warp_record(warp_block *block, uint32_t index, const smp_bank_access *access, int wavefronts);
bool warp_make_patterns(const warp_block *block, smp_warp_result *result);

/* The array at an offset in shared memory; UINT32_MAX: none is known. */
uint32_t warp_array_at(const warp_block *block, uint32_t offset);

/* Results (result.c). The first adds what another thread's blocks of the same launch counted and found (finding.c). */
smp_code warp_add_counts(warp_block *sum, const warp_block *more, smp_error *err);
bool warp_make_steps(const warp_block *block, smp_warp_result *result); /* steps.c; false: no memory */
/* For qsort: the order of the first pair that differs. */
static inline int warp_compare(const uint32_t keys[][2], size_t count)
{
    size_t at = 0;
    while (at + 1 < count && keys[at][0] == keys[at][1])
        at++;
    return (keys[at][0] > keys[at][1]) - (keys[at][0] < keys[at][1]);
}
/* What an instruction does in a space, as rows tell it. */
smp_warp_op warp_op_of(const warp_inst *inst, smp_warp_space space);
smp_code warp_make_result(const warp_block *block, smp_warp_result *result, smp_error *err);
