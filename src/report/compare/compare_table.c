/* The comparison on a terminal: for every step a block of times and a block of shared-memory counts. They are separate
 * because on a CPU they are of different kernels. */
#include <string.h>

#include "lab/report/lab.h"
#include "report/compare/compare.h"
#include "report/text.h"

enum {
    NAME = 12,
    CHECK = 5,
    TIME = 10,
    QUARTILES = 20,
    RATE = 8,
    SHARE = 6,
    TIMES = 7,
    SOURCE = 6,
    COUNT = 13,
    WAYS = 7,
    LABEL = 44,
    PREDICTED = 18,
    INTERVAL = 16
};

static void megabytes(char *text, size_t size, double bytes)
{
    snprintf(text, size,
             bytes < 9.95e6    ? "%.2g MB"
             : bytes < 9.995e8 ? "%.0f MB"
                               : "%.3g GB",
             bytes < 9.995e8 ? bytes / 1e6 : bytes / 1e9);
}

/* Two blanks and the rest of a line. */
static void put_rest(FILE *to, const char *text, int used)
{
    int room = SMP_TEXT_WIDTH - used - 2, columns = (int)smp_text_columns(text);
    fputs("  ", to);
    smp_text_column(to, text, columns < room ? columns : room);
}

/* ------------------------------------------------------------------------------------------------ times */

static void put_times_head(FILE *to, const smp_compare *compare, const char *unit, const smp_paint *paint)
{
    char time[24], quartiles[32];
    snprintf(time, sizeof time, "median %s", unit);
    snprintf(quartiles, sizeof quartiles, "quartiles %s", unit);
    fprintf(to, "%s  ", paint->bold);
    smp_text_column(to, compare->device.kind, NAME);
    smp_text_cell(to, "check", CHECK);
    smp_text_cell(to, time, TIME);
    smp_text_cell(to, quartiles, QUARTILES);
    smp_text_cell(to, "GB/s", RATE);
    smp_text_cell(to, "% copy", SHARE);
    smp_text_cell(to, "% peak", SHARE);
    smp_text_cell(to, "x naive", TIMES);
    smp_text_cell(to, "verdict", TIMES);
    fprintf(to, "%s\n", paint->off);
}

static const char *verdict_colour(smp_verdict verdict, const smp_paint *paint)
{
    return verdict == SMP_VERDICT_FASTER ? paint->green : verdict == SMP_VERDICT_SLOWER ? paint->yellow : "";
}

static void put_times(FILE *to, const smp_compare *compare, const smp_compare_step *step,
                      const smp_compare_variant *variant, double unit, const smp_paint *paint)
{
    char text[200];
    bool wrong = variant->check == SMP_CHECK_WRONG, timed = variant->sample_count > 0;
    fputs("  ", to);
    smp_text_column(to, variant->name, NAME);
    if (wrong)
        fputs(paint->red, to);
    smp_text_cell(to, wrong ? "WRONG" : variant->check == SMP_CHECK_RIGHT ? "right" : "-", CHECK);
    if (!timed) {
        if (wrong)
            snprintf(text, sizeof text, "not timed: %s", variant->wrong);
        else if (variant->same_as)
            snprintf(text, sizeof text, "here the same as %s", variant->same_as);
        else
            snprintf(text, sizeof text, "%s", variant->why);
        smp_text_cell(to, "-", TIME);
        put_rest(to, text, 2 + NAME + 2 + CHECK + 2 + TIME);
        fprintf(to, "%s\n", wrong ? paint->off : "");
        return;
    }
    smp_text_number(to, TIME, "%.4g", variant->time.median / unit, true);
    snprintf(text, sizeof text, "%.4g .. %.4g", variant->time.low / unit, variant->time.high / unit);
    smp_text_cell(to, text, QUARTILES);
    smp_text_number(to, RATE, "%.4g", smp_compare_gbs(step, variant), true);
    if (compare->copy_gbs > 0 && smp_compare_copy_range(compare, step, variant).noisy)
        smp_text_cell(to, "noisy", SHARE);
    else
        smp_text_number(to, SHARE, "%.0f", 100 * smp_compare_of_copy(compare, step, variant), compare->copy_gbs > 0);
    smp_text_number(to, SHARE, "%.0f", 100 * smp_compare_of_peak(compare, step, variant), compare->device.peak_gbs > 0);
    double times = smp_compare_speedup(step, variant);
    smp_text_number(to, TIMES, times < 99.95 ? "%.2f" : "%.0f", times, times > 0);
    fputs(verdict_colour(variant->verdict, paint), to);
    smp_text_cell(to, variant->verdict == SMP_VERDICT_BASE ? "-" : smp_verdict_name(variant->verdict), TIMES);
    fprintf(to, "%s\n", verdict_colour(variant->verdict, paint)[0] ? paint->off : "");
}

