/* Copies of boxes between tensors in global memory and shared memory (PTX ISA 9.0, cp.async.bulk.tensor), tiled, of one
 * to five dimensions. Elements outside the tensor are zeros, and are not written back. What they cost is not counted.
 */
#include <string.h>

#include "lab/machine/buffers.h"
#include "lab/machine/tensor_map.h"
#include "lab/ptx/execute.h"

enum { TO_SHARED, FROM_SHARED }; /* mode */
enum { ALIGNMENT = 128, LINE = 128 /* of swizzles */, COORDINATES = 4 /* the first one's source */ };

/* [map, {x, y}]: the map in s[1], coordinates from s[COORDINATES] on. */
static bool read_box(ptx_parser *parser, ptx_text operand, uint32_t rank, warp_inst *inst)
{
    ptx_text parts[2], each[WARP_TENSOR_RANK];
    operand = ptx_trim(operand);
    if (operand.size < 2 || operand.at[0] != '[' ||
        ptx_split((ptx_text){operand.at + 1, operand.size - 2}, ',', parts, 2) != 2)
        return false;
    const ptx_text list = ptx_trim(parts[1]);
    if (list.size < 2 || list.at[0] != '{' ||
        ptx_split((ptx_text){list.at + 1, list.size - 2}, ',', each, WARP_TENSOR_RANK) != (int)rank)
        return false;
    inst->s[1] = ptx_row(parser, ptx_trim(parts[0]), 'd');
    for (uint32_t i = 0; i < rank; i++)
        inst->s[COORDINATES + i] = ptx_row(parser, ptx_trim(each[i]), 'w');
    return true;
}

/* cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [to], [map, {x, y}], [barrier]
 * cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [map, {x, y}], [from] */
bool ptx_decode_tensor(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d"};
    uint32_t rank = 0;
    for (uint32_t i = 0; i < WARP_TENSOR_RANK; i++)
        rank = ptx_has(s, ranks[i]) ? i + 1 : rank;
    if (ptx_has(s, "prefetch")) {
        inst->execute = ptx_run_nothing;
        return ptx_only(parser, s, "async bulk prefetch tensor 1d 2d 3d 4d 5d L2 global tile L2::cache_hint");
    }
    const bool in = ptx_has(s, "mbarrier::complete_tx::"), hint = ptx_has(s, "L2::cache_hint"); /* words are cut */
    if (!ptx_only(parser, s,
                  in ? "async bulk tensor 1d 2d 3d 4d 5d shared::cluster shared::cta global tile L2::cache_hint "
                       "mbarrier::complete_tx::"
                     : "async bulk tensor 1d 2d 3d 4d 5d global shared::cta tile bulk_group L2::cache_hint"))
        return false;
    if (!rank || s->operand_count != 2 + in + hint || !read_box(parser, s->operands[in], rank, inst))
        return ptx_wrong_form(parser, s);
    inst->space = WARP_SHARED;
    inst->submode = (uint8_t)rank;
    inst->mode = in ? TO_SHARED : FROM_SHARED;
    if (in) {
        ptx_memory_address(parser, s->operands[2], inst, 2, &inst->offset2);
        inst->source_wide = inst->address_wide;
    }
    ptx_memory_address(parser, s->operands[in ? 0 : 1], inst, 0, &inst->offset);
    inst->sources = (uint8_t)(COORDINATES + rank);
    inst->dests = 0;
    inst->execute = ptx_run_tensor;
    return true;
}

/* Whether it is one that the host could have made: a kernel may have written it since. *bytes: of its box, with a
 * swizzle in whole lines, since it moves elements within those. */
static bool is_map(const warp_tensor_map *map, uint32_t rank, uint32_t *bytes)
{
    enum { MOST_BOX = 256 };
    uint64_t size = map->element;
    if (map->magic != WARP_TENSOR_MAGIC || map->rank != rank || !size || size > sizeof(uint64_t) ||
        (map->swizzle & (map->swizzle + 1)) || map->swizzle > 7)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (!map->box[i] || map->box[i] > MOST_BOX)
            return false;
        size *= map->box[i];
    }
    if (map->swizzle)
        size = (size + LINE - 1) / LINE * LINE;
    *bytes = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    return true;
}

/* The map at a generic address: a parameter or in global memory. */
static bool read_map(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint64_t address,
                     warp_tensor_map *map, uint32_t *room)
{
    uint64_t start, size, at = address & ~WARP_WINDOW_MASK;
    const bool is_param = ptx_space_of(address) == WARP_PARAM;
    const unsigned char *from = NULL;
    if (is_param && at <= block->code->param_bytes && sizeof *map <= block->code->param_bytes - at)
        from = (const unsigned char *)block->launch->params + at;
    else if (!is_param && smp_warp_buffer_of(block->launch->memory, at, &start, &size) &&
             size - (at - start) >= sizeof *map)
        from = (const unsigned char *)(uintptr_t)at;
    if (from)
        memcpy(map, from, sizeof *map);
    if (from && is_map(map, inst->submode, room))
        return true;
    block->refused = true;
    warp_stop(block, frame, inst, "no tensor map of %u dimensions that cuTensorMapEncodeTiled has made", inst->submode);
    return false;
}

/* Swizzles move 16 bytes within rows of 128. */
static uint32_t swizzled(const warp_tensor_map *map, uint32_t place)
{
    return place ^ (place >> 7 & map->swizzle) << 4;
}

