/* The shards of a batch: see shard.h. */
#include "batch/shard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash/hash.h"
#include "base/hash/hash_set.h"
#include "base/paths.h"
#include "batch/outputs.h"
#include "io/files/source.h"
#include "io/files/tar.h"

typedef struct member {
    const char *name;
    uint64_t at, size; /* in the tar file */
    char *made;        /* the name of what it became; null: it is copied */
    int out;           /* a file in memory that has its bytes then, */
    uint64_t borrowed; /* which are counted */
} member;

typedef struct shard {
    smp_run_request run; /* of the member that is done */
    smp_run_report *report;
    smp_namer namer;
    smp_output *out;
    int fd;      /* the tar file */
    char *index; /* the text that names point into */
    member *members;
    size_t count, capacity;
    smp_hash_set names;    /* hashes of those in the output */
    size_t done, left_out; /* samples */
    const smp_shard_options *options;
    smp_error first; /* what was wrong with the first that was left out */
} shard;

static smp_code find_members(shard *s, smp_error *err)
{
    size_t size;
    SMP_TRY(smp_tar_index(s->fd, &s->index, &size, err));
    for (char *at = s->index, *end = at + size; at < end; at += strlen(at) + 1) {
        SMP_NEED(smp_grow(&s->members, &s->capacity, s->count + 1, sizeof *s->members), "a tar's members", s->count,
                 err);
        member *m = &s->members[s->count++];
        *m = (member){.out = -1, .at = strtoumax(at, &at, 10)};
        m->size = strtoumax(at, &at, 10);
        m->name = ++at;
    }
    return SMP_OK;
}

/* Bytes of a name that all members of a sample have. */
static size_t key(const char *name)
{
    const char *last = smp_base_name(name);
    return (size_t)(last - name) + strcspn(last, ".");
}

/* What the pipeline makes of a picture. */
static smp_code run_member(shard *s, member *m, int fd, smp_error *err)
{
    char input[32], text[128];
    smp_run_report report = {.input = m->name};
    const char *made = smp_namer_output(&s->namer, m->name);
    SMP_NEED(made && (m->made = smp_strdup(made)), "a name", strlen(m->name), err);
    if ((m->out = memfd_create("member", MFD_CLOEXEC)) < 0)
        return smp_fail(err, SMP_E_PROCESS, "no memory for a member: %s", smp_os_error(errno, text, sizeof text));
    snprintf(input, sizeof input, "/proc/self/fd/%d", fd);
    smp_run_request request = s->run;
    request.input = input;
    request.output = m->made;
    request.draw.index = smp_hash_name(m->name);
    request.write.output = (smp_output_options){.file = m->out, .seconds = s->run.write.output.seconds};
    const smp_code code = smp_run_file(&request, &report, err);
    const smp_notes *const notes[] = {&report.input_notes, &report.output_notes};
    for (int of = 0; of < 2; of++)
        for (int i = 0; i < notes[of]->count; i++)
            smp_note(&s->report->output_notes, "%s: %s", m->name, notes[of]->items[i]);
    s->report->device_seconds += report.device_seconds;
    s->report->read_seconds += report.read_seconds;
    s->report->write_seconds += report.write_seconds;
    s->report->output_clipped += report.output_clipped;
    s->report->device = report.device;
    smp_run_report_free(&report);
    struct stat status = {.st_size = 0};
    if (!code && fstat(m->out, &status) == 0) {
        SMP_NEED(smp_alloc_borrow((uint64_t)status.st_size), "a member of a sample", (uint64_t)status.st_size, err);
        m->borrowed = (uint64_t)status.st_size;
    }
    return code;
}

static bool goes_through(const shard *s, const member *m)
{
    const smp_kind kind = smp_name_kind(m->name), wanted = s->options->kind;
    return kind != SMP_KIND_NONE && (wanted == SMP_KIND_NONE || (kind & wanted));
}

/* No two members of the output have one name. */
static smp_code claim_name(shard *s, const member *m, smp_error *err)
{
    bool there;
    const char *name = m->made ? m->made : m->name;
    SMP_NEED(smp_hash_set_add(&s->names, smp_hash_name(name), &there), "names", s->names.count, err);
    return there ? smp_fail(err, SMP_E_PIPE, "it would be called %s, as one before it is", name) : SMP_OK;
}

