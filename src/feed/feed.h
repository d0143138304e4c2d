/* Batches of pictures or sounds for a program that trains a network: smempipe.Feed in Python starts `smempipe feed`,
 * asks over a socket for batches of files, and gets their samples in memory that both share. Processes decode, threads
 * compute (src/batch); the program that asks has no thread of ours, so that it may fork, and its interpreter waits for
 * nobody.
 *
 * Messages are in the machine's byte order, since both ends are one machine: an smp_feed_ask or smp_feed_answer, then
 * `bytes` bytes. The end of the socket is the end of the work. */
#pragma once

#include "batch/batch.h"
#include "device/cuda/cuda_api.h"

typedef enum smp_feed_ask_kind {
    SMP_FEED_BUFFER = 1, /* `buffer` is the memory whose descriptor comes along, or an smp_feed_device_memory */
    SMP_FEED_FORGET,     /* `buffer` is not used any more; no batch of it is under way */
    SMP_FEED_BATCH,      /* `count` smp_feed_sample, then their paths, each ended by a null byte; see smp_feed_answer */
    SMP_FEED_CANCEL,     /* batches that are under way need not be done; they are answered all the same */
    SMP_FEED_INDEX       /* the path of a tar file: its members are wanted */
} smp_feed_ask_kind;

typedef struct smp_feed_ask {
    uint32_t kind, count;
    uint64_t bytes;
    uint64_t number; /* of the batch, or of the question: comes back with the answer */
    int64_t buffer;  /* a batch's samples go there, one picture behind the other; -1: its shape alone is wanted */
    uint64_t epoch;
} smp_feed_ask;

typedef struct smp_feed_device_memory { /* of a GPU */
    CUipcMemHandle handle;
    uint64_t size; /* bytes */
} smp_feed_device_memory;

typedef struct smp_feed_sample {
    uint64_t index; /* of the picture in the data set */
    int64_t offset; /* where it lies in a tar file; -1: it is a file */
    uint64_t size;  /* the same: its bytes */
} smp_feed_sample;

typedef enum smp_feed_answer_kind {
    SMP_FEED_READY = 1, /* once, at the beginning */
    SMP_FEED_DONE,      /* a batch: a line "SLOT CODE MESSAGE" a picture that is not there (SMP_FEED_BROKEN) */
    SMP_FEED_MEMBERS,   /* a line "OFFSET SIZE NAME", ended by a null byte, a member */
    SMP_FEED_REFUSED    /* the question has no answer: why */
} smp_feed_answer_kind;

/* CODE: a picture is broken; the pipeline does not fit it; something else failed. */
enum { SMP_FEED_BROKEN = 'B', SMP_FEED_MISTAKE = 'M', SMP_FEED_FAILED = 'F', SMP_FEED_CANCELLED = 'C' };

typedef struct smp_feed_answer {
    uint32_t kind;
    int32_t channels;      /* of the pictures of all batches, 0: none was read yet; */
    int64_t width, height; /* of sounds 0, frames */
    uint64_t number, bytes;
} smp_feed_answer;

enum { SMP_FEED_CHANNELS = 8 };

typedef enum smp_feed_type { SMP_FEED_U8, SMP_FEED_F16, SMP_FEED_F32 } smp_feed_type;

/* How samples lie in a batch. Floats are (v / full scale - mean) / std, each step rounded to f32: the values of
 * torchvision's ToTensor and Normalize. */
typedef struct smp_feed_format {
    smp_feed_type type;
    bool planar;  /* a channel after the other */
    int channels; /* of pictures; 0: as many as they have; 3: gray becomes colour, and alpha is left out */
    int norms;    /* numbers of mean and std; 0: neither; 1: the same of each channel */
    float mean[SMP_FEED_CHANNELS], std[SMP_FEED_CHANNELS];
    float values[SMP_FEED_CHANNELS][256]; /* of bytes, from smp_feed_tables */
    uint16_t halves[SMP_FEED_CHANNELS][256];
} smp_feed_format;

/* Once all above is set. */
void smp_feed_tables(smp_feed_format *format);

/* The shape that pictures have in a batch. */
smp_code smp_feed_shape(const smp_feed_format *format, const smp_shape *shape, smp_shape *out, smp_error *err);

/* Bytes of a sample in a batch, and of a picture of that shape. */
int smp_feed_sample_size(const smp_feed_format *format);
size_t smp_feed_bytes(const smp_feed_format *format, const smp_shape *shape);

/* Puts rows y .. y+rows-1 of a picture into its place. */
void smp_feed_put(const smp_feed_format *format, const smp_shape *shape, const void *from, int64_t stride, int64_t y,
                  int64_t rows, void *place);

/* Answers what comes over the socket until it ends. request: how files are run; files, outputs and callbacks are put
 * in. Where its device is a GPU, that computes what it can of JPEGs (feed_gpu.h), and batches lie there. */
smp_code smp_feed_serve(int socket, const smp_batch_request *request, const smp_feed_format *format, smp_error *err);

/* ------------------------------------------------------------------------------------------------ messages */

/* *fd: a descriptor that came along, or -1. False: the socket has ended. */
bool smp_feed_receive(int socket, void *to, size_t size, int *fd);
bool smp_feed_send(int socket, const smp_feed_answer *answer, const void *bytes);
