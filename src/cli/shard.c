/* --shard K/N, auto, auto/N: see shard.h. */
#include "cli/shard.h"

#include <inttypes.h>
#include <string.h>

#include "base/os/ranks.h"

enum { MOST_SHARDS = 1000000 };

static smp_code fail_value(const char *text, smp_error *err)
{
    smp_fail(err, SMP_E_USAGE, "'%.80s' is not a valid value for --shard", text);
    return smp_hint(err, "it takes K/N, as in 1/4, 2/4, 3/4 and 4/4 for four machines, or auto");
}

static smp_code fail_rank(const smp_rank *rank, smp_error *err)
{
    smp_fail(err, SMP_E_USAGE, "this is one of several ranks (%s), and each would do all files", rank->source);
    return smp_hint(err, "--shard auto shares them; --shard 1/1 does all of them here");
}

/* A task of an array may have files of its own, so that it is told and not refused. GNU parallel's mostly have. */
static void warn_task(const smp_common *common)
{
    const smp_rank task = smp_rank_of_array();
    if (task.source[0] && task.count != 1 && strncmp(task.source, "PARALLEL_SEQ", 12) != 0)
        smp_cli_warning(common,
                        "this is one task of an array (%s), and does all files that it is given; %s shares them among "
                        "the tasks, --shard 1/1 says that this is meant",
                        task.source,
                        task.gaps         ? "--list FILE --claim"
                        : task.count == 0 ? "--shard auto/N"
                                          : "--shard auto");
}

/* auto with `count` (0: unknown): what the environment says. */
static smp_code ask(const smp_common *common, int64_t count, bool shares, smp_shard *out, smp_error *err)
{
    const smp_rank rank = smp_rank_find(count);
    if (!rank.source[0] && shares) /* one of many, whoever started it */
        return SMP_OK;
    if (!rank.source[0])
        return smp_fail(err, SMP_E_USAGE,
                        "--shard auto finds no rank and no array of Slurm, MPI, PBS, Grid Engine or GNU parallel"),
               smp_hint(err, "write --shard K/N");
    const bool known = !rank.gaps && rank.count > 0 && rank.number >= 1 && rank.number <= rank.count;
    if (!known && shares)
        return SMP_OK;
    if (rank.gaps)
        return smp_fail(err, SMP_E_USAGE, "%s: the array leaves numbers out, and with them files", rank.source),
               smp_hint(err, "share a list by --list FILE --claim, or write --array 1-N");
    if (!rank.count)
        return smp_fail(err, SMP_E_USAGE, "%s does not say how many there are", rank.source),
               smp_hint(err, "write --shard auto/N, or share a list by --list FILE --claim");
    if (!known)
        return smp_fail(err, SMP_E_USAGE, "%s is none of 1 to %" PRId64, rank.source, rank.count),
               smp_hint(err, "let the array begin at 1 and end at N of auto/N");
    *out = (smp_shard){.number = rank.number, .count = rank.count};
    if (!common->quiet)
        fprintf(stderr, "smempipe: --shard %" PRId64 "/%" PRId64 " by %s\n", rank.number, rank.count, rank.source);
    return SMP_OK;
}

smp_code smp_cli_shard(const smp_common *common, const char *text, bool shares, smp_shard *out, smp_error *err)
{
    long long k = 0, n = 0;
    int end = 0;
    *out = (smp_shard){.number = 0};
    if (!text) {
        const smp_rank rank = shares ? (smp_rank){.number = 0} : smp_rank_of_step();
        if (rank.source[0])
            return fail_rank(&rank, err);
        if (!shares)
            warn_task(common);
        return SMP_OK;
    }
    if (!strcmp(text, "auto"))
        return ask(common, 0, shares, out, err);
    if (sscanf(text, "auto/%7lld%n", &n, &end) == 1 && !text[end] && n >= 1 && n <= MOST_SHARDS)
        return ask(common, n, shares, out, err);
    if (sscanf(text, "%7lld/%7lld%n", &k, &n, &end) != 2 || text[end] || k < 1 || n < 1 || k > n || n > MOST_SHARDS)
        return fail_value(text, err);
    *out = (smp_shard){.number = k, .count = n};
    return SMP_OK;
}
