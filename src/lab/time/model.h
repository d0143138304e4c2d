/* The time model's inside. A launch is recorded as it runs (record.c, footprint.c): what each warp of the blocks that
 * one SM gets did, and what the whole launch asked of memory. One SM is then simulated (sm.c schedules, issue.c issues,
 * access.c has the SM's memory, l2.c what lies behind) and its time extrapolated to the launch (launch.c, predict.c).
 *
 * Time is counted in ticks, whole numbers, so that a prediction is the same on each machine. */
#pragma once

#include "lab/machine/machine.h"
#include "lab/machine/predicted.h"
#include "lab/time/gpu.h"

typedef int64_t time_ticks;
enum { TIME_TICK = 1024 }; /* of a cycle */
#define TIME_NEVER INT64_MAX

static inline time_ticks time_of(double cycles)
{
    return (time_ticks)(cycles * TIME_TICK + 0.5);
}

static inline time_ticks time_later(time_ticks a, time_ticks b)
{
    return a > b ? a : b;
}

/* ------------------------------------------------------------------------------------------------ code */

typedef enum time_pipe {
    TIME_NONE,
    TIME_FMA,   /* either half of the FP32 pipe */
    TIME_HEAVY, /* the half that has integer products */
    TIME_ALU,
    TIME_FP64,
    TIME_SPECIAL,
    TIME_TENSOR,
    TIME_MEMORY,
    TIME_UNIFORM,
    TIME_ADDRESS,
    TIME_BRANCH,
    TIME_CONSTANT,
    TIME_PIPES
} time_pipe;

typedef enum time_kind {
    TIME_PLAIN,
    TIME_LOAD,
    TIME_STORE,
    TIME_SHARED,
    TIME_SHUFFLE,
    TIME_ATOMIC,
    TIME_REDUCTION,
    TIME_LOCAL_LOAD,
    TIME_LOCAL_STORE,
    TIME_COPY,
    TIME_COPIES_END,
    TIME_WAIT_COPIES,
    TIME_BARRIER,
    TIME_FENCE,
    TIME_CONSTANT_LOAD
} time_kind;

enum { TIME_BOARDS = 6, TIME_SOURCES = 4 };

/* An instruction, with the bits by which ptxas steers the hardware. */
typedef struct time_inst {
    uint8_t pipe, kind, bytes;
    uint8_t stall, sets, frees, waits; /* cycles; scoreboards that its result, its reads release (7: none); a mask */
    uint8_t sources, copies_left;
    bool wide[TIME_SOURCES], reuse[TIME_SOURCES];
    bool bypasses;            /* L1 */
    bool always;              /* a jump of all lanes that come to it */
    bool takes_turns;         /* with other SMs' loads of a line, which no cache on the way joins */
    bool goes_on;             /* behind a barrier that the warp waits at: until another instruction it does not stop */
    bool is_float, is_double; /* atomics */
    bool swaps;               /* shared memory, in a loop until no other warp came first */
    bool is_long;             /* its result comes from beyond the SM's pipes: "long scoreboard" */
    uint16_t constants;       /* the line of constants that it reads, from 1 on; 0: none */
    int16_t source[TIME_SOURCES];
    time_ticks cycles, latency;
} time_inst;

typedef struct time_code {
    const warp_code *code;
    time_inst *insts;
    size_t count;
} time_code;

/* Null: no memory. Owner: the caller (smp_free of insts). */
bool time_code_make(const warp_code *code, const smp_time_gpu *gpu, time_code *out);

/* ------------------------------------------------------------------------------------------------ the record */

/* A record of an instruction: a head, a word if it has one, lines of 128 bytes << 4 | sectors.
 * The word: wavefronts; of stores also sectors that are partly written << 16; of atomics distinct addresses |
 * packets << 8; of constants distinct addresses. */
enum {
    TIME_PC_BITS = 17,
    TIME_LANES_SHIFT = 17,
    TIME_LINES_SHIFT = 23,
    TIME_WORD_BIT = 29,
    TIME_MOST_LINES = 63,
    TIME_MOST_PC = (1 << TIME_PC_BITS) - 1
};