static smp_code do_member(shard *s, member *m, smp_error *err)
{
    int fd;
    if (goes_through(s, m)) {
        SMP_TRY(smp_tar_open(s->fd, m->at, m->size, &fd, err));
        const smp_code code = run_member(s, m, fd, err);
        close(fd);
        SMP_TRY(code);
    } else if (!strchr(smp_base_name(m->name), '.'))
        smp_note(&s->report->input_notes, "%s is copied as it is: its name does not say what it is", m->name);
    return SMP_OK;
}

static smp_code put_member(shard *s, const member *m, smp_error *err)
{
    char text[128];
    struct stat status;
    if (!m->made)
        return smp_tar_copy(s->out, m->name, s->fd, m->at, m->size, err);
    if (fstat(m->out, &status) != 0)
        return smp_fail(err, SMP_E_PROCESS, "cannot read it back: %s", smp_os_error(errno, text, sizeof text));
    return smp_tar_copy(s->out, m->made, m->out, 0, (uint64_t)status.st_size, err);
}

static void free_member(member *m)
{
    if (m->out >= 0)
        close(m->out);
    smp_alloc_elsewhere(m->borrowed, 0, 0, 0);
    m->borrowed = 0;
    smp_free(m->made);
    m->made = NULL;
    m->out = -1;
}

/* A fault of the picture, and not of this machine. */
static bool is_its_own(smp_code code)
{
    return code == SMP_E_READ || code == SMP_E_DECODE || code == SMP_E_KILLED || code == SMP_E_LIMIT ||
           code == SMP_E_PIPE || code == SMP_E_ENCODE;
}

/* Members first .. end-1 are one sample. */
static smp_code do_sample(shard *s, size_t first, size_t end, smp_error *err)
{
    enum { MOST_MEMBERS = 512 /* each has a descriptor */ };
    smp_code code = SMP_OK;
    size_t i;
    if (end - first > MOST_MEMBERS)
        code = smp_fail(err, SMP_E_LIMIT, "%zu members are one sample by their names; %d are read", end - first,
                        MOST_MEMBERS);
    size_t at = first;
    for (i = first; !code && i < end; i++)
        code = do_member(s, &s->members[at = i], err);
    for (i = first; !code && i < end; i++) /* of none that is left out */
        code = claim_name(s, &s->members[at = i], err);
    if (code) /* not the file in memory that it was read from */
        snprintf(err->where, sizeof err->where, "%s", s->members[at].name);
    if (is_its_own(code) && !s->options->strict) {
        smp_note(&s->report->input_notes, "a sample is left out: %s: %s", s->members[at].name, err->message);
        if (!s->left_out++)
            s->first = *err;
        *err = (smp_error){.code = SMP_OK};
        code = SMP_OK;
    } else {
        for (i = first; !code && i < end; i++)
            code = put_member(s, &s->members[i], err);
        s->done += !code;
    }
    for (i = first; i < end; i++)
        free_member(&s->members[i]);
    return code;
}

static smp_code do_samples(shard *s, smp_error *err)
{
    for (size_t i = 0, end; i < s->count; i = end) {
        const char *name = s->members[i].name;
        const size_t length = key(name);
        end = i + 1;
        while (end < s->count && key(s->members[end].name) == length && !strncmp(s->members[end].name, name, length))
            end++;
        SMP_TRY(do_sample(s, i, end, err));
    }
    if (s->left_out && !s->done) {
        *err = s->first;
        return err->code;
    }
    return smp_tar_end(s->out, err);
}

smp_code smp_run_shard(const smp_run_request *request, const smp_shard_options *options, smp_run_report *report,
                       smp_error *err)
{
    const double began = smp_now();
    shard s = {.fd = -1, .run = *request, .report = report, .options = options};
    s.namer = smp_namer_for("", "{stem}.{ext}", options->extension, request->program);
    smp_code code = request->program->save_count
                        ? smp_fail(err, SMP_E_PIPE, "the pipeline saves files, which a tar file has no place for")
                        : smp_tar_file(request->input, &s.fd, err);
    code = code ? code : find_members(&s, err);
    code = code ? code : smp_output_open_as(request->output, &request->write.output, &s.out, err);
    code = code ? code : do_samples(&s, err);
    if (!code)
        code = smp_output_commit(s.out, err);
    else
        smp_output_abort(s.out);
    if (s.fd >= 0)
        close(s.fd);
    smp_namer_free(&s.namer);
    free(s.index);
    smp_hash_set_free(&s.names);
    smp_free(s.members);
    report->status = code;
    report->left_out = s.left_out;
    report->wall_seconds = smp_now() - began;
    if (code)
        snprintf(report->error, sizeof report->error, "%s", err->message);
    return code;
}
