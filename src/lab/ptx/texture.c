/* tex, suld, sust: accesses by the handle of a texture or surface (lab/machine/texture.h). Weights of a linear filter
 * have 8 bits behind the point, as a GPU's (CUDA C++ programming guide, "Linear filtering"). */
#include <math.h>
#include <string.h>

#include "lab/machine/texture.h"
#include "lab/ptx/execute.h"
#include "lab/ptx/half.h"

enum { CHANNELS = 4, MOST_DIMENSIONS = 3, FACES = 6 };
enum { OF_LAYERS = 1, OF_CUBES = 2 };       /* inst->submode: a layer's number comes before mode coordinates */
enum { TRAP, CLAMP, ZERO };                 /* inst->from_type of a surface: what stands outside */
enum { FIRST_VALUE = 2 + MOST_DIMENSIONS }; /* the source of what is stored */

/* ------------------------------------------------------------------------------------------------ decoding */

/* [handle, {layer, x, y}]: sources 0 and on. */
static bool decode_place(ptx_parser *parser, const ptx_statement *s, ptx_text place, warp_inst *inst)
{
    static const char *const geometries[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};
    static const uint8_t dimensions[] = {1, 2, 3, 1, 2, 3, 3};
    ptx_text parts[3];
    place = ptx_trim(place);
    for (size_t i = 0; i < sizeof dimensions; i++)
        if (ptx_has(s, geometries[i])) {
            inst->mode = dimensions[i];
            inst->submode = (uint8_t)((geometries[i][0] == 'a') * OF_LAYERS + (i > 4) * OF_CUBES);
        }
    if (!inst->mode || place.size < 3 || place.at[0] != '[' ||
        ptx_split((ptx_text){place.at + 1, place.size - 2}, ',', parts, 3) != 2 || ptx_class(parser, parts[0]) != 'd')
        return ptx_unsupported(parser, s, "what is not an object, in");
    inst->s[0] = ptx_row(parser, parts[0], 'd');
    inst->sources = (uint8_t)(1 + inst->mode + (inst->submode & OF_LAYERS));
    if (ptx_rows(parser, parts[1], 'w', inst->s + 1, CHANNELS) < inst->sources - 1)
        return ptx_unsupported(parser, s, "this number of registers in");
    return true;
}

/* tex.2d.v4.f32.f32 {r, g, b, a}, [handle, {x, y}]; .level and .grad choose of mipmaps, which there are none of */
bool ptx_decode_texture(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    if (!ptx_only(parser, s, "1d 2d 3d a1d a2d cube acube v4 level grad"))
        return false;
    const int operands = 2 + ptx_has(s, "level") + 2 * ptx_has(s, "grad");
    if (s->word_count < 4 || s->operand_count != operands || !decode_place(parser, s, s->operands[1], inst))
        return ptx_unsupported(parser, s, "this form of");
    inst->from_type = (uint8_t)ptx_type_of(s->words[s->word_count - 1]);
    inst->type = (uint8_t)ptx_type_of(s->words[s->word_count - 2]);
    if (ptx_size_of((ptx_type)inst->type) != 4 || ptx_size_of((ptx_type)inst->from_type) != 4)
        return ptx_unsupported(parser, s, "this type in");
    inst->dests = (uint8_t)ptx_rows(parser, s->operands[0], 'w', inst->d, CHANNELS);
    if (inst->dests != CHANNELS)
        return ptx_unsupported(parser, s, "this number of registers in");
    inst->execute = ptx_run_fetch;
    return true;
}

/* suld.b.2d.v4.b32.trap {r, g, b, a}, [handle, {x, y}] and sust.b.2d.v4.b32.trap [handle, {x, y}], {r, g, b, a}: x in
 * bytes */