static inline uint32_t time_pc(uint32_t head)
{
    return head & TIME_MOST_PC;
}
static inline uint32_t time_lanes(uint32_t head)
{
    return head >> TIME_LANES_SHIFT & 63;
}
static inline uint32_t time_lines(uint32_t head)
{
    return head >> TIME_LINES_SHIFT & TIME_MOST_LINES;
}
static inline bool time_has_word(uint32_t head)
{
    return head >> TIME_WORD_BIT & 1;
}

typedef struct time_stream {
    size_t begin, size; /* of time_trace.words */
} time_stream;

/* A launch's requests to L2 and DRAM; units have 64 bytes, as in DRAM. */
typedef struct time_footprint {
    double fetches, row_hits;        /* units that DRAM gives; those near one that it gave lately */
    double written_units, written;   /* written[...]: sectors */
    double partial, write_row_hits;  /* sectors that were written in part; written units near one of late */
    double near, far;                /* reads of a unit by another block than the last, one of 32 beside it or not */
    double first, first_same;        /* reads of the first wave of blocks; those that come first or with the first */
    double first_units;              /* that these are of */
    double held_sectors, held_lines; /* that L2 holds written, again each time that it had given them up */
} time_footprint;

typedef struct time_trace {
    uint32_t warps, shared, registers;
    uint64_t blocks;
    uint32_t *words;
    size_t word_count, word_capacity;
    time_stream *streams; /* of kept blocks, warps of each */
    size_t kept, stream_capacity;
    uint32_t sm;                  /* whose blocks these are: sm, sm + SMs, ... */
    uint32_t *block_instructions; /* warp instructions of each block of the grid */
    size_t block_count, block_capacity;
    bool cut;                                 /* streams are not kept to the end of the last kept block */
    double loads_of_others, stores_to_others; /* sums over blocks: the share of sectors loaded that another block had
                                                 written; of sectors stored that another had read */
    time_footprint memory;
} time_trace;

/* ------------------------------------------------------------------------------------------------ the SM */

/* Reasons why a warp does not issue: Nsight Compute's words (predicted.h). */
typedef smp_time_reason time_reason;

enum { TIME_PARTS = 4, TIME_RING = 64, TIME_GROUPS = 64, TIME_MERGED = 64, TIME_FETCH = 16 /* instructions */ };
enum { TIME_UPDATES = 1 << 10 /* more than atomic_words */ };
enum { TIME_CONSTANT_LINES = 1 << 11, TIME_CONSTANT_LINE = 64 }; /* bytes */

typedef struct time_warp {
    const uint32_t *at, *end;
    int slot, part;
    bool active, at_barrier;
    int32_t looked;             /* the pc whose scoreboards were looked at; -1 */
    time_ticks ready, eligible; /* eligible -1: not yet */
    time_ticks turned, gate;    /* when it jumped last; when its barrier opened, 0: it is past it */
    time_ticks board[TIME_BOARDS];
    uint8_t board_reason[TIME_BOARDS];
    time_ticks stored, stores_done, copies_done; /* stored: when its stores have left the SM */
    uint32_t stored_by;                          /* the instruction of the last of them */
    const uint32_t *tried;                       /* its last load from shared memory, and when that was */
    time_ticks read_at;
    time_ticks groups[TIME_GROUPS]; /* of cp.async: when each is there */
    uint32_t group_count;
    time_ticks pending[SMP_TIME_REASONS];
} time_warp;

typedef struct time_slot {
    int64_t block; /* -1: free */
    time_ticks free_at, stores_done;
    uint32_t alive, arrived;
} time_slot;

typedef struct time_part {
    time_ticks free_at, pipe[TIME_PIPES], bank[2], ring[TIME_RING], gap_end;
    uint32_t ring_head;
    int last; /* the warp that issued last */
    struct {
        int warp, reg;
    } reused[TIME_SOURCES];
    time_ticks bank_wait;
    uint64_t *fetched, fetches; /* by groups of instructions: which fetch was their last */
    time_ticks *came;           /* and when they were there */
} time_part;