/* One row of the box: elements side by side in the first dimension. at: its first coordinates. False: a finding. */
static bool copy_row(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane,
                     const warp_tensor_map *map, const int64_t at[WARP_TENSOR_RANK], uint32_t place)
{
    bool inside = true;
    uint64_t row = map->address, start, size;
    for (uint32_t i = 1; i < map->rank; i++) {
        inside = inside && at[i] >= 0 && at[i] < (int64_t)map->dims[i];
        row += (uint64_t)at[i] * map->strides[i - 1];
    }
    const int64_t first = at[0] > 0 ? at[0] : 0, past = at[0] + map->box[0];
    const int64_t end = past < (int64_t)map->dims[0] ? past : (int64_t)map->dims[0];
    const uint64_t from = row + (uint64_t)first * map->element;
    if (inside && first < end &&
        (!smp_warp_buffer_of(block->launch->memory, from, &start, &size) ||
         size - (from - start) < (uint64_t)(end - first) * map->element)) {
        char text[160];
        bool illegal;
        warp_describe(block->launch->memory, from, text, sizeof text, &illegal);
        block->illegal = block->illegal || illegal;
        warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, lane), UINT32_MAX, 0,
                   "copies a row of a tensor's box %s", text);
        return false;
    }
    for (uint32_t i = 0; i < map->box[0]; i++) {
        unsigned char *shared = block->shared + swizzled(map, place + i * map->element);
        const bool is_there = inside && at[0] + i >= first && at[0] + i < end;
        unsigned char *global = (unsigned char *)(uintptr_t)(row + (uint64_t)(at[0] + i) * map->element);
        if (inst->mode == TO_SHARED && is_there)
            memcpy(shared, global, map->element);
        else if (inst->mode == TO_SHARED)
            memset(shared, 0, map->element);
        else if (is_there) {
            memcpy(global, shared, map->element);
            smp_warp_memory_know(block->launch->memory, global, map->element);
        }
    }
    return true;
}

/* Hardware takes boxes that begin at a multiple of 16 bytes of a row, and boxes to write only from the tensor's first
 * elements on: others are illegal instructions on an H200. */
static bool is_taken(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane,
                     const warp_tensor_map *map)
{
    enum { STEP = 16 /* bytes */ };
    const int32_t first = (int32_t)warp_words(frame, inst->s[COORDINATES])[lane];
    if ((int64_t)first * map->element % STEP) {
        block->refused = true;
        warp_fault(block, SMP_WARP_MISALIGNED, inst->index, warp_thread(frame, lane), UINT32_MAX, 0,
                   "%s a tensor's box that begins at %d in dimension 0: hardware wants a multiple of 16 bytes, here of "
                   "%d elements",
                   inst->mode == TO_SHARED ? "reads" : "writes", first, STEP / map->element);
        return false;
    }
    for (uint32_t i = 0; i < map->rank && inst->mode == FROM_SHARED; i++) {
        const int32_t at = (int32_t)warp_words(frame, inst->s[COORDINATES + i])[lane];
        if (at >= 0)
            continue;
        block->refused = true;
        warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, lane), UINT32_MAX, 0,
                   "writes a tensor's box that begins at %d in dimension %u: hardware writes none that begins before 0",
                   at, i);
        return false;
    }
    return true;
}

static void copy_box(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lane,
                     const warp_tensor_map *map, uint64_t offset, uint32_t bytes, uint32_t room)
{
    int64_t at[WARP_TENSOR_RANK];
    uint32_t step[WARP_TENSOR_RANK] = {0}, place = (uint32_t)offset;
    if (!ptx_is_inside(block, frame, inst, lane, offset, room, ALIGNMENT, "a box of a tensor") ||
        !is_taken(block, frame, inst, lane, map))
        return;
    warp_check_shared(block, frame, inst, lane, (uint32_t)offset, bytes,
                      inst->mode == TO_SHARED ? WARP_WRITES : WARP_READS);
    for (const uint32_t end = place + bytes; place < end; place += (uint32_t)map->box[0] * map->element) {
        for (uint32_t i = 0; i < map->rank; i++)
            at[i] = (int64_t)(int32_t)warp_words(frame, inst->s[COORDINATES + i])[lane] + step[i];
        if (!copy_row(block, frame, inst, lane, map, at, place))
            return;
        for (uint32_t i = 1; i < map->rank && ++step[i] == map->box[i]; i++)
            step[i] = 0;
    }
}

void ptx_run_tensor(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    uint64_t shared[WARP_LANES], barriers[WARP_LANES] = {0};
    ptx_addresses(frame, inst, 0, inst->address_wide, inst->offset, shared);
    if (inst->mode == TO_SHARED)
        ptx_addresses(frame, inst, 2, inst->source_wide, inst->offset2, barriers);
    WARP_ACTIVE_LANES(lanes)
    {
        warp_tensor_map map;
        uint32_t room;
        const uint64_t barrier = barriers[l] & ~WARP_WINDOW_MASK;
        if (block->stop || !read_map(block, frame, inst, warp_longs(frame, inst->s[1])[l], &map, &room))
            return;
        uint32_t bytes = map.element;
        for (uint32_t i = 0; i < map.rank; i++)
            bytes *= map.box[i];
        if (inst->mode == TO_SHARED &&
            !ptx_is_inside(block, frame, inst, l, barrier, sizeof(uint64_t), sizeof(uint64_t), "an mbarrier"))
            continue;
        copy_box(block, frame, inst, l, &map, shared[l] & ~WARP_WINDOW_MASK, bytes, room);
        if (inst->mode == TO_SHARED)
            ptx_complete_bytes(block, frame, inst, l, barrier, bytes);
    }
}
