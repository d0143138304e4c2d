/* The limits that protect a run from hostile or mistaken input; limit_list.def declares each once. */
#ifndef SMP_BASE_LIMITS_H
#define SMP_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* What an input without a header holds (--raw): samples one after another. */
typedef struct smp_raw {
    bool given, sound;
    bool real, big; /* kind of sample: float or integer; highest byte first */
    int bytes;      /* of a sample */
    int channels;
    int64_t width, height; /* of a picture */
    double rate;           /* of a sound */
    uint64_t offset;       /* bytes in front of the first sample */
} smp_raw;

typedef struct smp_limits { /* also how an input is to be read */
#define L(field, option, value, help) uint64_t field;
#include "base/limit_list.def"
#undef L
    double time_limit;  /* seconds that decoding a file may take, where decoders are processes; 0: by its size */
    int64_t page;       /* which one of a file that holds several is read, 1 first; 0: the first, with a note */
    smp_raw raw;        /* the input has no header, and this is what it would say */
    bool frames;        /* all pictures of a file are wanted, one after another */
    bool fast_decode;   /* pictures that are scaled down may be decoded smaller */
    int shrink;         /* decode at 1/2, 1/4, 1/8 of the size, where the format can; 0: whole */
    uint64_t scan_from; /* pixels from which on the coded scan of a picture is given instead of its rows, where the
                           format can (smp_media.scan); 0: never */
    uint64_t gpu_jpeg;  /* pixels from which on a run on a GPU asks for that; 0: never */
    bool coded;         /* give the coded data of a picture instead of its rows, where the format can */
    bool live;          /* a sound from a pipe may come as it is made: see smp_media.live */
    bool whole;         /* it is likely small, and read whole to memory that smp_reader_shared gives: rows may be there
                           before they are asked for */
    bool memory_meant;  /* max_memory was given, and a small file may take all of it */
    bool no_verify;     /* do not check the checksums of decoded data */
} smp_limits;

#define SMP_GPU_JPEG       (UINT64_C(1) << 20)  /* below, a processor is as quick */
#define SMP_MEMORY_DEFAULT (UINT64_C(16) << 30) /* without asking the machine: see smp_default_memory() */
static inline smp_limits smp_limits_default(void)
{
    smp_limits limits = {
        .gpu_jpeg = SMP_GPU_JPEG,
#define L(field, option, value, help) .field = (value),
#include "base/limit_list.def"
#undef L
    };
    return limits;
}
#undef SMP_MEMORY_DEFAULT

#endif