/* The first-level cache: lines with their sectors. */
typedef struct time_line {
    uint32_t tag;
    uint8_t mask;
    uint64_t used;
    time_ticks ready[4];
} time_line;
typedef struct time_l1 {
    time_line *lines;
    uint32_t sets, ways, random;
    uint64_t clock;
} time_l1;
bool time_l1_open(time_l1 *l1, uint32_t bytes, uint32_t ways);
void time_l1_clear(time_l1 *l1);
uint32_t time_draw(uint32_t *random); /* 16 bits */
time_line *time_l1_find(time_l1 *l1, uint32_t line);
void time_l1_hold(time_l1 *l1, uint32_t line, uint32_t mask); /* sectors of a line, from now on */
time_line *time_l1_take(time_l1 *l1, uint32_t line);          /* another's place */

/* A map from lines or sectors to a number, open-addressed. */
typedef struct time_map {
    uint32_t *keys;
    int64_t *values;
    size_t capacity, count;
} time_map;
int64_t *time_map_at(time_map *map, uint32_t key, bool *fresh); /* null: no memory */
void time_map_free(time_map *map);

/* Costs that are set to zero to learn their price. */
typedef struct time_free {
    bool barriers, launch, dram, l2, latency;
    const uint8_t
        *least;        /* by instruction, 0: as it is; else in shared memory so many wavefronts at most, in global
                          memory lanes access bytes side by side, local memory not at all; null: all are as they are */
    uint32_t resident; /* blocks on an SM at a time; 0: as it is */
} time_free;

/* The SM's instruction cache: its places, of groups from 1 on; which groups it holds; when another can come. */
typedef struct time_groups {
    uint32_t *places, random;
    bool *held;
    size_t count;
    time_ticks free_at;
} time_groups;

/* The memory system behind the SM: its share of L2 and DRAM. */
typedef struct time_beyond {
    double near_factor, write_factor; /* of cycles in L2, where few SMs work or neighbours share lines */
    double first_miss, later_miss;    /* DRAM fetches for a unit that misses L1: at the SM's first touch, later */
    double evicted, filled, refilled; /* for a stored sector: bytes that L2 gives to DRAM; that it must read before, of
                                         sectors written in part; bytes of DRAM's time for these */
    double atomic_sharers, load_sharers; /* SMs that update the same lines, whose loads of a line take turns */
    double dram_bytes;                   /* a cycle, of this SM; what is lost is taken off */
    double credit, opened;               /* fetches due; the probability that a first touch waits for another's fetch */
    double alike;                        /* other SMs that then ask for the same unit */
    double load_bytes;                   /* lately, and when */
    time_ticks load_at;
    time_ticks l2_free, dram_free, last;
    time_ticks updates[TIME_UPDATES]; /* the last words of atomics: when L2 is done with them */
    uint32_t update_count;
    time_map seen, servers; /* by units; by lines and by 1 KB that are updated: when they are free */
    time_map served;        /* by the same keys: how long they worked, of updates */
    time_ticks most_served;
    uint32_t random;
    time_ticks l2_busy;
    uint64_t read_sectors, write_sectors;
    double dram_read, dram_write;
} time_beyond;

typedef struct time_sm {
    const smp_time_gpu *gpu;
    const time_code *code;
    const time_trace *trace;
    time_free free;
    uint32_t resident, warp_slots;
    uint64_t simulated, launched, per_sm;
    double times; /* the work of the SM beside that of its simulated blocks */
    uint32_t active_sms;
    double deadline; /* by smp_now(); 0: none */
    bool late;       /* it was over */
    time_ticks now, next_launch, interval;
    time_warp *warps;
    time_slot *slots;
    time_part parts[TIME_PARTS];
    time_ticks lsu_free, constant_free, barrier_free;
    time_ticks constants_apart; /* what loads of constants took whose lanes had several addresses */
    time_map swapped; /* words of shared memory of each slot: when one was swapped last, and by which of its warps */
    uint64_t *fetched, fetches; /* by groups of instructions: whether one was fetched; how many were */
    time_ticks *came;
    time_groups groups;
    bool *has_constants; /* by lines of constants */
    time_l1 l1;
    struct {
        uint32_t line, mask;
        uint64_t used;
    } merged[TIME_MERGED];
    uint64_t merge_clock;
    bool first_wave;
    time_beyond beyond;
    /* what it did */
    time_ticks end, *done; /* done: when each block ended, in that order */
    size_t done_count;
    uint64_t issued, l1_sectors, l1_hits;
    time_ticks wavefronts, busy[TIME_PIPES];
    double stalls[SMP_TIME_REASONS];
    double (*inst_stalls)[SMP_TIME_REASONS];
    uint32_t *drained; /* by instruction: for which one warps drain there, from 1 on; 0: they do not */
} time_sm;

