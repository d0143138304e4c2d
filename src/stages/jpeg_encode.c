/* jpeg_encode: a picture of 8 bits to the scan of a JPEG, as a picture of bytes. The planner adds it behind the last
 * step where a GPU is to code what is written: media/jpeg_params.h says how. */
#include "base/alloc.h"
#include "base/checked.h"
#include "media/jpeg_params.h"
#include "stages/shared/launch_shapes.h"

enum {
    MOST = 65500,          /* px a side, as libjpeg has it */
    LEAST_ROOM = 64 << 10, /* bytes of a scan, where pixels are fewer */
    LOW_BITS = 12,         /* rows of the output have 2^12 bytes, or 2^16 from 1 MiB on */
    HIGH_BITS = 16,
    HIGH_FROM = 1 << 20,
    ALIGN = 64 /* of what lies in the arena */
};

/* In the order of the enumeration in jpeg_params.h. */
static const char *const samplings[] = {"444", "422", "420", "440", NULL};

static const smp_param table[] = {
    {"quality", offsetof(smp_jpeg_params, quality), SMP_T_INT, SMP_UNIT_NONE, 1, 100, "90", "as of JPEG files", NULL,
     SMP_P_MAIN},
    {"sampling", offsetof(smp_jpeg_params, sampling), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "444",
     "the resolution of colour: 444 full, 422 half across, 420 half both ways, 440 half down", samplings, 0},
    {"restart", offsetof(smp_jpeg_params, restart), SMP_T_INT, SMP_UNIT_NONE, 0, 65535, "0",
     "MCUs between restart markers; 0: none", NULL, 0},
    {0},
};

static int64_t parts_of(int64_t n, int64_t each)
{
    return (n + each - 1) / each;
}

/* All numbers are far below 2^63: sides are at most MOST. */
static void lay_out(smp_jpeg_encode *k, smp_node_plan *work)
{
    int64_t end = 0;
    k->room = smp_max_i64((int64_t)k->width * k->height, LEAST_ROOM);
    k->chunks = parts_of(k->blocks, SMP_JPEG_CHUNK);
    k->pieces = parts_of(k->room, SMP_JPEG_PIECE);
    k->coefficients = smp_jpeg_take(&end, k->blocks * SMP_JPEG_BLOCK * (int64_t)sizeof(int16_t), ALIGN);
    k->masks = smp_jpeg_take(&end, k->blocks * (int64_t)sizeof(uint64_t), ALIGN);
    k->lengths = smp_jpeg_take(&end, k->blocks * (int64_t)sizeof(uint16_t), ALIGN);
    k->spans = smp_jpeg_take(&end, k->chunks * (int64_t)sizeof(smp_jpeg_span), ALIGN);
    k->words = smp_jpeg_take(&end, k->pieces * SMP_JPEG_PIECE, ALIGN);
    k->marks = smp_jpeg_take(&end, k->restart ? k->pieces * SMP_JPEG_PIECE / 8 : 0, ALIGN);
    k->parts = smp_jpeg_take(&end, k->pieces * (int64_t)sizeof(int64_t), ALIGN);
    k->state = smp_jpeg_take(&end, (int64_t)sizeof(smp_jpeg_state), ALIGN);
    const int64_t width = (int64_t)1 << HIGH_BITS;
    work->between =
        (smp_shape){.kind = SMP_IMAGE, .width = width, .height = parts_of(end, width), .channels = 1, .format = SMP_U8};
    k->row_bits = k->room < HIGH_FROM ? LOW_BITS : HIGH_BITS;
    work->out = (smp_shape){.kind = SMP_IMAGE,
                            .width = (int64_t)1 << k->row_bits,
                            .height = parts_of(SMP_JPEG_HEAD + k->room, (int64_t)1 << k->row_bits),
                            .channels = 1,
                            .format = SMP_U8};
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const smp_jpeg_params *p = given;
    smp_jpeg_encode *k = SMP_PLAN_KERNEL(work, smp_jpeg_encode);
    if (in->format != SMP_U8 || in->alpha || (in->channels != 1 && in->channels != 3))
        return smp_fail(err, SMP_E_PIPE, "a JPEG has 8 bits, of gray or RGB without alpha"),
               smp_hint(err, "write 'depth 8bit', 'alpha flatten' or 'gray' before it");
    if (in->width > MOST || in->height > MOST)
        return smp_fail(err, SMP_E_PIPE, "a JPEG holds at most %d x %d pixels", MOST, MOST);
    const bool colour = in->channels == 3;
    *k = (smp_jpeg_encode){
        .width = (int32_t)in->width,
        .height = (int32_t)in->height,
        .colours = in->channels,
        .across = colour && (p->sampling == SMP_JPEG_HALF_ACROSS || p->sampling == SMP_JPEG_HALF_BOTH) ? 2 : 1,
        .down = colour && (p->sampling == SMP_JPEG_HALF_DOWN || p->sampling == SMP_JPEG_HALF_BOTH) ? 2 : 1,
        .restart = (int32_t)p->restart,
        .luma_across = (int32_t)parts_of(in->width, SMP_JPEG_SIDE),
        .luma_down = (int32_t)parts_of(in->height, SMP_JPEG_SIDE),
    };
    k->mcus_across = (int32_t)parts_of(k->luma_across, k->across);
    k->in_mcu = k->across * k->down + (colour ? 2 : 0);
    k->blocks = k->mcus_across * parts_of(k->luma_down, k->down) * k->in_mcu;
    lay_out(k, work);
    work->values.exactness = SMP_MOVE; /* its input may be rounded where it is stored: it takes nothing else */
    work->values.no_light = true;
    work->ops = 20. * in->channels * (double)in->width * (double)in->height /
                ((double)work->out.width * (double)work->out.height);
    work->table.size = sizeof(smp_jpeg_tables);
    SMP_NEED(work->table.data = smp_alloc(work->table.size), "the tables of a JPEG", work->table.size, err);
    smp_jpeg_fill_tables(p, work->table.data);
    return SMP_OK;
}