bool ptx_decode_surface(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    const bool load = s->words[0][2] == 'l';
    if (!ptx_only(parser, s, "b 1d 2d 3d a1d a2d v2 v4 trap clamp zero"))
        return false;
    inst->type = s->word_count > 2 ? (uint8_t)ptx_type_of(s->words[s->word_count - 2]) : PTX_NONE;
    inst->width = (uint8_t)ptx_size_of((ptx_type)inst->type);
    inst->vec = ptx_has(s, "v4") ? 4 : ptx_has(s, "v2") ? 2 : 1;
    inst->from_type = ptx_has(s, "clamp") ? CLAMP : ptx_has(s, "zero") ? ZERO : TRAP;
    if (!ptx_has(s, "b") || !inst->width || inst->width > 8 || s->operand_count != 2 ||
        !decode_place(parser, s, s->operands[load], inst))
        return ptx_unsupported(parser, s, "this form of");
    if (ptx_rows(parser, s->operands[!load], inst->width == 8 ? 'd' : 'w', load ? inst->d : inst->s + FIRST_VALUE,
                 CHANNELS) != inst->vec)
        return ptx_unsupported(parser, s, "this number of registers in");
    inst->dests = load ? inst->vec : 0;
    inst->sources = load ? inst->sources : (uint8_t)(FIRST_VALUE + inst->vec);
    inst->execute = load ? ptx_run_surface_load : ptx_run_surface_store;
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
    int dims;      /* that have coordinates in a slice */
    int64_t slice; /* of what has layers or faces */
    bool failed;   /* a finding was told */
} reader;

static void fail(reader *r, const char *what)
{
    if (!r->failed)
        warp_fault(r->block, SMP_WARP_BOUNDS, r->inst->index, warp_thread(r->frame, r->lane), UINT32_MAX, 0, "%s",
                   what);
    r->failed = true;
}

