/* Reads parts of a measurement: see part.h. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/version.h"
#include "report/measure/part.h"

static smp_code fail_damaged(const smp_part_reader *part, smp_error *err)
{
    if (part->record.no_memory)
        return smp_fail_memory(err, "a part of a measurement", part->record.size);
    smp_fail(err, SMP_E_DECODE, "the part is damaged near byte %llu", (unsigned long long)part->at);
    smp_hint(err, "measure its shard again");
    return smp_at(err, "%s", part->path);
}

static smp_code fail_cut(const smp_part_reader *part, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "the part is cut off after %llu bytes", (unsigned long long)part->size);
    smp_hint(err, "measure its shard again, or copy the file again");
    return smp_at(err, "%s", part->path);
}

/* ------------------------------------------------------------------------------------------------ bytes */

static smp_code read_piece(smp_part_reader *part, size_t want, smp_error *err)
{
    enum { PIECE = 1 << 14 /* bytes: of each part while parts are merged */ };
    const size_t size = (size_t)smp_min_u64(smp_max_u64(want, PIECE), part->size - part->at);
    SMP_NEED(smp_grow(&part->buffer, &part->capacity, size, 1), "a part of a measurement", size, err);
    const int fd = open(part->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : 1;
    part->held_at = part->at;
    for (part->held = 0; got > 0 && part->held<size; part->held += got> 0 ? (size_t)got : 0)
        got = pread(fd, part->buffer + part->held, size - part->held, (off_t)(part->at + part->held));
    const int failed = got < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (!failed)
        return part->held < size ? fail_cut(part, err) : SMP_OK;
    smp_fail(err, SMP_E_READ, "cannot read: %s", strerror(failed));
    return smp_at(err, "%s", part->path);
}

/* The next `want` bytes, which must be there. */
static smp_code peek(smp_part_reader *part, size_t want, const uint8_t **bytes, smp_error *err)
{
    smp_code code = SMP_OK;
    if (want > part->size - part->at)
        return fail_cut(part, err);
    if (part->at < part->held_at || part->at - part->held_at > part->held ||
        want > part->held - (size_t)(part->at - part->held_at))
        code = read_piece(part, want, err);
    *bytes = code ? NULL : part->buffer + (part->at - part->held_at);
    return code;
}

static uint64_t number_at(const uint8_t *bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v |= (uint64_t)bytes[i] << 8 * i;
    return v;
}

static smp_code next_record(smp_part_reader *part, int *kind, smp_error *err)
{
    const uint8_t *bytes;
    SMP_TRY(peek(part, SMP_PART_FRAME, &bytes, err));
    const uint64_t length = number_at(bytes), hash = number_at(bytes + 8),
                   left = part->size - part->at - SMP_PART_FRAME;
    if (length < 1 || length > SIZE_MAX / 2)
        return fail_damaged(part, err);
    if (length > left)
        return fail_cut(part, err);
    SMP_TRY(peek(part, SMP_PART_FRAME + (size_t)length, &bytes, err));
    smp_hash found = smp_hash_start();
    smp_hash_add(&found, bytes + SMP_PART_FRAME, (size_t)length);
    if (found.a != hash)
        return fail_damaged(part, err);
    *kind = bytes[SMP_PART_FRAME];
    part->record = (smp_unpacker){.data = bytes + SMP_PART_FRAME + 1, .size = (size_t)length - 1};
    part->at += SMP_PART_FRAME + length;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ the head */

static smp_hash unpack_hash(smp_unpacker *from)
{
    const uint64_t a = smp_unpack_uint(from);
    return (smp_hash){a, smp_unpack_uint(from)};
}

static smp_code read_head(smp_part_reader *part, smp_error *err)
{
    const uint8_t *bytes;
    int kind = 0;
    SMP_TRY(part->size < SMP_PART_MAGIC_SIZE ? SMP_OK : peek(part, SMP_PART_MAGIC_SIZE, &bytes, err));
    if (part->size < SMP_PART_MAGIC_SIZE || memcmp(bytes, SMP_PART_MAGIC, SMP_PART_MAGIC_SIZE) != 0) {
        smp_fail(err, SMP_E_DECODE, "this is not a part of a measurement");
        smp_hint(err, "measure P.pipe DIR --shard 1/4 --partial 1.part writes one");
        return smp_at(err, "%s", part->path);
    }
    part->at = SMP_PART_MAGIC_SIZE;
    SMP_TRY(next_record(part, &kind, err));
    enum { MOST_SHARDS = 1 << 30 };
    smp_unpacker *from = &part->record;
    smp_part_head *head = &part->head;
    char version[sizeof SMP_VERSION + 32];
    smp_unpack_text(from, version, sizeof version);
    if (kind == SMP_PART_HEAD && !from->failed && strcmp(version, SMP_VERSION) != 0) {
        smp_fail(err, SMP_E_DECODE, "the part was measured by smempipe %.40s, this is " SMP_VERSION, version);
        smp_hint(err, "measure and merge all parts with one version");
        return smp_at(err, "%s", part->path);
    }
    head->shard = (int64_t)smp_unpack_upto(from, MOST_SHARDS);
    head->shards = (int64_t)smp_unpack_upto(from, MOST_SHARDS);
    head->files = smp_unpack_uint(from);
    head->list = unpack_hash(from);
    head->work = unpack_hash(from);
    head->totals_only = smp_unpack_upto(from, 1);
    head->others = smp_unpack_copy(from);
    if (kind != SMP_PART_HEAD || from->failed || from->at < from->size || head->shard < 1 || head->shard > head->shards)
        return fail_damaged(part, err);
    part->first = part->at;
    return SMP_OK;
}

smp_code smp_part_open(const char *path, smp_part_reader *part, smp_error *err)
{
    struct stat status;
    *part = (smp_part_reader){.path = path};
    const bool there = stat(path, &status) == 0;
    if (!there || !S_ISREG(status.st_mode))
        return smp_fail(err, SMP_E_READ, "%s", there ? "this is not a file" : strerror(errno)), smp_at(err, "%s", path);
    part->size = (uint64_t)status.st_size;
    return read_head(part, err);
}

void smp_part_close(smp_part_reader *part)
{
    smp_free_all(part->buffer, part->head.others);
    *part = (smp_part_reader){0};
}

/* ------------------------------------------------------------------------------------------------ files */

static smp_shape unpack_shape(smp_unpacker *from)
{
    smp_shape shape = {.kind = (smp_kind)smp_unpack_upto(from, SMP_AUDIO)};
    shape.width = (int64_t)smp_unpack_upto(from, INT64_MAX);
    shape.height = (int64_t)smp_unpack_upto(from, INT64_MAX);
    shape.channels = (int)smp_unpack_upto(from, SMP_MAX_CHANNELS);
    shape.alpha = smp_unpack_upto(from, 1);
    shape.format = (smp_format)smp_unpack_upto(from, SMP_FORMATS - 1);
    shape.rate = smp_unpack_double(from);
    from->failed |= !shape.kind || !shape.channels || !(shape.rate >= 0);
    return shape;
}

/* A text that is printed as it is. */
static void unpack_word(smp_unpacker *from, char *text, size_t size)
{
    smp_unpack_text(from, text, size);
    for (const char *p = text; *p; p++)
        from->failed |= *p < ' ' || *p > '~';
}

static smp_code unpack_measurement(smp_unpacker *from, smp_measurement *measurement, int channels, smp_error *err)
{
    unpack_word(from, measurement->name, sizeof measurement->name);
    const int64_t channel = smp_unpack_int(from);
    const uint64_t kind = smp_unpack_upto(from, SMP_MEASUREMENT_KINDS - 1);
    from->failed |= channel < -1 || channel >= channels;
    measurement->channel = from->failed ? -1 : (int)channel;
    measurement->values = kind == SMP_MEASUREMENT_VALUES;
    if (kind == SMP_MEASUREMENT_WORD) {
        measurement->value = (double)NAN;
        unpack_word(from, measurement->text, sizeof measurement->text);
        from->failed |= !measurement->text[0];
        return SMP_OK;
    }
    if (kind == SMP_MEASUREMENT_NUMBER) {
        measurement->value = smp_unpack_double(from);
        return SMP_OK;
    }
    const size_t length = smp_unpack_count(from, sizeof(double));
    from->failed |= !length;
    if (from->failed)
        return SMP_OK;
    measurement->list = smp_alloc_array(length, sizeof(double));
    SMP_NEED(measurement->list, "a list of findings", (uint64_t)length * sizeof(double), err);
    measurement->list_len = length;
    for (size_t i = 0; i < length; i++)
        measurement->list[i] = smp_unpack_double(from);
    return SMP_OK;
}

static smp_code unpack_step(smp_unpacker *from, smp_step_report *step, smp_error *err)
{
    enum { LEAST = 4 /* bytes of a measurement, or more */ };
    smp_unpack_text(from, step->label, sizeof step->label);
    smp_unpack_text(from, step->name, sizeof step->name);
    step->in = unpack_shape(from);
    const size_t count = smp_unpack_count(from, LEAST);
    step->measurements.items = smp_alloc_array(count, sizeof *step->measurements.items);
    SMP_NEED(step->measurements.items, "findings", (uint64_t)count * sizeof *step->measurements.items, err);
    for (size_t i = 0; !from->failed && i < count; i++)
        SMP_TRY(
            unpack_measurement(from, &step->measurements.items[step->measurements.count++], step->in.channels, err));
    return SMP_OK;
}

static smp_code unpack_measured(smp_unpacker *from, smp_run_report *report, smp_error *err)
{
    enum { LEAST = 12 /* bytes of a step, or more */ };
    smp_notes *notes = &report->input_notes;
    notes->count = (int)smp_unpack_upto(from, SMP_MOST_NOTES);
    notes->more = (int)smp_unpack_upto(from, INT32_MAX);
    for (int i = 0; i < notes->count; i++)
        smp_unpack_text(from, notes->items[i], sizeof notes->items[i]);
    unpack_word(from, report->shape_in, sizeof report->shape_in);
    report->shape = unpack_shape(from);
    const size_t count = smp_unpack_count(from, LEAST);
    report->steps = smp_alloc_array(count, sizeof *report->steps);
    SMP_NEED(report->steps, "findings", (uint64_t)count * sizeof *report->steps, err);
    for (size_t i = 0; !from->failed && i < count; i++)
        SMP_TRY(unpack_step(from, &report->steps[report->step_count++], err));
    return SMP_OK;
}

static void unpack_failed(smp_unpacker *from, smp_run_report *report, smp_error *why)
{
    static const smp_code codes[] = {
#define X(name, status, text) name,
#include "base/error_list.def"
#undef X
    };
    why->code = codes[smp_unpack_upto(from, sizeof codes / sizeof codes[0] - 1)];
    smp_unpack_text(from, why->where, sizeof why->where);
    smp_unpack_text(from, why->message, sizeof why->message);
    smp_unpack_text(from, why->hint, sizeof why->hint);
    from->failed |= why->code == SMP_OK;
    report->status = why->code;
}

smp_code smp_part_report(smp_part_reader *part, smp_run_report *report, smp_error *why, smp_error *err)
{
    smp_unpacker *from = &part->record;
    *why = (smp_error){.code = SMP_OK};
    *report = (smp_run_report){.input = smp_unpack_copy(from)};
    if (smp_unpack_upto(from, 1))
        unpack_failed(from, report, why);
    else
        SMP_TRY(unpack_measured(from, report, err));
    if (from->failed || from->at < from->size)
        return fail_damaged(part, err);
    return SMP_OK;
}

void smp_part_report_free(smp_run_report *report)
{
    smp_free((char *)(uintptr_t)report->input);
    report->input = NULL;
    smp_run_report_free(report);
}

smp_code smp_part_next(smp_part_reader *part, bool *more, smp_error *err)
{
    int kind = 0;
    const smp_code code = next_record(part, &kind, err);
    *more = !code && kind == SMP_PART_FILE;
    if (*more)
        part->number = smp_unpack_uint(&part->record);
    return code;
}

/* ------------------------------------------------------------------------------------------------ checking */

typedef struct counts {
    uint64_t records, groups, failed;
} counts;

static smp_code check_file(smp_part_reader *part, counts *seen, smp_error *err)
{
    const uint64_t number = smp_unpack_uint(&part->record);
    smp_run_report report;
    smp_error why;
    smp_code code = smp_part_report(part, &report, &why, err);
    if (!code && (number >= part->head.files || seen->groups || (seen->records && number <= part->number)))
        code = fail_damaged(part, err);
    part->number = number;
    seen->records++;
    seen->failed += report.status != SMP_OK;
    smp_part_report_free(&report);
    return code;
}

static smp_code check_total(smp_part_reader *part, counts *seen, smp_totals *totals, smp_error *err)
{
    smp_total total;
    smp_code code = smp_total_unpack(&part->record, &total, err);
    seen->groups++;
    if (!code && (part->record.failed || part->record.at < part->record.size || total.first >= part->head.files)) {
        smp_free(total.partial);
        return fail_damaged(part, err);
    }
    return code ? code : smp_totals_join(totals, &total, err);
}

static smp_code check_end(smp_part_reader *part, const counts *seen, smp_error *err)
{
    smp_unpacker *from = &part->record;
    const uint64_t records = smp_unpack_uint(from), groups = smp_unpack_uint(from);
    part->done = smp_unpack_upto(from, part->head.files);
    part->failed = smp_unpack_upto(from, part->head.files - part->done);
    part->head.left_out = smp_unpack_uint(from);
    const bool whole = part->head.totals_only || records == part->done + part->failed;
    if (from->failed || from->at < from->size || part->at < part->size || records != seen->records ||
        groups != seen->groups || part->failed != seen->failed || !whole)
        return fail_damaged(part, err);
    return SMP_OK;
}

smp_code smp_part_check(smp_part_reader *part, smp_totals *totals, smp_error *err)
{
    counts seen = {0};
    int kind = 0;
    smp_code code = SMP_OK;
    part->at = part->first;
    while (!code && kind != SMP_PART_END) {
        code = next_record(part, &kind, err);
        if (code)
            break;
        code = kind == SMP_PART_FILE    ? check_file(part, &seen, err)
               : kind == SMP_PART_TOTAL ? check_total(part, &seen, totals, err)
               : kind == SMP_PART_END   ? check_end(part, &seen, err)
                                        : fail_damaged(part, err);
    }
    part->at = part->first;
    return code;
}
