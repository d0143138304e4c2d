/* Records a launch for the time model while its blocks run: what each warp did in the blocks that one SM gets (0, 132,
 * 264 of a GPU of 132), and the footprint of the whole launch in memory. */
#pragma once

#include "lab/time/model.h"
#include "lab/time/time.h"

enum { TIME_UNIT = 64, TIME_SECTOR = 32, TIME_ROW = 2048, TIME_WAVE_WARPS = 64 };

/* A unit of DRAM that was touched. */
typedef struct time_unit {
    uint64_t key;
    double stamp;
    uint64_t cover;                /* bytes that were written */
    uint64_t read_before, read_by; /* bytes that blocks before the last reader read, that it did */
    uint32_t block, progress;
    uint32_t writer[2], reader; /* blocks, from 1 on: the last that wrote each sector, that read the unit */
    uint16_t sm;
    uint8_t read, written; /* a bit a sector; bit 2: the unit counts already */
} time_unit;

typedef struct time_row {
    uint64_t row;
    double at;
} time_row;

/* Units by address. Rows are left out by a hash of their address once there are too many; those that stay then stand
 * for `weight` each. */
typedef struct time_units {
    time_unit *items;
    size_t capacity, count;
    uint32_t weight;
    double clock;               /* fetches and first writes so far, by which ages are told */
    time_row *rows;             /* of DRAM, that were used of late: by reads, then by writes */
    double own_age, shared_age; /* fetches after which L2 has a unit no longer */
    uint32_t sms, wave, block;  /* wave: the first blocks, which run at a time */
    uint16_t sm;
    uint32_t progress[TIME_WAVE_WARPS]; /* accesses of each warp of the block */
    time_footprint sum;
    bool failed;
} time_units;

bool time_units_open(time_units *units, const smp_time_gpu *gpu, uint32_t wave);
void time_units_close(time_units *units);
void time_units_begin(time_units *units, uint64_t block);
/* Bytes of a sector: reads (0), writes (1), updates (2), by a warp. cover: which of its bytes. True: it reads what
 * another block wrote, or writes what another has read. */
bool time_units_touch(time_units *units, uint64_t sector, int how, uint32_t cover, uint32_t warp);
time_footprint time_units_end(time_units *units);

/* A buffer has an address of its own here, in the order in which buffers are touched: the host's differ from run to
 * run. */
typedef struct time_buffer {
    uint64_t start, end, at;
} time_buffer;

typedef struct time_words {
    uint32_t *words;
    size_t count, capacity;
} time_words;

struct smp_time_recorder {
    struct warp_observer observer; /* first */
    smp_time_gpu gpu;
    const warp_block *block;
    time_trace trace;
    time_units units;
    time_words warps[WARP_MOST_WARPS], *now; /* of the block's warps; of the last step, null: it is not kept */
    size_t head, block_words;                /* of the last step in its warp; words of the block so far */
    time_buffer *buffers;
    size_t buffer_count, buffer_capacity, buffer_last;
    uint32_t resident;                                         /* blocks on an SM */
    uint32_t loads, stores, loads_of_others, stores_to_others; /* of the block */
    uint64_t top, small, small_end;                            /* where the next buffer lies, or small ones */
    double crowd;                                              /* warps that run at a time */
    double clocks[WARP_MOST_WARPS];                            /* fetches of all of them, as one of the block tells */
    double *slot_clocks;                                       /* the same when a slot's last block ended */
    uint64_t counted, index;                                   /* instructions before this block; its number */
    bool begun, failed, all;                                   /* all: streams of all blocks are kept */
};
typedef struct smp_time_recorder time_recorder;

enum { TIME_PAGE = 2 << 20 }; /* of buffers */

/* Where the block's local memory lies: that of a block that has ended, again. */
static inline uint64_t time_slot_of(const time_recorder *r)
{
    return r->units.sm * (uint64_t)r->resident + r->units.block / r->units.sms % r->resident;
}

/* record.c: of the last record another line, or sectors of one; its word, which comes before them (null: no memory). */
void time_record_line(time_recorder *r, uint64_t number, uint32_t sectors);
uint32_t *time_record_word(time_recorder *r);

/* touch.c: an observer's. */
void time_record_touch(struct warp_observer *self, const warp_frame *frame, warp_space space, uint32_t lanes,
                       const uint64_t address[WARP_LANES], uint32_t width, int how);

/* Ends the recording and returns it; null: nothing ran, or there was no memory. */
const time_trace *time_record_end(time_recorder *recorder);

/* predict.c: the same from a record that exists. */
/* what_if.c: prices, what rows cost, and times at other residencies, as far as they are wished. */
smp_code time_what_if(const smp_time_gpu *gpu, const time_code *code, const time_trace *trace,
                      const struct smp_time_wish *wish, smp_predicted *out, smp_error *err);

smp_code time_predict_trace(const smp_time_gpu *gpu, const warp_code *kernel, const time_trace *trace,
                            const smp_time_wish *wish, smp_predicted *out, smp_error *err);