static void naive_geometry(const smp_io *, const void *kernel, smp_grid *grid)
{
    smp_grid_line(((const smp_jpeg_encode *)kernel)->blocks, SMP_JPEG_CHUNK, SMP_JPEG_CHUNK, grid);
}

static void together_geometry(const smp_io *, const void *kernel, smp_grid *grid)
{
    smp_grid_line(((const smp_jpeg_encode *)kernel)->blocks, SMP_JPEG_TOGETHER, SMP_JPEG_CHUNK, grid);
}

static void pieces_geometry(const smp_io *, const void *kernel, smp_grid *grid)
{
    smp_grid_line(((const smp_jpeg_encode *)kernel)->pieces, 1, SMP_JPEG_CHUNK, grid);
}

static void scan_geometry(const smp_io *, const void *, smp_grid *grid)
{
    smp_grid_line(1, 1, SMP_JPEG_SCAN, grid);
}

static int64_t rows_of_mcus(const smp_io *, const void *kernel)
{
    const smp_jpeg_encode *k = kernel;
    return k->blocks / k->in_mcu / k->mcus_across;
}

/* Launches of a GPU between the first and the last; a CPU does them in one, in one thread. */
#define LAUNCHES(rung, shape)                                                                                          \
    SMP_LAUNCH_OVER_AS(IN, SCRATCH, jpeg_encode_blocks, .cuda = "jpeg_encode_blocks_" rung, .geometry = shape,         \
                       .once = true, .items = rows_of_mcus),                                                           \
        SMP_LAUNCH_OVER_AS(SCRATCH, SCRATCH, jpeg_encode_codes, .cuda = "jpeg_encode_spans",                           \
                           .geometry = naive_geometry, .once = true, .items = smp_one_item),                           \
        {BETWEEN("jpeg_encode_scan", scan_geometry)}, {BETWEEN("jpeg_encode_codes_" rung, naive_geometry)},            \
        {BETWEEN("jpeg_encode_pieces", pieces_geometry)}, {BETWEEN("jpeg_encode_places", scan_geometry)},              \
        SMP_LAUNCH_OVER(SCRATCH, OUT, jpeg_encode_stuff, .geometry = pieces_geometry),
#define BETWEEN(kernel, shape) .from = SMP_SCRATCH, .to = SMP_SCRATCH, .cuda = kernel, .geometry = shape, .once = true

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "on GPUs a thread transforms a block, and codes it from global memory",
              LAUNCHES("naive", naive_geometry))},
    {SMP_RUNG("tiled",
              "on GPUs eight threads transform a block, and coefficients are staged in shared memory: conflicts",
              LAUNCHES("tiled", together_geometry))},
    {SMP_RUNG("padded", "with an unused word at the end of each row: few conflicts",
              LAUNCHES("padded", together_geometry))},
    {0},
};

const smp_stage smp_stage_jpeg_encode = {
    .name = "jpeg_encode",
    .help = "code a picture as the scan of a JPEG, as a picture of bytes",
    .about =
        "Byte for byte what libjpeg-turbo writes: JFIF's colours in fixed point, the islow transform, the usual "
        "Huffman tables. The output begins with 64 bytes: \"SMPSCAN\" and 0, how many bytes the scan has (64 bits, "
        "lowest byte first), 1 (32 bits) where it has more than a byte a pixel and is left out. The scan "
        "follows, without the end marker, then zeros.",
    .example = "jpeg_encode 75 sampling=420 restart=5",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, smp_jpeg_params, variants),
    .traits = SMP_TRAIT_INTERNAL,
    .role = SMP_ROLE_JPEG_ENCODE,
};