static void put_times_block(FILE *to, const smp_compare *compare, const smp_compare_step *step, const smp_paint *paint)
{
    bool some = false;
    for (size_t i = 0; i < step->variant_count; i++)
        some = some || step->variants[i].check != SMP_CHECK_NONE;
    if (!some)
        return;
    bool small = false;
    for (size_t i = step->variant_count; i-- > 0;) /* by the first one that was timed */
        if (step->variants[i].sample_count)
            small = step->variants[i].time.median < 1e-4;
    put_times_head(to, compare, small ? "us" : "ms", paint);
    for (size_t i = 0; i < step->variant_count; i++)
        put_times(to, compare, step, &step->variants[i], small ? 1e-6 : 1e-3, paint);
}

/* ------------------------------------------------------------------------------------------------ predictions */

/* Writes three digits, or more in front of the point. */
static const char *digits(char *text, size_t size, double value)
{
    const double most = 99.95;
    snprintf(text, size, value < most ? "%.3g" : "%.0f", value);
    return text;
}

static void put_predicted(FILE *to, const smp_compare *compare, const smp_compare_step *step,
                          const smp_compare_variant *variant, double unit)
{
    const smp_compare_predicted *p = &variant->predicted;
    const double gbs = smp_compare_predicted_gbs(step, variant), times = smp_compare_predicted_speedup(step, variant),
                 measured = smp_compare_measured_us(compare, variant);
    char interval[44], a[20], b[20];
    fputs("  ", to);
    smp_text_column(to, variant->name, PREDICTED);
    if (!(p->us > 0)) {
        smp_text_cell(to, "-", TIME);
        put_rest(to, p->why, 2 + PREDICTED + 2 + TIME);
        fputc('\n', to);
        return;
    }
    smp_text_cell(to, digits(a, sizeof a, p->us / unit), TIME);
    snprintf(interval, sizeof interval, "%s .. %s", digits(a, sizeof a, p->low_us / unit),
             digits(b, sizeof b, p->high_us / unit));
    smp_text_cell(to, interval, INTERVAL);
    if (compare->predicted_here) { /* rates stand with the measured times */
        smp_text_cell(to, measured > 0 ? digits(a, sizeof a, measured / unit) : "-", RATE);
        smp_text_number(to, SHARE, "%+.0f %%", 100 * (p->us / measured - 1), measured > 0);
    } else {
        smp_text_cell(to, digits(a, sizeof a, gbs), RATE);
        smp_text_number(to, SHARE, "%.0f", 100 * gbs / compare->predicted_copy_gbs, true);
    }
    smp_text_number(to, TIMES, times < 99.95 ? "%.2f" : "%.0f", times, times > 0);
    fprintf(to, "  %s\n", p->bound);
}

static void put_predicted_block(FILE *to, const smp_compare *compare, const smp_compare_step *step,
                                const smp_paint *paint)
{
    enum { US = 1000 }; /* of a ms */
    double longest = 0;
    char title[32];
    for (size_t i = 0; i < step->variant_count; i++)
        longest = step->variants[i].predicted.us > longest ? step->variants[i].predicted.us : longest;
    if (!(longest > 0))
        return;
    snprintf(title, sizeof title, "predicted %s", compare->predicted_title);
    fprintf(to, "%s  ", paint->bold);
    smp_text_column(to, title, PREDICTED);
    smp_text_cell(to, longest < US ? "us" : "ms", TIME);
    smp_text_cell(to, "interval", INTERVAL);
    smp_text_cell(to, compare->predicted_here ? "measured" : "GB/s", RATE);
    smp_text_cell(to, compare->predicted_here ? "error" : "% copy", SHARE);
    smp_text_cell(to, "x naive", TIMES);
    fprintf(to, "  bound by%s\n", paint->off);
    for (size_t i = 0; i < step->variant_count; i++)
        put_predicted(to, compare, step, &step->variants[i], longest < US ? 1 : US);
}