/* sm.c */
smp_code time_sm_open(time_sm *sm, smp_error *err); /* gpu, code, trace, free, resident, simulated are set */
void time_sm_close(time_sm *sm);
void time_sm_run(time_sm *sm);

/* The wavefronts at most of an instruction that is spared; 0: it is not. */
static inline uint32_t time_is_spared(const time_sm *sm, const time_inst *inst)
{
    return sm->free.least ? sm->free.least[inst - sm->code->insts] : 0;
}

/* The lines of an access that has them side by side, where that is free. */
static inline uint32_t time_least_lines(const time_sm *sm, const time_inst *inst, uint32_t lanes, uint32_t lines)
{
    enum { LINE = 128 };
    if (time_is_spared(sm, inst) && (inst->kind == TIME_LOCAL_LOAD || inst->kind == TIME_LOCAL_STORE))
        return 0;
    const bool global = inst->kind == TIME_LOAD || inst->kind == TIME_STORE || inst->kind == TIME_COPY;
    const uint32_t least = (lanes * inst->bytes + LINE - 1) / LINE;
    return time_is_spared(sm, inst) && global && least < lines ? least : lines;
}

/* issue.c: the warp's next instruction leaves the scheduler at sm->now. */
void time_issue(time_sm *sm, time_warp *warp);
void time_open_barrier(time_sm *sm, time_slot *slot, time_ticks at);

/* access.c: an access to memory. Gives when its operands are read and its result is there. */
typedef struct time_access {
    const time_inst *inst;
    const uint32_t *lines;
    uint32_t lanes, line_count, word;
    time_ticks read, done, left;
} time_access;
void time_access_run(time_sm *sm, time_warp *warp, time_part *part, time_access *access);

/* l2.c */
time_ticks time_l2_load(time_sm *sm, time_ticks at, uint32_t line, uint32_t mask);
time_ticks time_l2_turn(time_sm *sm, uint32_t line, time_ticks at); /* L2 gives a line to one SM at a time: when */
time_ticks time_l2_store(time_sm *sm, time_ticks at, uint32_t whole, uint32_t partial, uint32_t lines);
time_ticks time_l2_atomic(time_sm *sm, time_access *access, time_ticks at);
time_ticks time_l2_back(const time_sm *sm, double times); /* how far the SM may run ahead of L2 and DRAM */

/* beyond.c: the probabilities of misses in L2, from the launch's footprint and a pass over the SM's accesses. */
smp_code time_beyond_open(time_sm *sm, smp_error *err);

/* refuse.c: whether a launch is not modelled, and why: by its code, before it runs; by what it did. */
bool time_refuses_code(const warp_code *code, const char *gpu, char *why, size_t size);
bool time_refuses_record(const warp_code *code, const time_trace *trace, char *why, size_t size);

/* launch.c: how many blocks an SM holds and how many bytes its L1 keeps; cycles of the whole launch. */
uint32_t time_resident(const time_trace *trace, const smp_time_gpu *gpu, uint32_t *l1_bytes);
/* predict.c: the launch's microseconds with something free. */
smp_code time_replay(const smp_time_gpu *gpu, const time_code *code, const time_trace *trace, const time_free *free,
                     double deadline, double *us, smp_error *err);

double time_extrapolate(time_sm *sm, double *imbalance);
void time_launch_blocks(time_sm *sm);
