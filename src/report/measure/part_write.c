/* Writes parts of a measurement: see part.h. */
#include "base/alloc.h"
#include "base/version.h"
#include "report/measure/part.h"

static void begin(smp_part_writer *writer, char kind)
{
    writer->record.size = 0;
    smp_pack_bytes(&writer->record, &kind, 1);
}

static smp_code end(smp_part_writer *writer, smp_error *err)
{
    const smp_packer *record = &writer->record;
    uint8_t frame[SMP_PART_FRAME];
    if (record->failed)
        return smp_fail_memory(err, "a part of a measurement", record->size);
    smp_hash hash = smp_hash_start();
    smp_hash_add(&hash, record->data, record->size);
    for (int i = 0; i < 8; i++) {
        frame[i] = (uint8_t)((uint64_t)record->size >> 8 * i);
        frame[8 + i] = (uint8_t)(hash.a >> 8 * i);
    }
    SMP_TRY(smp_output_write(writer->output, frame, sizeof frame, err));
    return smp_output_write(writer->output, record->data, record->size, err);
}

static void pack_hash(smp_packer *to, const smp_hash *hash)
{
    smp_pack_uint(to, hash->a);
    smp_pack_uint(to, hash->b);
}

smp_code smp_part_create(const char *path, bool force, const char *const *inputs, const smp_part_head *head,
                         smp_part_writer *writer, smp_error *err)
{
    *writer = (smp_part_writer){.totals_only = head->totals_only, .left_out = head->left_out};
    SMP_TRY(smp_output_open(path, force, inputs, &writer->output, err));
    SMP_TRY(smp_output_write(writer->output, SMP_PART_MAGIC, SMP_PART_MAGIC_SIZE, err));
    smp_packer *to = &writer->record;
    begin(writer, SMP_PART_HEAD);
    smp_pack_text(to, SMP_VERSION);
    smp_pack_uint(to, (uint64_t)head->shard);
    smp_pack_uint(to, (uint64_t)head->shards);
    smp_pack_uint(to, head->files);
    pack_hash(to, &head->list);
    pack_hash(to, &head->work);
    smp_pack_uint(to, head->totals_only);
    smp_pack_text(to, head->others ? head->others : "");
    return end(writer, err);
}

static void pack_shape(smp_packer *to, const smp_shape *shape)
{
    smp_pack_uint(to, (uint64_t)shape->kind);
    smp_pack_uint(to, (uint64_t)shape->width);
    smp_pack_uint(to, (uint64_t)shape->height);
    smp_pack_uint(to, (uint64_t)shape->channels);
    smp_pack_uint(to, shape->alpha);
    smp_pack_uint(to, (uint64_t)shape->format);
    smp_pack_double(to, shape->rate);
}

static void pack_measurement(smp_packer *to, const smp_measurement *measurement)
{
    smp_pack_text(to, measurement->name);
    smp_pack_int(to, measurement->channel);
    smp_pack_uint(to, measurement->text[0]  ? SMP_MEASUREMENT_WORD
                      : !measurement->list  ? SMP_MEASUREMENT_NUMBER
                      : measurement->values ? SMP_MEASUREMENT_VALUES
                                            : SMP_MEASUREMENT_COUNTS);
    if (measurement->text[0]) {
        smp_pack_text(to, measurement->text);
        return;
    }
    if (!measurement->list) {
        smp_pack_double(to, measurement->value);
        return;
    }
    smp_pack_uint(to, measurement->list_len);
    for (size_t i = 0; i < measurement->list_len; i++)
        smp_pack_double(to, measurement->list[i]);
}

static void pack_steps(smp_packer *to, const smp_run_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->step_count; i++)
        count += report->steps[i].measurements.count > 0;
    smp_pack_uint(to, count);
    for (size_t i = 0; i < report->step_count; i++) {
        const smp_step_report *step = &report->steps[i];
        if (!step->measurements.count)
            continue;
        smp_pack_text(to, step->label);
        smp_pack_text(to, step->name);
        pack_shape(to, &step->in);
        smp_pack_uint(to, step->measurements.count);
        for (size_t k = 0; k < step->measurements.count; k++)
            pack_measurement(to, &step->measurements.items[k]);
    }
}

smp_code smp_part_add(smp_part_writer *writer, uint64_t number, const smp_run_report *report, const smp_error *why,
                      smp_error *err)
{
    const smp_notes *notes = &report->input_notes;
    const bool failed = report->status != SMP_OK;
    writer->done += !failed;
    writer->failed += failed;
    if (writer->totals_only && !failed && !notes->count && !notes->more)
        return SMP_OK; /* there is nothing to be said of it */
    smp_packer *to = &writer->record;
    begin(writer, SMP_PART_FILE);
    smp_pack_uint(to, number);
    smp_pack_text(to, report->input);
    smp_pack_uint(to, failed);
    if (failed) {
        smp_pack_uint(to, why->code);
        smp_pack_text(to, why->where);
        smp_pack_text(to, why->message);
        smp_pack_text(to, why->hint);
    } else {
        smp_pack_uint(to, (uint64_t)notes->count);
        smp_pack_uint(to, (uint64_t)notes->more);
        for (int i = 0; i < notes->count; i++)
            smp_pack_text(to, notes->items[i]);
        smp_pack_text(to, report->shape_in);
        pack_shape(to, &report->shape);
        if (writer->totals_only)
            smp_pack_uint(to, 0);
        else
            pack_steps(to, report);
    }
    writer->files++;
    return end(writer, err);
}

smp_code smp_part_commit(smp_part_writer *writer, const smp_totals *totals, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < totals->count; i++) {
        begin(writer, SMP_PART_TOTAL);
        smp_total_pack(&totals->items[i], &writer->record);
        code = end(writer, err);
    }
    if (!code) {
        begin(writer, SMP_PART_END);
        smp_pack_uint(&writer->record, writer->files);
        smp_pack_uint(&writer->record, totals->count);
        smp_pack_uint(&writer->record, writer->done);
        smp_pack_uint(&writer->record, writer->failed);
        smp_pack_uint(&writer->record, writer->left_out);
        code = end(writer, err);
    }
    if (!code) {
        code = smp_output_commit(writer->output, err);
        writer->output = NULL;
    }
    return code;
}

void smp_part_abort(smp_part_writer *writer)
{
    smp_output_abort(writer->output);
    smp_free(writer->record.data);
    *writer = (smp_part_writer){0};
}