/* How far predictions are to be believed, or why there are none. */
static void put_predictions_note(FILE *to, const smp_compare *compare)
{
    char text[300];
    if (smp_compare_any_predicted(compare)) {
        smp_lab_time_error(compare->predicted_gpu, text, sizeof text);
        fputs("predicted: ", to);
        smp_text_wrap(to, text, 11, 2);
        if (compare->predicted_here)
            smp_text_wrap(
                to,
                "measured beside predicted: events around a step's launches add some 4 us to the kernels' own "
                "time, which is what is predicted",
                0, 2);
    } else if (compare->no_predictions[0]) {
        fputs("no predicted times: ", to);
        smp_text_wrap(to, compare->no_predictions, 20, 2);
    }
}

/* ------------------------------------------------------------------------------------------------ counts */

static void put_count(FILE *to, const char *name, smp_count_kind kind, const smp_compare_count *count,
                      const smp_paint *paint)
{
    const smp_shared_count *total = &count->total;
    uint64_t conflicts = total->wavefronts - total->ideal;
    fputs("  ", to);
    smp_text_column(to, name, NAME);
    smp_text_cell(to, smp_count_kind_name(kind), SOURCE);
    if (!count->known || !total->instructions) {
        put_rest(to, count->known ? "uses no shared memory" : count->why, 2 + NAME + 2 + SOURCE);
        fputc('\n', to);
        return;
    }
    smp_text_number(to, COUNT, "%.0f", (double)total->instructions, true);
    smp_text_number(to, COUNT, "%.0f", (double)total->wavefronts, true);
    smp_text_number(to, COUNT, "%.0f", (double)total->ideal, true);
    if (conflicts)
        fputs(paint->yellow, to);
    smp_text_number(to, COUNT, "%.0f", (double)conflicts, true);
    smp_text_number(to, WAYS, "%.2f", smp_compare_ways(total), true);
    fprintf(to, "%s\n", conflicts ? paint->off : "");
}

/* The access sites of a variant's kernels (operation, bytes a lane), below its counts. */
static void put_sites(FILE *to, const smp_compare_variant *variant, const smp_paint *paint)
{
    for (size_t i = 0; i < variant->site_count; i++) {
        const smp_compare_site *site = &variant->sites[i];
        uint64_t conflicts = site->count.wavefronts - site->count.ideal;
        char text[160];
        snprintf(text, sizeof text, "%s %s %d", site->where, smp_shared_op_name(site->op), site->width);
        fprintf(to, "   %s", paint->dim);
        smp_text_column(to, text, NAME + SOURCE + COUNT + 3);
        smp_text_number(to, COUNT, "%.0f", (double)site->count.wavefronts, true);
        smp_text_number(to, COUNT, "%.0f", (double)site->count.ideal, true);
        smp_text_number(to, COUNT, "%.0f", (double)conflicts, true);
        smp_text_number(to, WAYS, "%.2f", smp_compare_ways(&site->count), true);
        fprintf(to, "%s\n", paint->off);
    }
}

static void put_counts_block(FILE *to, const smp_compare_step *step, bool sites, const smp_paint *paint)
{
    bool some = false;
    for (size_t i = 0; i < step->variant_count; i++)
        for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
            some = some || step->variants[i].counts[kind].known || step->variants[i].counts[kind].why[0];
    if (!some)
        return;
    fprintf(to, "%s  ", paint->bold);
    smp_text_column(to, "on a GPU", NAME);
    smp_text_cell(to, "source", SOURCE);
    smp_text_cell(to, "shared instr", COUNT);
    smp_text_cell(to, "wavefronts", COUNT);
    smp_text_cell(to, "ideal", COUNT);
    smp_text_cell(to, "conflicts", COUNT);
    smp_text_cell(to, "n-way", WAYS);
    fprintf(to, "%s\n", paint->off);
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        for (int kind = 0; kind < SMP_COUNT_KINDS; kind++) {
            const smp_compare_count *count = &variant->counts[kind];
            if (count->known || (kind == SMP_COUNT_MODEL && count->why[0]))
                put_count(to, kind == SMP_COUNT_MODEL ? variant->name : "", (smp_count_kind)kind, count, paint);
        }
        if (sites)
            put_sites(to, variant, paint);
    }
}

