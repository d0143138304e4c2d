/* A tar file as a file of a batch: WebDataset's shards. Its pictures go through the pipeline one after another, in the
 * thread that has the file, and what lies beside them (.cls, .json, .txt) is copied, in its order. Random values are
 * drawn for the members' names, so that they do not depend on the shard. */
#pragma once

#include "run/run.h"

typedef struct smp_shard_options {
    smp_kind kind;         /* of members that go through the pipeline; none: all that are pictures or sounds */
    const char *extension; /* of what they become; null: their own, as smp_namer has it */
    bool strict;           /* one that cannot be read or does not fit the pipeline is an error. Else it is noted, and
                              its sample, all members of its name up to the first dot, is left out and counted in the
                              report; that none is left is an error */
} smp_shard_options;

/* Runs the tar file request->input into request->output: request is that of each member but for its files. */
smp_code smp_run_shard(const smp_run_request *request, const smp_shard_options *options, smp_run_report *report,
                       smp_error *err);
