/* remix: new channels as weighted sums of the old ones, by name or by a matrix. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "media/speakers.h"
#include "stages/shared/samples/channel_mixing.h"

enum { MONO, STEREO, SWAP, LEFT, RIGHT, MID_SIDE, LEFT_RIGHT };

typedef struct params { /* begins as smp_channels_params */
    int mode;
    smp_matrix matrix;
} params;

static const char *const modes[] = {"mono", "stereo", "swap", "left", "right", "mid-side", "left-right", NULL};

static const smp_param table[] = {
    {"mode", offsetof(params, mode), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "mono",
     "mono: the mean of all channels; stereo: mono twice, or left and right, with what other speakers have; swap: left "
     "and right; left, right: one channel; mid-side: half the sum, half the difference; left-right: back",
     modes, SMP_P_MAIN},
    SMP_PARAM_MATRIX(matrix, NONE, 0, 0, NULL,
                     "instead of a mode: a row for each output channel, a column for each input channel", 0),
    {0},
};

static smp_code by_matrix(const smp_matrix *m, const smp_shape *in, smp_channel_mix *mix, smp_error *err)
{
    if (m->cols != in->channels || m->rows > SMP_MAX_CHANNELS)
        return smp_fail(err, SMP_E_PIPE, "a matrix of %d x %d does not fit %d channel%s", m->rows, m->cols,
                        in->channels, in->channels == 1 ? "" : "s"),
               smp_hint(err, "it takes %d column%s and at most %d rows: [0.5 0.5] makes mono of stereo", in->channels,
                        in->channels == 1 ? "" : "s", SMP_MAX_CHANNELS);
    mix->rows = m->rows;
    for (int r = 0; r < m->rows; r++)
        for (int c = 0; c < m->cols; c++)
            mix->weight[r][c] = (float)m->values[r * m->cols + c];
    return SMP_OK;
}

/* Stereo of more channels, by where their speakers are (bits of WAV's dwChannelMask): ITU-R BS.775-3, annex 4, which
 * has no place for low frequency effects; what stands in the middle of the rear, or above, as two of them 3 dB down.
 * Divided by the sum of the weights, so that nothing can clip. False: nobody knows where they are. */
static bool to_stereo(const smp_shape *in, smp_channel_mix *mix)
{
    const double h = M_SQRT1_2;
    /* clang-format off */
    const double weights[SMP_SPEAKERS][2] = {
        {1, 0}, {0, 1}, {h, h}, {0, 0}, {h, 0}, {0, h}, {1, 0}, {0, 1}, {.5, .5},            /* L ... BC */
        {h, 0}, {0, h}, {h, h}, {h, 0}, {.5, .5}, {0, h}, {.5, 0}, {.25, .25}, {0, .5}};     /* SL ... TBR */
    /* clang-format on */
    const uint32_t mask = in->speakers ? in->speakers : smp_usual_speakers(in->channels);
    double of[SMP_MAX_CHANNELS][2], sum[2] = {0, 0};
    if (__builtin_popcount(mask) != in->channels || mask >> SMP_SPEAKERS)
        return false;
    for (int place = 0, c = 0; place < SMP_SPEAKERS; place++)
        if (mask >> place & 1) {
            for (int side = 0; side < 2; side++)
                sum[side] += of[c][side] = weights[place][side];
            c++;
        }
    const double most = fmax(sum[0], sum[1]);
    for (int c = 0; c < in->channels; c++)
        for (int side = 0; side < 2; side++)
            mix->weight[side][c] = (float)(of[c][side] / most);
    return sum[0] > 0 && sum[1] > 0;
}