/* ------------------------------------------------------------------------------------------------ the rest */

/* Prints which code the model counted. */
static void put_code(FILE *to, const smp_compare *compare)
{
    char code[120], text[300];
    const bool sass = smp_compare_code(compare, code, sizeof code)[0] == 'S';
    snprintf(text, sizeof text, "of the GPU kernels%s%s, for %s",
             !code[0] ? ""
             : sass   ? "' "
                      : " ",
             code, compare->counter_device);
    fputs("counts: ", to);
    smp_text_wrap(to, text, 8, 2);
    for (const char *line = compare->model_notes; *line; line += strcspn(line, "\n") + 1) {
        char note[sizeof compare->model_notes];
        snprintf(note, sizeof note, "%.*s", (int)strcspn(line, "\n"), line);
        fputs("not SASS: ", to);
        smp_text_wrap(to, note, 10, 2);
    }
}

static void put_head(FILE *to, const smp_compare *compare, const smp_paint *paint)
{
    const smp_device_info *device = &compare->device;
    fputs(paint->bold, to);
    if (compare->pipe) {
        smp_text_clean(to, compare->pipe);
        fputs(" on ", to);
    }
    smp_text_clean(to, compare->input ? compare->input : "?");
    fprintf(to, " (%s)%s\n%s: %s", compare->input_type, paint->off, device->kind, device->name);
    if (!device->compute_major)
        fprintf(to, ", %d thread%s", compare->threads, compare->threads == 1 ? "" : "s");
    if (compare->sm_clock)
        fprintf(to, ", %d MHz", compare->sm_clock);
    fputc('\n', to);
    if (compare->device_note[0])
        fprintf(to, "%s\n", compare->device_note);
    if (compare->copy_gbs > 0)
        fprintf(to, "copy here: %.4g GB/s%s\n", compare->copy_gbs,
                compare->hot ? "; data stays in the caches" : "; caches are emptied before each sample");
    if (compare->counter_device[0])
        put_code(to, compare);
    put_predictions_note(to, compare);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
        if (compare->source_note[kind][0]) {
            char note[sizeof compare->source_note[kind]] = "";
            fprintf(to, "no %s counts: ", smp_count_kind_name((smp_count_kind)kind));
            for (size_t i = 0; i + 1 < sizeof note && compare->source_note[kind][i]; i++)
                note[i] = (unsigned char)compare->source_note[kind][i] < 0x20 ? '?' : compare->source_note[kind][i];
            smp_text_wrap(to, note, 16, 2);
        }
}

/* A picture that does not fill a GPU a few times says little about its kernels: starting them takes longer. */
static void put_waves(FILE *to, const smp_compare *compare, const smp_compare_step *step, const smp_paint *paint)
{
    const int64_t enlarge = smp_compare_enlarge(compare, step);
    if (enlarge)
        fprintf(to, "  %stoo small to fill this GPU: %.2g waves of blocks; --enlarge %lld repeats the picture%s\n",
                paint->yellow, smp_compare_waves(compare, step), (long long)enlarge, paint->off);
}

static void put_remarks(FILE *to, const smp_compare *compare, const smp_compare_step *step, const smp_paint *paint)
{
    char crop[120];
    if (step->timed_out)
        fprintf(to, "  %sfewer samples than asked for: the time limit had long passed%s\n", paint->dim, paint->off);
    if (step->fits_cache && compare->hot)
        fprintf(to, "  %sall of its data fits in the cache, so it can be faster than a copy%s\n", paint->dim,
                paint->off);
    put_waves(to, compare, step, paint);
    if (step->base && strcmp(step->base, step->variants[0].name) != 0)
        fprintf(to, "  %s%s was left out: the others are held against %s%s\n", paint->yellow, step->variants[0].name,
                step->base, paint->off);
    if (smp_compare_crop(step, crop, sizeof crop)[0])
        fprintf(to, "  %scounts are of a crop%s: %s%s\n", paint->yellow,
                compare->predicted_gpu[0] ? ", so no time is predicted" : "", crop, paint->off);
    for (size_t i = 0; i < step->variant_count; i++) {
        const smp_compare_variant *variant = &step->variants[i];
        const smp_compare_count *sass = &variant->counts[SMP_COUNT_SASS];
        if (variant->counts[SMP_COUNT_MODEL].faults)
            fprintf(to, "  %s%s: the trace saw %llu mistakes (races, uninitialised reads)%s\n", paint->red,
                    variant->name, (unsigned long long)variant->counts[SMP_COUNT_MODEL].faults, paint->off);
        if (sass->known && sass->why[0]) {
            fprintf(to, "  %s%s: model and sass disagree%s\n    ", paint->red, variant->name, paint->off);
            smp_text_wrap(to, sass->why, 4, 4);
        }
    }
}

