/* tex: fetches by the handle of a texture (lab/machine/texture.h). Weights of a linear
 * filter have 8 bits behind the point, as a GPU's (CUDA C++ programming guide, "Linear filtering"). */
#include <math.h>
#include <string.h>

#include "lab/machine/texture.h"
#include "lab/ptx/execute.h"
#include "lab/ptx/half.h"

enum { CHANNELS = 4, MOST_DIMENSIONS = 2 };

/* ------------------------------------------------------------------------------------------------ decoding */

/* tex.2d.v4.f32.f32 {r, g, b, a}, [handle, {x, y}] */
bool ptx_decode_texture(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    ptx_text parts[3];
    const ptx_text place = s->operand_count == 2 ? ptx_trim(s->operands[1]) : (ptx_text){"", 0};
    if (!ptx_only(parser, s, "1d 2d v4"))
        return false;
    if (s->word_count < 4 || place.size < 3 || place.at[0] != '[' ||
        ptx_split((ptx_text){place.at + 1, place.size - 2}, ',', parts, 3) != 2 || ptx_class(parser, parts[0]) != 'd')
        return ptx_unsupported(parser, s, "a texture that is not an object, in");
    inst->from_type = (uint8_t)ptx_type_of(s->words[s->word_count - 1]);
    inst->type = (uint8_t)ptx_type_of(s->words[s->word_count - 2]);
    if (ptx_size_of((ptx_type)inst->type) != 4 || ptx_size_of((ptx_type)inst->from_type) != 4)
        return ptx_unsupported(parser, s, "this type in");
    inst->mode = ptx_has(s, "2d") ? 2 : 1;
    inst->s[0] = ptx_row(parser, parts[0], 'd');
    inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, CHANNELS);
    inst->sources = (uint8_t)(1 + inst->mode);
    if (inst->dests != CHANNELS || ptx_rows(parser, parts[1], 'w', inst->s + 1, CHANNELS) < inst->mode)
        return ptx_unsupported(parser, s, "this number of registers in");
    inst->execute = ptx_run_fetch;
    return true;
}

/* ------------------------------------------------------------------------------------------------ texels */

/* What a lane reads through. */
typedef struct reader {
    warp_block *block;
    const warp_frame *frame;
    const warp_inst *inst;
    const warp_texture *texture;
    uint32_t lane;
    bool failed; /* a finding was told */
} reader;

static void fail(reader *r, const char *what)
{
    if (!r->failed)
        warp_fault(r->block, SMP_WARP_BOUNDS, r->inst->index, warp_thread(r->frame, r->lane), UINT32_MAX, 0, "%s",
                   what);
    r->failed = true;
}

/* Bytes of the texture's memory, which the program may have freed. */
static const unsigned char *texel_at(reader *r, const int64_t place[MOST_DIMENSIONS], uint32_t size)
{
    const warp_texture *t = r->texture;
    const uint64_t at = t->at + (uint64_t)place[1] * t->pitch + (uint64_t)place[0] * size;
    uint64_t start, length;
    if (smp_warp_buffer_of(r->block->launch->memory, at, &start, &length) && size <= length - (at - start))
        return (const unsigned char *)(uintptr_t)at;
    fail(r, "reads a texture whose memory was freed, or ends before the texture does");
    return NULL;
}

static double channel_of(const warp_texture *t, const unsigned char *at, uint32_t bits)
{
    uint32_t raw = 0;
    memcpy(&raw, at, bits / 8);
    if (t->kind == WARP_TEXEL_FLOAT)
        return (double)(bits == 16 ? warp_half_float(raw) : warp_bits_float(raw));
    const uint32_t shift = 32 - bits;
    const double value = t->kind == WARP_TEXEL_SIGNED ? (double)((int32_t)(raw << shift) >> shift) : (double)raw;
    if (!t->as_fraction)
        return value;
    const double most = (double)((t->kind == WARP_TEXEL_SIGNED ? UINT64_C(1) << (bits - 1) : UINT64_C(1) << bits) - 1);
    return fmax(value / most, -1);
}

