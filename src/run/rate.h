/* A measured rate of data: every sample, the median and the quartiles. */
#pragma once

enum { SMP_RATE_SAMPLES = 15 };

typedef struct smp_rate {
    double bytes;                     /* that one pass moves; 0: not measured */
    double gbs;                       /* of the median pass; 1e9 bytes a second, read and written bytes added up */
    double gbs_low, gbs_high;         /* of the slower and the faster quartile */
    double seconds[SMP_RATE_SAMPLES]; /* of each pass, in order */
    int count;
} smp_rate;

/* Fills median and quartiles from seconds, count and bytes. */
void smp_rate_settle(smp_rate *rate);