static void put_step(FILE *to, const smp_compare *compare, const smp_compare_step *step, bool sites,
                     const smp_paint *paint)
{
    char size[24], types[128];
    megabytes(size, sizeof size, (double)step->bytes);
    snprintf(types, sizeof types, "%s%s%s, %s", step->type_in, step->type_out[0] ? " -> " : "", step->type_out, size);
    size_t label = smp_text_columns(step->label), all = label + 2 + smp_text_columns(types) + 4;
    fprintf(to, "\n%s%2d  ", paint->bold, step->number);
    if (all > SMP_TEXT_WIDTH) { /* two lines */
        smp_text_column(to, step->label, label > SMP_TEXT_WIDTH - 4 ? SMP_TEXT_WIDTH - 4 : (int)label);
        fprintf(to, "%s\n    ", paint->off);
    } else {
        smp_text_column(to, step->label, (int)label);
        fprintf(to, "%s  ", paint->off);
    }
    fprintf(to, "%s%s%s\n", paint->dim, types, paint->off);
    put_times_block(to, compare, step, paint);
    put_predicted_block(to, compare, step, paint);
    put_counts_block(to, step, sites, paint);
    put_remarks(to, compare, step, paint);
}

void smp_compare_table(FILE *to, const smp_compare *compare, bool sites, bool color)
{
    smp_paint paint = smp_paint_for(color);
    put_head(to, compare, &paint);
    for (size_t i = 0; i < compare->step_count; i++)
        put_step(to, compare, &compare->steps[i], sites, &paint);
    if (!compare->step_count)
        fputs("nothing to compare: no stage of the pipeline has anything to do on this input\n", to);
}

void smp_compare_explain(FILE *to)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"check",
         "right: the same bytes as naive, every one (for measuring stages: the same findings); memory is filled "
         "with other values before. WRONG variants are not timed."},
        {"median, quartiles",
         "of all samples of the whole step. Half of the samples lie between the quartiles. Variants "
         "take turns, and caches are emptied before each sample unless --hot."},
        {"GB/s",
         "bytes that must cross memory (inputs read once, output written once) by the median time, 1e9 a second"},
        {"% copy", "of the rate at which this device copies memory, measured at the end; noisy: the quartiles allow a "
                   "number and three times as much"},
        {"% peak", "of its datasheet's bandwidth; - where that is not known"},
        {"x naive", "how many times as fast as naive"},
        {"verdict", "faster or slower: the 95 % confidence intervals of the two medians do not overlap, and the "
                    "medians differ by 1 % or more. same: both intervals lie within 3 % of naive's median. unclear: "
                    "neither; take more samples (--time-limit)."},
        {"predicted",
         "what a model says that a GPU would take for the same launches, with an interval in which nine of ten times "
         "lie, and what bounds the longest launch; % copy is of that GPU's copy rate. It is not a measurement; on that "
         "GPU itself the measured median stands beside it, and how far the prediction is from that."},
        {"source",
         "model: computed from the addresses that the kernels touch in the emulator. sass: counted on the GPU, "
         "instruction by instruction. hw: the GPU's counters, which include arbitration with other traffic."},
        {"shared instr", "instructions on shared memory, one for each warp that executes one"},
        {"wavefronts", "what they take: a wavefront serves each of the 32 banks with one 4-byte word"},
        {"ideal", "what their widths alone need: a 16-byte access of a full warp is 4 wavefronts at best"},
        {"conflicts", "wavefronts beyond the ideal: lanes that want different words of one bank wait for each other"},
        {"n-way", "wavefronts / ideal; 1.00 is free of conflicts"},
    };
    enum { AT = 21 };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fputs("  ", to);
        smp_text_column(to, rows[i].name, AT - 4);
        fputs("  ", to);
        smp_text_wrap(to, rows[i].text, AT, AT);
    }
}