/* A place inside, or -1: the border. */
static int64_t inside(int64_t i, int64_t size, int address)
{
    if (i >= 0 && i < size)
        return i;
    if (address == WARP_TEXTURE_BORDER)
        return -1;
    if (address == WARP_TEXTURE_CLAMP)
        return i < 0 ? 0 : size - 1;
    const int64_t period = address == WARP_TEXTURE_MIRROR ? 2 * size : size, rest = (i % period + period) % period;
    return rest < size ? rest : period - 1 - rest;
}

/* Adds a texel, by its weight. */
static void add_texel(reader *r, const int64_t index[MOST_DIMENSIONS], double weight, double out[CHANNELS])
{
    const warp_texture *t = r->texture;
    int64_t place[MOST_DIMENSIONS] = {0};
    bool border = false;
    for (int d = 0; d < r->inst->mode; d++) {
        /* without normalized coordinates nothing repeats */
        const int address = t->normalized || t->address[d] == WARP_TEXTURE_BORDER ? t->address[d] : WARP_TEXTURE_CLAMP;
        place[d] = inside(index[d], t->size[d], address);
        border = border || place[d] < 0;
    }
    const unsigned char *at = border ? NULL : texel_at(r, place, warp_texel_bytes(t));
    for (int c = 0; c < CHANNELS; c++) {
        if (border)
            out[c] += weight * (double)t->border[c];
        else if (at && t->bits[c]) {
            out[c] += weight * channel_of(t, at, t->bits[c]);
            at += t->bits[c] / 8;
        }
    }
}

static int64_t whole_of(double value)
{
    return value >= 0x1p40 ? INT64_C(1) << 40 : value > -0x1p40 ? (int64_t)value : -(INT64_C(1) << 40);
}

static void sample(reader *r, const float at[MOST_DIMENSIONS], double out[CHANNELS])
{
    const warp_texture *t = r->texture;
    const int dims = r->inst->mode;
    int64_t first[MOST_DIMENSIONS] = {0};
    double part[MOST_DIMENSIONS] = {0};
    for (int d = 0; d < dims; d++) {
        const double place = (double)at[d] * (t->normalized ? t->size[d] : 1) - (t->linear ? 0.5 : 0);
        first[d] = whole_of(floor(place));
        part[d] = t->linear ? rint((place - floor(place)) * 256) / 256 : 0;
    }
    for (int k = 0; k < 1 << dims; k++) {
        int64_t index[MOST_DIMENSIONS] = {0};
        double weight = 1;
        for (int d = 0; d < dims; d++) {
            index[d] = first[d] + (k >> d & 1);
            weight *= k >> d & 1 ? part[d] : 1 - part[d];
        }
        if (weight > 0)
            add_texel(r, index, weight, out);
    }
}

/* ------------------------------------------------------------------------------------------------ fetching */

static void put(const warp_frame *frame, const warp_inst *inst, uint32_t lane, const double value[CHANNELS])
{
    for (int c = 0; c < CHANNELS; c++) {
        if (inst->d[c] == WARP_NO_ROW)
            continue;
        warp_words(frame, inst->d[c])[lane] = inst->type == PTX_F32   ? warp_float_bits((float)value[c])
                                              : inst->type == PTX_S32 ? (uint32_t)(int32_t)value[c]
                                                                      : (uint32_t)value[c];
    }
}

void ptx_run_fetch(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    WARP_ACTIVE_LANES(lanes)
    {
        reader r = {block, frame, inst, warp_texture_of(warp_longs(frame, inst->s[0])[l]), (uint32_t)l, false};
        double value[CHANNELS] = {0};
        float at[MOST_DIMENSIONS] = {0};
        int64_t index[MOST_DIMENSIONS] = {0};
        bool within = r.texture != NULL;
        if (!within)
            fail(&r, "reads by a handle that is not a texture, or not any more");
        for (int d = 0; d < inst->mode && r.texture; d++) {
            const uint32_t bits = warp_words(frame, inst->s[1 + d])[l];
            at[d] = warp_bits_float(bits);
            index[d] = (int32_t)bits;
            within = within && index[d] >= 0 && index[d] < r.texture->size[d];
        }
        if (r.texture && inst->from_type == PTX_F32)
            sample(&r, at, value);
        else if (within) /* texels by their numbers; outside they are 0 */
            add_texel(&r, index, 1, value);
        put(frame, inst, (uint32_t)l, value);
    }
}
