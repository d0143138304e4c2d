/* The devices that a batch works on, as --device names them. */
#pragma once

#include "batch/batch.h"

enum { SMP_BATCH_DEVICES = 64 };

typedef struct smp_batch_devices {
    char specs[SMP_BATCH_DEVICES][64]; /* of GPUs: "cuda:1", "simt" */
    int count;
    bool gpu, emulated;
    bool cpu;            /* processors take files themselves; beside GPUs, those that suit them (cpu_gpu_split.h) */
    bool later;          /* GPUs are looked for while processors work: smp_batch_devices_look() */
    bool jpegs;          /* the files seem to be JPEGs that GPUs decode and code: they cost processors little */
    char processors[64]; /* what to open for a processor */
} smp_batch_devices;

/* cuda is every GPU there is, cuda:0,2 those; cpu,cuda both kinds. auto weighs the work of all files (guessed from the
 * first that can be read) against the start of a GPU, and takes both kinds where a GPU pays. note: one line about that
 * choice. */
smp_code smp_batch_devices_find(const smp_batch_request *request, smp_batch_devices *devices, char *note,
                                size_t note_size, smp_error *err);

/* Finds the GPUs of a batch whose processors work already; without any it goes on without them, and the note says so.
 */
void smp_batch_devices_look(smp_batch_devices *devices, char *note, size_t note_size);
