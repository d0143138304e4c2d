/* Messages between the program and a decoder, over a stream socket: an smp_ask, with descriptors when it opens a file;
 * an smp_answer, followed by what smp_answer_wire puts into bytes. In front of its answer one that encodes sends bytes
 * of the file (smp_answer.output). These processes are not to be trusted: the program checks all that they send. */
#pragma once

#include "io/decoder/sandbox_decoder.h"
#include "io/media.h"

/* Descriptors of the process that decodes. The last two come with SMP_ASK_OPEN and are free otherwise. */
enum { SMP_FD_CHANNEL = 3, SMP_FD_ARENA = 4, SMP_FD_INPUT = 5, SMP_FD_SPOOL = 6 };

typedef enum smp_ask_kind {
    SMP_ASK_OPEN = 1,
    SMP_ASK_ROWS,
    SMP_ASK_SOME, /* as SMP_ASK_ROWS, by smp_reader_some */
    SMP_ASK_NEXT,
    SMP_ASK_SETTLE,
    SMP_ASK_BEGIN, /* a file that is written, or its next picture: what smp_writing_wire makes follows */
    SMP_ASK_PUT,   /* its rows are in the shared memory */
    SMP_ASK_FINISH,
    SMP_ASK_CLOSE /* has no answer */
} smp_ask_kind;

typedef struct smp_ask {
    smp_ask_kind kind;
    uint64_t memory; /* bytes that smp_alloc may give; 0: no limit */
    /* SMP_ASK_OPEN: */
    smp_read_options options;
    bool seekable, spool; /* spool: a file for it came along */
    uint64_t size;        /* of the input, UINT64_MAX: unknown */
    /* SMP_ASK_ROWS; with SMP_ASK_OPEN, 0: no rows are to be read before they are asked for */
    uint64_t arena;       /* bytes of the shared memory; 0: the rows are to follow the answer, without gaps */
    uint64_t at;          /* where in it the rows go */
    int64_t stride, rows; /* bytes; how many */
    /* SMP_ASK_BEGIN: */
    uint64_t bytes; /* that follow, */
    uint64_t coded; /* and those of smp_write_coded.picture behind them; 0: none */
    /* SMP_ASK_PUT: */
    uint32_t delay; /* smp_writer_delay */
} smp_ask;

/* The first words of a process that decodes, before it looks at any file. */
typedef struct smp_hello {
    int pid;
    smp_confinement confinement;
} smp_hello;

enum { SMP_MOST_ANSWER = 1 << 30 /* bytes that may follow an smp_answer */ };

/* Truth is a byte that is not 0: it may be any. */
typedef struct smp_answer {
    int code;            /* an smp_code */
    uint8_t more;        /* SMP_ASK_NEXT: another picture follows */
    uint8_t closed;      /* rows that were read were the last, and the file is closed without an ask */
    uint8_t ahead;       /* SMP_ASK_OPEN: all rows are in the shared memory, smp_ahead_stride apart */
    uint8_t again;       /* the same: reading them says more than the header, so the file is to be opened again */
    uint8_t output;      /* what follows are bytes of the file that is written, and no answer yet */
    uint32_t bytes;      /* that follow */
    uint32_t delay;      /* smp_reader_delay */
    int leftover;        /* SMP_ASK_SOME: as in smp_media */
    int64_t rows;        /* the same: how many were read */
    uint64_t live, peak; /* bytes of smp_alloc, now and most while it worked */
    uint64_t refused;    /* how often the limit refused memory, ever */
    uint64_t picture;    /* bytes that the header was checked for (smp_check_picture) */
    uint64_t clipped;    /* smp_writer_clipped */
    int64_t at;          /* output: where the bytes go; -1: behind all */
    double seconds;      /* that reading bytes took, of this file */
} smp_answer;

/* Bytes of structures. One function goes over a structure in either direction, so that both sides agree. */
typedef struct smp_wire {
    unsigned char *data; /* from smp_alloc when written */
    size_t size, capacity;
    size_t at; /* while reading */
    bool reading;
    bool failed; /* memory is exhausted, or the bytes are none that were written so */
    bool lacks;  /* failed: memory was exhausted for a blob that was read */
} smp_wire;

/* All that may follow an answer. err: where the code is a failure; media: where a file was opened well; rows: where
 * they follow; else null. What was read is checked: failed is set when it is no such thing. */
void smp_answer_wire(smp_wire *wire, smp_error *err, smp_notes *notes, smp_media *media, smp_blob *rows);

/* The beginning of a picture that is written. */
typedef struct smp_writing {
    bool seekable; /* smp_output_seekable */
    bool tagged;   /* there are: */
    smp_meta meta;
} smp_writing;

/* It, and what it sets of a writer. Addresses of formats and of their options are those of the program, whose copy the
 * process is. */
struct smp_writer;
void smp_writing_wire(smp_wire *wire, struct smp_writer *writer, smp_writing *also);

/* Sends all of it, with `count` descriptors; false when nobody is there. */
bool smp_message_send(int channel, const void *head, size_t head_size, const void *rest, size_t rest_size,
                      const int *descriptors, int count);

/* Is asked before each wait for how many seconds to wait, and says 0 when it was enough. */
typedef struct smp_patience {
    double (*seconds)(void *context);
    void *context;
} smp_patience;

/* Waits for all of it, as long as the patience lasts (null: for ever). Descriptors that come along are counted. */
typedef enum smp_received { SMP_RECEIVED, SMP_RECEIVED_END, SMP_RECEIVED_LATE } smp_received;
smp_received smp_message_receive(int channel, void *to, size_t size, const smp_patience *patience, int *descriptors);

/* Sends as long as the patience lasts: who does not read has it end. */
smp_received smp_message_send_within(int channel, const void *head, size_t head_size, const void *rest,
                                     size_t rest_size, const int *descriptors, int count, const smp_patience *patience);
