/* The functions that carry out PTX instructions. */
#pragma once

#include "lab/ptx/ptx.h"

/* execute.c */
warp_execute ptx_run_alu, ptx_run_flushed, ptx_run_test, ptx_run_set, ptx_run_pack, ptx_run_unpack, ptx_run_clock,
    ptx_run_insert, ptx_run_lop3, ptx_run_trap, ptx_run_nothing;

/* Writes lanes of a result: its class is the instruction's. WARP_NO_ROW: nowhere. */
void ptx_blend(warp_frame *frame, uint32_t row, char row_class, const void *result, uint32_t lanes);

/* memory.c. Modes of atomics are in the order of their decoder's list; SASS has one more, whose result is whether the
 * value was swapped. */
enum { PTX_ATOM_SWAP = 7, PTX_ATOM_SWAPPED = 10 };
warp_execute ptx_run_load, ptx_run_store, ptx_run_atomic, ptx_run_copy, ptx_run_to_window, ptx_run_is_space,
    ptx_run_param, ptx_run_map_rank, ptx_run_rank_of, ptx_run_fence;

/* async.c: a group of copies ends; a thread waits for all but its last groups, or for all copies. */
enum { PTX_GROUP_ENDS, PTX_GROUP_WAIT, PTX_GROUP_ALL };
warp_execute ptx_run_copy_group;

/* carry.c */
warp_execute ptx_run_carry;

/* mbarrier.c: inst->mode; inst->from_type: an arrival expects bytes. With inst->parts values are the hardware's: of
 * INIT 2^20 - count, doubled; of WAIT_PARITY, and of states, the phase in bit 31 and 63. */
enum {
    PTX_MBARRIER_INIT,
    PTX_MBARRIER_INVAL,
    PTX_MBARRIER_EXPECT,
    PTX_MBARRIER_COMPLETE,
    PTX_MBARRIER_ARRIVE,
    PTX_MBARRIER_DROP,
    PTX_MBARRIER_ASYNC_ARRIVE,
    PTX_MBARRIER_WAIT,
    PTX_MBARRIER_WAIT_PARITY,
    PTX_MBARRIER_PENDING
};
warp_execute ptx_run_mbarrier, ptx_run_bulk;
/* Whether bytes of the block's shared memory are there, at a multiple; a finding if not. what: that is there. */
bool ptx_is_inside(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane, uint64_t offset,
                   uint32_t bytes, uint32_t multiple, const char *what);
/* Bytes of a copy have arrived at an mbarrier. */
void ptx_complete_bytes(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane,
                        uint64_t offset, uint32_t bytes);

/* tensor.c */
warp_execute ptx_run_tensor;

/* warp.c; modes of shuffles, votes, matches and reductions are in the order of their decoders' lists */
warp_execute ptx_run_shuffle, ptx_run_vote, ptx_run_match, ptx_run_reduce, ptx_run_active, ptx_run_sync, ptx_run_elect;
/* Sets of each active lane the lanes with its value, or with `all` 0 unless all have it. Returns the lanes of which all
 * have it. */
uint32_t ptx_match(const uint64_t value[WARP_LANES], uint32_t lanes, bool all, uint32_t result[WARP_LANES]);
uint32_t ptx_reduce(const uint32_t value[WARP_LANES], uint32_t lanes, uint32_t mode, bool is_signed);
/* Sum, least, most, and, or, xor: reductions and atomics. */
uint64_t ptx_combine(uint32_t mode, bool is_signed, uint64_t a, uint64_t b);

/* convert.c, matrix.c, call.c, texture.c */
warp_execute ptx_run_fetch, ptx_run_surface_load, ptx_run_surface_store, ptx_run_convert, ptx_run_convert_pair,
    ptx_run_ldmatrix, ptx_run_stmatrix, ptx_run_mma, ptx_run_movmatrix, ptx_run_call, ptx_run_wgmma;

/* Modes of ptx_run_convert, and what it makes of inst->from_type's bits. */
enum { PTX_RN = 1, PTX_RZ, PTX_RM, PTX_RP, PTX_RNI, PTX_RZI, PTX_RMI, PTX_RPI };
uint64_t ptx_converted(const warp_inst *inst, uint64_t bits);
/* Two floats at a time, inst->type and from_type being of pairs, or floats; submode: negative ones become 0. */
uint32_t ptx_converted_pair(const warp_inst *inst, uint32_t high, uint32_t low);

/* Types of ptx_run_mma: inst->type and from_type are the elements of a and b, mode is what sums are, width the depth of
 * the product; s[0], s[8], s[16] begin a, b, c. */
enum { PTX_MMA_F16, PTX_MMA_BF16, PTX_MMA_TF32, PTX_MMA_U8, PTX_MMA_S8 };
enum { PTX_MMA_FLOATS, PTX_MMA_HALF_SUMS, PTX_MMA_INTEGERS };
bool ptx_mma_fits(uint32_t a, uint32_t b, uint32_t sums, uint32_t depth);

/* A call of the system by a thread (services.c): the words of its arguments, those of 64 bits at even places. */
enum { PTX_SERVICE_WORDS = 10 };
typedef struct ptx_request {
    warp_block *block;
    const warp_frame *frame;
    const warp_inst *inst;
    uint32_t lane;
    const uint32_t *words;
} ptx_request;
typedef struct ptx_service {
    const char *name, *results, *arguments; /* l: 8 bytes, i: 4, 3: 12 */
    uint64_t (*run)(const ptx_request *request);
    const char *untimed; /* what a prediction of time leaves out; null: next to nothing */
} ptx_service;
extern const ptx_service ptx_services[];
extern const int ptx_service_count;
int ptx_service_of(const char *name); /* its number; -1: there is none */

/* printf for one thread: generic addresses of the format and of the arguments' bytes. */
void ptx_print(warp_block *block, const warp_frame *frame, uint32_t lane, uint64_t format, uint64_t arguments);

/* The addresses of a source row, with the constant added. */
void ptx_addresses(const warp_frame *frame, const warp_inst *inst, int slot, bool wide, int64_t offset,
                   uint64_t address[WARP_LANES]);
/* Those of SASS: of a row of low words and one of high words behind it, a uniform row `add` and a constant. */
void ptx_addresses_of_parts(const warp_frame *frame, const warp_inst *inst, uint32_t row, uint32_t add,
                            warp_space space, bool wide, int64_t offset, uint64_t address[WARP_LANES]);
/* Returns the space that a warp's generic address leads to. */
warp_space ptx_space_of(uint64_t address);
/* The frame whose local memory an address means, and the place in it. */
const warp_frame *ptx_frame_of(const warp_frame *frame, uint64_t *offset);
unsigned char *ptx_local(const warp_frame *frame, uint32_t lane, uint64_t offset);

/* Products of doubles on tensor cores: a lane's two sums. */
void ptx_double_product(const double a[WARP_LANES], const double b[WARP_LANES], double sums[2][WARP_LANES]);
