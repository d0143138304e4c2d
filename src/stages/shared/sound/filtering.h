/* Shared by stages that filter sound along its frames, and the design of their taps. */
#pragma once

#include "audio/fir.h"
#include "stages/stage.h"

/* naive, tiled and register; the last two differ on GPUs alone. */
extern const smp_variant smp_filter_variants[];

/* The plan of a stage that convolves with these taps (as numpy.convolve(x, taps, "same") for as many frames): kernel
 * parameters, table, reach. taps: 1 to SMP_FIR_MOST finite numbers. */
smp_code smp_filter_plan(const double *taps, int count, smp_node_plan *work, smp_error *err);

/* The same where the first tap meets the frame itself, and each of `channels` has a list of its own, one after the
 * other: what comes out is never early. count: up to SMP_FIR_LONGEST. */
smp_code smp_echo_filter_plan(const double *taps, int count, int channels, smp_node_plan *work, smp_error *err);

/* Parameters that lowpass, highpass and bandpass have in common; the first fields of their structs. */
typedef struct smp_filter_params {
    int64_t taps;       /* INT64_MIN: auto */
    double transition;  /* Hz; NaN: auto */
    int window;         /* smp_window */
    double attenuation; /* dB, of Kaiser's window */
} smp_filter_params;

typedef enum smp_window { SMP_WINDOW_KAISER, SMP_WINDOW_HANN, SMP_WINDOW_HAMMING, SMP_WINDOW_BLACKMAN } smp_window;

/* Rows of the parameter table for these fields. */
#define SMP_FILTER_ROWS(type)                                                                                          \
    SMP_PARAM_OF(type, "taps", filter.taps, INT, NONE, 3, SMP_FIR_MOST, "auto",                                        \
                 "length of the filter, odd; auto: as many as the transition takes", NULL, SMP_P_AUTO | SMP_P_ODD),    \
        SMP_PARAM_OF(type, "transition", filter.transition, FLOAT, HZ, 0.01, 1e6, "auto",                              \
                     "width of the slope round a cutoff; auto: a third of the cutoff, and no less than a thousandth "  \
                     "of the rate",                                                                                    \
                     NULL, SMP_P_AUTO),                                                                                \
        SMP_PARAM_OF(type, "window", filter.window, ENUM, NONE, 0, 0, "kaiser",                                        \
                     "kaiser as attenuation says; hann, hamming and blackman stop 44, 53 and 74 dB", smp_window_names, \
                     0),                                                                                               \
        SMP_PARAM_OF(type, "attenuation", filter.attenuation, FLOAT, DB, 30, 120, "80dB",                              \
                     "of what is stopped, with window=kaiser", NULL, 0)

extern const char *const smp_window_names[];

/* A stage with one cutoff: its parameters, fields that it shares with others, and its descriptions. */
typedef struct smp_cutoff_params {
    smp_filter_params filter;
    double cutoff;
} smp_cutoff_params;
extern const smp_param smp_cutoff_rows[];
#define SMP_CUTOFF_STAGE                                                                                               \
    .domain = SMP_AUDIO, .access = SMP_STENCIL, SMP_PARAMS(smp_cutoff_rows, smp_cutoff_params),                        \
    .variants = smp_filter_variants
#define SMP_CUTOFF_ABOUT(short_one)                                                                                    \
    "A linear-phase FIR filter: a windowed sinc. The cutoff is where half the amplitude is left, within 0.1 dB; the "  \
    "slope from pass band to stop band is `transition` wide, half of it on either side. With Kaiser's window of 80 "   \
    "dB what is stopped stays below -80 dB and what passes ripples less than 0.002 dB. The delay is made up for, the " \
    "length kept; outside the sound is silence. `" short_one                                                           \
    "` is the short filter that equalizers of other programs "                                                         \
    "have."

/* A band that passes from low to high (0: from 0 Hz; infinity: to half the rate), both the frequencies at which half
 * the amplitude (-6.02 dB) is left. Fills the plan. */
smp_code smp_band_plan(const smp_filter_params *filter, double low, double high, const smp_shape *in,
                       smp_node_plan *work, smp_error *err);

/* Taps that slopes of `transition` (a fraction of the rate) take with Kaiser's window. */
double smp_kaiser_taps(double attenuation, double transition);

/* The taps of that band, `count` of them, from smp_alloc; null when memory is exhausted. count: odd. */
double *smp_band_taps(const smp_filter_params *filter, double low, double high, double rate, int count);

/* The modified Bessel function of the first kind, order 0, of which Kaiser's window is made. */
double smp_bessel0(double x);
