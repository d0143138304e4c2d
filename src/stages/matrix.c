/* matrix: new channels as weighted sums of the old ones. */
#include "stages/shared/samples/channel_mixing.h"
#include "stages/stage.h"

typedef struct matrix_params {
    smp_matrix matrix;
} matrix_params;

static const smp_param table[] = {
    {"matrix", offsetof(matrix_params, matrix), SMP_T_MATRIX, SMP_UNIT_NONE, 0, 0, NULL,
     "a row for each output channel, a column for each input channel, and one more for a constant if wanted", NULL,
     SMP_P_MAIN | SMP_P_REQUIRED},
    {0},
};

static smp_code refuse(const smp_matrix *m, const smp_shape *in, smp_error *err)
{
    int colours = in->channels - in->alpha;
    smp_fail(err, SMP_E_PIPE, "a %d x %d matrix does not fit %d channels%s", m->rows, m->cols, in->channels,
             in->alpha ? " with alpha" : "");
    if (in->alpha)
        smp_hint(err, "use %d columns (colour), %d (colour and alpha) or %d (and a constant), and at most %d rows",
                 colours, in->channels, in->channels + 1, SMP_MAX_CHANNELS);
    else
        smp_hint(err, "use %d columns, or %d with a constant, and at most %d rows", in->channels, in->channels + 1,
                 SMP_MAX_CHANNELS);
    return SMP_E_PIPE;
}

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const matrix_params *p = params;
    const smp_matrix *m = &p->matrix;
    int colours = in->channels - in->alpha;
    bool colour_only = in->alpha && m->cols == colours;
    int cols = colour_only ? colours : in->channels;
    smp_channel_mix mix = {.rows = m->rows, .cols = cols, .keep_alpha = colour_only};
    if ((m->cols != cols && m->cols != cols + 1) || m->rows < 1 || m->rows + colour_only > SMP_MAX_CHANNELS)
        return refuse(m, in, err);
    for (int r = 0; r < m->rows; r++) {
        const double *row = m->values + r * m->cols;
        for (int c = 0; c < cols; c++)
            mix.weight[r][c] = (float)row[c];
        mix.constant[r] = m->cols > cols ? (float)row[cols] : 0.f;
    }
    smp_channel_mixing_plan(&mix, work);
    work->out.alpha = in->alpha && (colour_only || m->rows == in->channels);
    return SMP_OK;
}

const smp_stage smp_stage_matrix = {
    .name = "matrix",
    .help = "mix channels: each output channel is a weighted sum of the input's",
    .about =
        "out[r] = sum over c of m[r][c] in[c], plus m[r][last] of full scale where there is one column more than "
        "channels. The number of rows is the number of channels of the result.\n"
        "Alpha: a matrix with as many columns as colour channels works on colour and alpha stays; one with as many "
        "columns as all channels (and a constant, if wanted) mixes alpha too, and the result's last channel is alpha "
        "again if there are as many rows as channels.",
    .example = "matrix [0.393 0.769 0.189; 0.349 0.686 0.168; 0.272 0.534 0.131]",
    SMP_PLANNED(SMP_BOTH, SMP_POINT, table, matrix_params, smp_channel_mix_variants),
    SMP_ALSO({"colorchannelmixer recolor recomb colormatrix channelmixer", "matrix [1 0 0; 0 1 0; 0 0 1]"},
             {"separate channel", "matrix [1 0 0]"},
             {"sepia sepia-tone", "matrix [0.393 0.769 0.189; 0.349 0.686 0.168; 0.272 0.534 0.131]"}),
};