/* Bytes of the texture's memory, which the program may have freed. */
static unsigned char *texel_at(reader *r, const int64_t place[MOST_DIMENSIONS], uint32_t size)
{
    const warp_texture *t = r->texture;
    const uint64_t at =
        t->at + (uint64_t)place[2] * t->slice + (uint64_t)place[1] * t->pitch + (uint64_t)place[0] * size;
    uint64_t start, length;
    if ((uint64_t)place[2] < t->size[2] && smp_warp_buffer_of(r->block->launch->memory, at, &start, &length) &&
        size <= length - (at - start))
        return (unsigned char *)(uintptr_t)at;
    fail(r, "accesses a texture of other dimensions, or whose memory was freed or ends before the texture does");
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
    int64_t place[MOST_DIMENSIONS] = {0, 0, r->slice};
    bool border = false;
    for (int d = 0; d < r->dims; d++) {
        /* without normalized coordinates nothing repeats, nor across the faces of a cube */
        const bool as_told = r->dims == r->inst->mode && (t->normalized || t->address[d] == WARP_TEXTURE_BORDER);
        const int address = as_told ? t->address[d] : WARP_TEXTURE_CLAMP;
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
    const int dims = r->dims;
    int64_t first[MOST_DIMENSIONS] = {0};
    double part[MOST_DIMENSIONS] = {0};
    for (int d = 0; d < dims; d++) {
        const double place =
            (double)at[d] * (t->normalized || dims < r->inst->mode ? t->size[d] : 1) - (t->linear ? 0.5 : 0);
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

/* The face that a direction meets, and where, from 0 to 1 (CUDA C++ programming guide, "Cubemap textures"). */
static int64_t face_of(float at[MOST_DIMENSIONS])
{
    const float x = at[0], y = at[1], z = at[2], ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    const int axis = ax >= ay && ax >= az ? 0 : ay >= az ? 1 : 2;
    const float most = axis == 0 ? ax : axis == 1 ? ay : az, sign = at[axis] < 0 ? -1.0f : 1.0f;
    const float across = axis == 0 ? -sign * z : axis == 1 ? x : sign * x, down = axis == 1 ? sign * z : -y;
    at[0] = (across / most + 1) / 2;
    at[1] = (down / most + 1) / 2;
    return 2 * axis + (sign < 0);
}

/* The layer of which a lane reads: its number, which has no sign, or the last. */
static uint32_t layer_of(const warp_texture *t, uint32_t number, uint32_t faces)
{
    const uint32_t last = t->size[2] / faces - 1;
    return number < last ? number : last;
}

static reader reader_of(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane)
{
    reader r = {block, frame, inst, warp_texture_of(warp_longs(frame, inst->s[0])[lane]), lane, inst->mode, 0, false};
    if (!r.texture)
        fail(&r, "reads or writes by a handle that is not a texture, or not any more");
    return r;
}

void ptx_run_fetch(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const bool cube = inst->submode & OF_CUBES;
    const int layers = inst->submode & OF_LAYERS;
    WARP_ACTIVE_LANES(lanes)
    {
        reader r = reader_of(block, frame, inst, (uint32_t)l);
        double value[CHANNELS] = {0};
        float at[MOST_DIMENSIONS] = {0};
        int64_t index[MOST_DIMENSIONS] = {0};
        bool within = r.texture != NULL;
        for (int d = 0; d < inst->mode && r.texture; d++) {
            const uint32_t bits = warp_words(frame, inst->s[1 + layers + d])[l];
            at[d] = warp_bits_float(bits);
            index[d] = (int32_t)bits;
            within = within && index[d] >= 0 && index[d] < r.texture->size[d];
        }
        if (r.texture && layers)
            r.slice = layer_of(r.texture, warp_words(frame, inst->s[1])[l], cube ? FACES : 1);
        if (r.texture && cube) {
            r.slice = r.slice * FACES + face_of(at);
            r.dims = 2;
        }
        if (r.texture && inst->from_type == PTX_F32)
            sample(&r, at, value);
        else if (within) /* texels by their numbers; outside they are 0 */
            add_texel(&r, index, 1, value);
        put(frame, inst, (uint32_t)l, value);
    }
}

/* ------------------------------------------------------------------------------------------------ surfaces */

/* The bytes that a lane accesses; null: it accesses nothing, or a finding was told. */
static unsigned char *surface_at(reader *r)
{
    const warp_inst *inst = r->inst;
    const warp_texture *t = r->texture;
    const int64_t bytes = inst->width * inst->vec, row = t ? (int64_t)t->size[0] * warp_texel_bytes(t) : 0;
    const int layers = inst->submode & OF_LAYERS;
    int64_t place[MOST_DIMENSIONS] = {0};
    for (int k = 0; k < inst->mode + layers && t; k++) {
        const int d = layers ? (k ? k - 1 : 2) : k;
        const int64_t last = d ? (int64_t)t->size[d] - 1 : row - bytes;
        place[d] = (int32_t)warp_words(r->frame, inst->s[1 + k])[r->lane];
        if (place[d] >= 0 && place[d] <= last)
            continue;
        if (inst->from_type == TRAP)
            fail(r, "reads or writes outside a surface");
        if (inst->from_type != CLAMP)
            return NULL;
        place[d] = place[d] < 0 ? 0 : last;
    }
    if (place[0] % bytes)
        fail(r, "reads or writes a surface at no multiple of the bytes of the access");
    place[0] /= bytes;
    return t && !r->failed ? texel_at(r, place, (uint32_t)bytes) : NULL;
}

void ptx_run_surface_load(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    WARP_ACTIVE_LANES(lanes)
    {
        reader r = reader_of(block, frame, inst, (uint32_t)l);
        const unsigned char *from = surface_at(&r);
        for (int i = 0; i < inst->vec; i++) {
            uint64_t value = 0;
            if (from)
                memcpy(&value, from + i * inst->width, inst->width);
            if (inst->d[i] != WARP_NO_ROW && inst->width == 8)
                warp_longs(frame, inst->d[i])[l] = value;
            else if (inst->d[i] != WARP_NO_ROW)
                warp_words(frame, inst->d[i])[l] = (uint32_t)value;
        }
    }
}

void ptx_run_surface_store(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    WARP_ACTIVE_LANES(lanes)
    {
        reader r = reader_of(block, frame, inst, (uint32_t)l);
        unsigned char *to = surface_at(&r);
        for (int i = 0; i < inst->vec && to; i++) {
            const uint32_t row = inst->s[FIRST_VALUE + i];
            const uint64_t value = inst->width == 8 ? warp_longs(frame, row)[l] : warp_words(frame, row)[l];
            memcpy(to + i * inst->width, &value, inst->width);
        }
        smp_warp_memory_know(block->launch->memory, to, (size_t)inst->width * inst->vec);
    }
}
