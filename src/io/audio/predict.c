/* Goes on with a sound behind its end, for coders whose packets reach beyond it. Source: J. P. Burg, Maximum Entropy
 * Spectral Analysis, 1975: a predictor from forward and backward errors, which is stable. */
#include "io/audio/sound.h"

#include "base/alloc.h"
#include "base/checked.h"

enum { ORDER = 32 };

/* What predicts x[i] from the `order` samples before it: the sum of a[j] x[i - j], j from 1 on. work: 2 n. */
static void find_predictor(double *a, int order, const double *x, int64_t n, double *work)
{
    double *forward = work, *backward = work + n;
    memcpy(forward, x, (size_t)n * sizeof *x);
    memcpy(backward, x, (size_t)n * sizeof *x);
    for (int m = 1; m <= order; m++) {
        double both = 0, all = 0;
        for (int64_t i = m; i < n; i++) {
            both += forward[i] * backward[i - 1];
            all += forward[i] * forward[i] + backward[i - 1] * backward[i - 1];
        }
        const double k = all > 0 ? 2 * both / all : 0;
        for (int64_t i = n - 1; i >= m; i--) {
            const double was = forward[i];
            forward[i] = was - k * backward[i - 1];
            backward[i] = backward[i - 1] - k * was;
        }
        a[m] = k;
        for (int j = 1; 2 * j <= m; j++) {
            const double low = a[j], high = a[m - j];
            a[j] = low - k * high;
            a[m - j] = high - k * low;
        }
    }
}

bool smp_sound_predict(float *frames, int64_t have, int64_t more, int channels)
{
    const int order = (int)smp_min_i64(ORDER, have / 3);
    double a[ORDER + 1], *x = smp_alloc_array((size_t)(3 * have + more), sizeof *x);
    for (int c = 0; x && c < channels; c++) {
        for (int64_t i = 0; i < have; i++)
            x[i] = (double)frames[i * channels + c];
        find_predictor(a, order, x, have, x + have + more);
        for (int64_t i = have; i < have + more; i++) {
            x[i] = 0;
            for (int j = 1; j <= order; j++)
                x[i] += a[j] * x[i - j];
            frames[i * channels + c] = (float)x[i];
        }
    }
    smp_free(x);
    return x;
}
