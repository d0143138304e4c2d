/* Shares out strips among launches: see warp_strip_launch.h. */
#include "stages/shared/stencil/warp_strip_launch.h"

#include "base/checked.h"

enum { MOST_BLOCKS = 1 << 30 };

/* Rows of a band of which, `count` strips beside each other, each SM has `warps`: at least SMP_BAND_LEAST and at most
 * `most`, or `most` where the SMs are not known. */
static int64_t even_band(const smp_io *io, int64_t count, int64_t most, int warps, const smp_grid *grid)
{
    const int64_t wanted = (int64_t)grid->units * warps;
    return smp_clamp_i64(wanted ? io->out.rows * count / wanted : most, smp_min_i64(most, SMP_BAND_LEAST), most);
}

/* The most rows up to `rows`, or the fewest from it on, that make whole groups with the halo. */
static int64_t down_to_groups(int64_t rows, int halo)
{
    return (rows + halo) / SMP_BAND_GROUP * SMP_BAND_GROUP - halo;
}
static int64_t up_to_groups(int64_t rows, int halo)
{
    return down_to_groups(rows + SMP_BAND_GROUP - 1, halo);
}

static int64_t band_of(const smp_io *io, int64_t count, const smp_bands *bands, const smp_grid *grid)
{
    const int64_t least = io->out.rows * count / MOST_BLOCKS + 1;
    const int64_t usual = smp_min_i64(bands->most, bands->warps ? SMP_BAND_USUAL + 2 * bands->halo : bands->most);
    int64_t band = even_band(io, count, usual, SMP_BAND_BUSY, grid);
    if (bands->warps)
        band = smp_max_i64(band, even_band(io, count, bands->most, bands->warps, grid));
    if (bands->uneven)
        band = smp_min_i64(bands->most, up_to_groups(band, bands->halo));
    return smp_max_i64(least, band);
}

/* From top to bottom: a low band, tall ones, low ones. */
static smp_strips shared_out(int64_t rows, int64_t count, int64_t band, const smp_bands *bands)
{
    const bool ends = count > 2;
    int64_t top = band, tall = band, low = band, tall_bands = 0;
    if (band >= SMP_BAND_CUT && rows >= 4 * band) {
        low = top = smp_max_i64(SMP_BAND_LEAST, up_to_groups((band - bands->halo) / 2, bands->halo));
        if (bands->uneven)
            tall = down_to_groups(band * 3 / 2, bands->halo);
        tall_bands = ((bands->uneven ? rows * 3 / 4 : rows - low) - top) / tall;
    }
    const int64_t rest = smp_max_i64(0, rows - top - tall * tall_bands);
    return (smp_strips){
        .ends = ends ? (uint32_t)(2 * ((rows + low - 1) / low)) : 0,
        .end_rows = (uint32_t)low,
        .across = (uint32_t)(ends ? count - 2 : count),
        .bands = (uint32_t)(1 + tall_bands + (rest + low - 1) / low),
        .top = (uint32_t)top,
        .tall = (uint32_t)tall,
        .tall_bands = (uint32_t)tall_bands,
        .low = (uint32_t)low,
    };
}

void smp_strip_grid(const smp_io *io, int64_t across, const smp_bands *bands, smp_grid *grid)
{
    const int64_t n = io->out.width * io->out.channels, count = smp_max_i64(1, (n + across - 1) / across);
    const smp_strips strips = shared_out(smp_max_i64(1, io->out.rows), count, band_of(io, count, bands, grid), bands);
    *grid =
        (smp_grid){.grid = {strips.ends + strips.across * strips.bands, 1, 1}, .block = {32, 1, 1}, .strips = strips};
}