static smp_code by_mode(int mode, const smp_shape *in, smp_channel_mix *mix, smp_node_plan *work, smp_error *err)
{
    static const float pairs[][2][2] = {
        [SWAP] = {{0, 1}, {1, 0}}, [MID_SIDE] = {{0.5f, 0.5f}, {0.5f, -0.5f}}, [LEFT_RIGHT] = {{1, 1}, {1, -1}}};
    const int channels = in->channels;
    switch (mode) {
    case MONO:
        mix->rows = 1;
        for (int c = 0; c < channels; c++)
            mix->weight[0][c] = 1.f / (float)channels;
        return SMP_OK;
    case STEREO:
        mix->rows = 2;
        if (channels > 2 && to_stereo(in, mix))
            return SMP_OK;
        memset(mix->weight, 0, sizeof mix->weight);
        mix->weight[0][0] = mix->weight[1][channels > 1] = 1;
        if (channels > 2)
            snprintf(work->effect.remark, sizeof work->effect.remark,
                     "'remix stereo' takes the first two of %d channels: nothing says where their speakers are",
                     channels);
        return SMP_OK;
    case LEFT:
        mix->rows = 1;
        mix->weight[0][0] = 1;
        return SMP_OK;
    case RIGHT:
        mix->rows = 1;
        mix->weight[0][channels > 1] = 1;
        return SMP_OK;
    default:
        if (channels != 2)
            return smp_fail(err, SMP_E_PIPE, "'remix %s' takes two channels, and the sound has %d", modes[mode],
                            channels);
        mix->rows = 2;
        for (int r = 0; r < 2; r++)
            for (int c = 0; c < 2; c++)
                mix->weight[r][c] = pairs[mode][r][c];
        return SMP_OK;
    }
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    smp_channel_mix mix = {.cols = in->channels};
    SMP_TRY(p->matrix.rows ? by_matrix(&p->matrix, in, &mix, err) : by_mode(p->mode, in, &mix, work, err));
    smp_channel_mixing_plan(&mix, work);
    work->values.exactness = SMP_REAL;
    work->values.clips = true;
    bool identity = mix.rows == mix.cols;
    for (int r = 0; r < mix.rows; r++)
        for (int c = 0; c < mix.cols; c++)
            identity = identity && mix.weight[r][c] == (float)(r == c);
    work->effect.none = identity;
    work->effect.already = identity && !p->matrix.rows;
    return SMP_OK;
}

const smp_stage smp_stage_remix = {
    .name = "remix",
    .help = "mix channels: mono, stereo, swap, mid and side, or any matrix",
    .about =
        "Every output channel is a weighted sum of the input's, in f32: s = 0, then s = fma(weight, sample, s) "
        "channel by channel. stereo of more than two channels is the downmix of ITU-R BS.775: left + 0.71 centre + "
        "0.71 rear or side left, and so right, without low frequency effects, divided by the sum of the weights so "
        "that nothing clips; `gain` behind it makes it louder. Where the speakers are comes from the file, else "
        "from the number of channels. mid-side makes (L+R)/2 and (L-R)/2, left-right goes back. left and right of "
        "a mono sound are that sound. A matrix has a row for each output channel.",
    .example = "remix mono",
    .role = SMP_ROLE_CHANNELS,
    SMP_PLANNED(SMP_AUDIO, SMP_POINT, table, params, smp_channel_mix_variants),
    .hints = SMP_HINTS(.forms = SMP_FORMS(
                           SMP_MEANS("-", "mode=mono"), SMP_MEANS("1", "mode=left"), SMP_MEANS("2", "mode=right"),
                           {.values = "1 1", .say = "write matrix=[1 0; 1 0]"}, SMP_MEANS("2 1", "mode=swap"),
                           {.values = "1,2", .say = "write mono"}, {.values = "1-2", .say = "write mono"}),
                       .aliases =
                           SMP_ALIASES({"pan", "remix matrix=[0.5 0.5]"}, {"mono downmix", "remix mono"},
                                       {"channels", "remix mono"}, {"channelmap", "remix swap"}, {"swap", "remix swap"},
                                       {"channelsplit", "remix left"}, {"karaoke", "remix matrix=[1 -1; 1 -1]"},
                                       {"oops", "remix matrix=[1 -1; 1 -1]"}, {"midside", "remix mid-side"})),
};
