/* Splits the files of a batch between processors and GPUs. Threads of both kinds ask for the next file; a class of
 * files (by name and size) is judged by the time of its first files on either.
 *
 * The rule. A machine's processors are what files on either kind need, for a GPU's files are read, inflated, deflated
 * and written by processors too. So the kind that takes less processor time for a file of a class is the better one.
 * Where that is the processors, GPUs leave the class to them. Where it is the GPUs, processors take what the GPUs leave
 * of the processors: each thread of a GPU that does more than all processors would finds one free when the GPU has done
 * something, and so does each whose file is mostly processors' work. Where that would add less than a third to what the
 * GPUs do, they take none. Neither takes a file that the other would have done sooner with all that is left: so the
 * last files are nobody's to wait for. A kind of which little is known is tried by two threads at a time; GPUs by all
 * of theirs where a file takes the processors long. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum smp_split_kind { SMP_SPLIT_CPU, SMP_SPLIT_GPU, SMP_SPLIT_KINDS } smp_split_kind;

enum { SMP_SPLIT_CLASSES = 64 };

/* How much is known of a file's class. */
typedef enum smp_split_confidence {
    SMP_SPLIT_NOTHING, /* it failed */
    SMP_SPLIT_GUESS,   /* the first of its thread, which pays for what the later ones find ready */
    SMP_SPLIT_MEASURED
} smp_split_confidence;

typedef struct smp_split_class {
    uint64_t key;
    int flying[SMP_SPLIT_KINDS];       /* files that are being done */
    uint64_t done[SMP_SPLIT_KINDS];    /* files that were measured */
    double wall[SMP_SPLIT_KINDS];      /* seconds of a file, */
    double processor[SMP_SPLIT_KINDS]; /* and of the processors, whatever thread or process: means of the latest, or
                                         guesses; 0: unknown */
} smp_split_class;

typedef struct smp_cpu_gpu_split {
    int processors;
    bool gpus_come; /* GPUs are there or being opened: processors begin no more files than there are processors */
    int lanes[SMP_SPLIT_KINDS]; /* threads that take files */
    smp_split_class classes[SMP_SPLIT_CLASSES];
    int class_count;
} smp_cpu_gpu_split;

/* The class of a file: by its extension, and by its size to a factor of two. The last class takes all that come after
 * there is no room. bytes: 0 where it is not known. */
int smp_split_class_of(smp_cpu_gpu_split *split, const char *path, uint64_t bytes);

/* Whether a thread of that kind should take a file of that class now. left: files that nobody has begun. */
bool smp_split_suits(const smp_cpu_gpu_split *split, smp_split_kind kind, int class_index, uint64_t left);

void smp_split_begin(smp_cpu_gpu_split *split, smp_split_kind kind, int class_index);

void smp_split_end(smp_cpu_gpu_split *split, smp_split_kind kind, int class_index, smp_split_confidence confidence,
                   double wall, double processor);
