/* One access on paper: the tables of `smempipe bank`. */

#include "cli/topics.h"
#include "commands/lab/bank_text.h"
#include "lab/report/bank_map.h"
#include "report/text.h"

enum { SHARED_LINES = 8, LARGEST_BLOCK = 227 * 1024 /* bytes of shared memory on 9.0 */ };

double smp_bank_ways(smp_bank_cost cost)
{
    return cost.ideal ? (double)cost.wavefronts / cost.ideal : 0;
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

char *smp_bank_verdict(char *text, size_t size, const smp_bank_study *study)
{
    smp_bank_cost cost = study->schedule.cost;
    if (!cost.wavefronts)
        snprintf(text, size, "no lane takes part");
    else if (cost.conflicts)
        snprintf(text, size, "%.3g-way bank conflict: %d wavefronts where %d would do", smp_bank_ways(cost),
                 cost.wavefronts, cost.ideal);
    else
        snprintf(text, size, "no bank conflict: %d wavefront%s", cost.wavefronts, plural(cost.wavefronts));
    return text;
}

/* ------------------------------------------------------------------------------------------------ lanes that share */

bool smp_bank_sharing_of(const smp_bank_study *study, int phase, int bank, smp_bank_sharing *out)
{
    *out = (smp_bank_sharing){.phase = phase, .bank = bank};
    int repeats = study->access.op == SMP_BANK_ATOMIC_FLOAT ? 2 : 1;
    for (int i = 0; i < study->schedule.count; i++) {
        const smp_bank_wavefront *wavefront = &study->schedule.wavefronts[i];
        uint32_t lanes = wavefront->cells[bank].lanes;
        if (wavefront->phase != phase || !lanes || wavefront->turn % repeats)
            continue;
        out->lanes[out->turns++] = lanes;
        out->all |= lanes;
    }
    return out->turns > 1;
}

int smp_bank_words_of(const smp_bank_study *study, const smp_bank_sharing *s, uint32_t words[SMP_WARP])
{
    int count = 0;
    for (int lane = 0; lane < SMP_WARP; lane++) {
        if (!(s->all >> lane & 1))
            continue;
        uint32_t begin = study->access.offset[lane] / SMP_BANK_BYTES;
        uint32_t end = (study->access.offset[lane] + (uint32_t)study->access.width - 1) / SMP_BANK_BYTES;
        for (uint32_t word = begin; word <= end && count < SMP_WARP; word++) {
            bool known = word % SMP_BANKS != (uint32_t)s->bank;
            for (int i = 0; i < count; i++)
                known = known || words[i] == word;
            if (!known)
                words[count++] = word;
        }
    }
    return count;
}

static void put_sharing(FILE *to, const smp_bank_study *study, const smp_bank_sharing *s, int last_bank)
{
    enum { MOST = 8 };
    char banks[24], lanes[120], list[160] = "";
    uint32_t words[SMP_WARP];
    int count = smp_bank_words_of(study, s, words), used = 0;
    snprintf(banks, sizeof banks, last_bank > s->bank ? "%d-%d" : "%d", s->bank, last_bank);
    smp_bank_lanes_text(lanes, sizeof lanes, s->all, " ");
    for (int i = 0; i < count && i < MOST; i++)
        used += snprintf(list + used, sizeof list - (size_t)used, " %u", words[i]);
    if (count > MOST)
        snprintf(list + used, sizeof list - (size_t)used, " ...");
    if (study->schedule.phases > 1)
        fprintf(to, "  phase %d  bank%s ", s->phase + 1, last_bank > s->bank ? "s" : "");
    else
        fprintf(to, "  bank%s ", last_bank > s->bank ? "s" : "");
    smp_text_column(to, banks, last_bank > s->bank ? 6 : 7);
    fputs(" lanes ", to);
    smp_text_column(to, lanes, 34);
    if (last_bank > s->bank)
        fprintf(to, "  %d turns\n", s->turns);
    else
        fprintf(to, "  word%s%s\n", plural(count), list);
}

static void put_shared(FILE *to, const smp_bank_study *study, const smp_paint *paint)
{
    int lines = 0, left_out = 0;
    smp_bank_sharing one, next;
    if (!study->schedule.cost.conflicts)
        return;
    for (int phase = 0; phase < study->schedule.phases; phase++)
        for (int bank = 0; bank < SMP_BANKS; bank++) {
            if (!smp_bank_sharing_of(study, phase, bank, &one))
                continue;
            int last = bank; /* wide accesses: neighbouring banks serve the same lanes */
            while (study->access.width > SMP_BANK_BYTES && last + 1 < SMP_BANKS &&
                   smp_bank_sharing_of(study, phase, last + 1, &next) && next.all == one.all && next.turns == one.turns)
                last++;
            if (!lines)
                fprintf(to, "\n%slanes that share a bank%s\n", paint->bold, paint->off);
            if (lines++ < SHARED_LINES)
                put_sharing(to, study, &one, last);
            else
                left_out++;
            bank = last;
        }
    if (left_out)
        fprintf(to, "  and %d more; --json lists all\n", left_out);
}

/* ------------------------------------------------------------------------------------------------ advice */

void smp_bank_array_text(char *text, size_t size, const smp_bank_study *study, int64_t pad)
{
    const smp_pattern *pattern = study->pattern;
    const smp_elements *e = &study->elements;
    static const char *const walks[] = {"", " row", " column", " diagonal", " antidiagonal"};
    int used = snprintf(text, size, "%s%s", pattern && pattern->type ? pattern->type : "",
                        pattern && pattern->type ? " " : "");
    for (int i = 0; i < e->dims && (size_t)used < size; i++)
        used +=
            snprintf(text + used, size - (size_t)used, "[%lld]", (long long)(e->dim[i] + (i == e->dims - 1 ? pad : 0)));
    if ((size_t)used < size)
        snprintf(text + used, size - (size_t)used, "%s", walks[pattern ? pattern->walk : SMP_WALK_INDEX]);
}

void smp_bank_swizzle_text(char *text, size_t size, const smp_bank_study *study, const smp_layout *layout)
{
    const smp_elements *e = &study->elements;
    int64_t mask = layout->mask, last_row = e->dims > 1 ? e->dim[e->dims - 2] - 1 : INT64_MAX / 64;
    char row[40], low[80];
    bool left = layout->shift < 0;
    if (e->dims == 1)
        snprintf(row, sizeof row, "i/%lld", (long long)(layout->period << (left ? 0 : layout->shift)));
    else if (layout->shift > 0)
        snprintf(row, sizeof row, "(r >> %d)", layout->shift);
    else
        snprintf(row, sizeof row, "r");
    mask = left ? mask >> -layout->shift : mask;
    last_row = left ? last_row : last_row >> layout->shift;
    if (last_row <= mask)
        snprintf(low, sizeof low, "%s", row);
    else
        snprintf(low, sizeof low, left ? "%s %% %lld" : "(%s %% %lld)", row, (long long)mask + 1);
    if (left)
        snprintf(text, size, "(%s * %d)", low, 1 << -layout->shift);
    else
        snprintf(text, size, "%s", low);
}

static int64_t rows_of(const smp_elements *e)
{
    int64_t rows = 1;
    for (int i = 0; i < e->dims - 1; i++)
        rows *= e->dim[i];
    return rows;
}

/* The other way through the array, in the same layout: a transpose writes rows and reads columns. */
static bool other_walk(const smp_bank_study *study, const smp_layout *layout, const char **name, smp_bank_cost *cost)
{
    const smp_pattern *pattern = study->pattern;
    if (!pattern || (pattern->walk != SMP_WALK_ROW && pattern->walk != SMP_WALK_COLUMN))
        return false;
    bool row = pattern->walk == SMP_WALK_COLUMN;
    smp_elements elements;
    smp_bank_access access = study->access;
    smp_elements_walk(row ? SMP_WALK_ROW : SMP_WALK_COLUMN, pattern->dim[0], pattern->dim[1], 0, &elements);
    access.active = elements.active;
    smp_elements_place(&elements, layout, access.width, access.offset);
    *cost = smp_bank_cost_of(&access);
    *name = row ? "a row" : "a column";
    return true;
}

static void put_cost(FILE *to, const smp_bank_study *study, smp_bank_cost cost, const smp_layout *layout)
{
    const char *other;
    smp_bank_cost other_cost;
    fprintf(to, "%d wavefront%s", cost.wavefronts, plural(cost.wavefronts));
    if (layout && other_walk(study, layout, &other, &other_cost)) {
        fprintf(to, "; %s: %d", other, other_cost.wavefronts);
        if (other_cost.conflicts)
            fprintf(to, ", not %d", other_cost.ideal);
    }
    fputc('\n', to);
}

enum { KIND = 9, PROPOSAL = 36, MEMORY = 13 };

static void put_proposal(FILE *to, const char *kind, const char *text, const char *memory)
{
    fprintf(to, "  %-*s", KIND, kind);
    smp_text_column(to, text, PROPOSAL);
    fprintf(to, "  %-*s", MEMORY, memory);
}

/* Prints how far pads go if none frees the access. */
static void put_best_pad(FILE *to, const smp_bank_study *study)
{
    const smp_advice *advice = &study->advice;
    char array[80];
    fprintf(to, "  %-*sno pad frees it", KIND, "pad");
    if (advice->best_pad.pad && study->elements.dims > 1) {
        smp_bank_array_text(array, sizeof array, study, advice->best_pad.pad);
        fprintf(to, "; the best, %s, leaves %d wavefronts", array, advice->best_pad_cost.wavefronts);
    }
    fputc('\n', to);
}

static void put_hint(FILE *to, const char *text)
{
    enum { INDENT = 2 };
    fprintf(to, "%*s", INDENT, "");
    smp_text_wrap(to, text, INDENT, INDENT);
}

static void put_proposals(FILE *to, const smp_bank_study *study)
{
    const smp_advice *advice = &study->advice;
    const smp_elements *e = &study->elements;
    char text[200], what[128];
    if (advice->better_stride) {
        snprintf(text, sizeof text, "%lld elements between lanes, not %lld", (long long)advice->better_stride,
                 (long long)advice->stride);
        put_proposal(to, "stride", text, "");
        put_cost(to, study, advice->stride_cost, NULL);
    }
    if (advice->pad.pad && e->dims > 1) {
        smp_bank_array_text(text, sizeof text, study, advice->pad.pad);
        snprintf(what, sizeof what, "+%lld bytes", (long long)(rows_of(e) * advice->pad.pad * study->access.width));
        put_proposal(to, "pad", text, what);
        put_cost(to, study, advice->pad_cost, &advice->pad);
    } else if (advice->pad.pad) {
        int64_t pad = advice->pad.pad;
        snprintf(text, sizeof text, pad == 1 ? "element i at i + i/%lld" : "element i at i + i/%lld*%lld",
                 (long long)advice->pad.period, (long long)pad);
        snprintf(what, sizeof what, "+%.3g %%", 100. * (double)pad / (double)advice->pad.period);
        put_proposal(to, "pad", text, what);
        put_cost(to, study, advice->pad_cost, NULL);
    }
    if (advice->swizzle.mask) {
        smp_bank_swizzle_text(what, sizeof what, study, &advice->swizzle);
        snprintf(text, sizeof text, e->dims > 1 ? "[r][c] at [r][c ^ %s]" : "element i at i ^ %s", what);
        put_proposal(to, "swizzle", text, "+0 bytes");
        put_cost(to, study, advice->swizzle_cost, &advice->swizzle);
    }
    if (advice->better_size) {
        snprintf(text, sizeof text, "elements of %d bytes, not %d", advice->better_size, e->size);
        snprintf(what, sizeof what, "+%.3g %%", 100. * (advice->better_size - e->size) / e->size);
        put_proposal(to, "struct", text, what);
        put_cost(to, study, advice->size_cost, NULL);
        put_hint(to, "Or keep an array for each member (a struct of arrays): lanes side by side.");
    }
    if (!advice->pad.pad && !advice->better_size)
        put_best_pad(to, study);
}

/* Tells why no layout can, if that is known. */
static void put_no_layout(FILE *to, const smp_bank_study *study)
{
    const smp_advice *advice = &study->advice;
    if (advice->least > study->schedule.cost.ideal && study->schedule.cost.wavefronts <= advice->least)
        smp_text_wrap(
            to,
            "  No pad or swizzle helps: lanes add to one address, one after the other. Add up in registers or "
            "with shuffles first, or keep several copies and add them in the end.",
            0, 2);
    else {
        put_best_pad(to, study);
        put_hint(to, "Nor does an XOR swizzle of its column by its row. Let neighbouring lanes access "
                     "neighbouring elements, or split the access.");
    }
}

static void put_advice(FILE *to, const smp_bank_study *study, const smp_paint *paint)
{
    const smp_advice *advice = &study->advice;
    if (!study->schedule.cost.conflicts)
        return;
    fprintf(to, "\n%sto avoid it%s\n", paint->bold, paint->off);
    if (study->pattern && study->pattern->random)
        put_hint(to,
                 "These addresses are random: a layout that frees one draw does nothing for the next. Fewer lanes at "
                 "once, or a copy for each warp, make conflicts rarer.");
    else if (study->access.op == SMP_BANK_ASYNC || study->access.op == SMP_BANK_ASYNC_L2)
        put_hint(to,
                 "Give rows in shared memory a pitch that keeps the offset which they have in the 128-byte lines of "
                 "global memory (docs/banks.md, section 8).");
    else if (advice->pad.pad || advice->swizzle.mask || advice->better_stride || advice->better_size)
        put_proposals(to, study);
    else
        put_no_layout(to, study);
}

/* ------------------------------------------------------------------------------------------------ the table */

static void put_heading(FILE *to, const smp_bank_study *study, const smp_paint *paint)
{
    char lanes[120];
    fprintf(to, "%s", paint->bold);
    smp_text_clean(to, study->name);
    fprintf(to, "%s\n%d-byte %s on compute capability %s: %d banks of %d bytes", paint->off, study->access.width,
            study->op_text, study->capability, SMP_BANKS, SMP_BANK_BYTES);
    if (study->access.active != UINT32_MAX)
        fprintf(to, "\nlanes %s", smp_bank_lanes_text(lanes, sizeof lanes, study->access.active, " "));
    fputs("\n\n", to);
}

void smp_bank_study_table(FILE *to, const smp_bank_study *study, bool color)
{
    smp_paint paint = smp_paint_for(color);
    smp_bank_cost cost = study->schedule.cost;
    char verdict[160];
    uint32_t end = 0;
    bool together = false;
    put_heading(to, study, &paint);
    fprintf(to, "%s%s%s", cost.conflicts ? paint.red : paint.green, smp_bank_verdict(verdict, sizeof verdict, study),
            paint.off);
    if (!cost.conflicts && study->schedule.phases > 1)
        fprintf(to, ", the least for %d bytes a lane", study->access.width);
    fputc('\n', to);
    if (!cost.wavefronts)
        return;
    fputc('\n', to);
    smp_bank_map_text(to, &study->access, color);
    for (int i = 0; i < study->schedule.count; i++)
        for (int bank = 0; bank < SMP_BANKS; bank++) {
            uint32_t lanes = study->schedule.wavefronts[i].cells[bank].lanes;
            together = together || (lanes & (lanes - 1));
        }
    fprintf(to, "%sA line is a wavefront, a number the lane that the bank serves%s.%s\n", paint.dim,
            together ? "; 4+: lane 4 and others, served together" : "", paint.off);
    put_shared(to, study, &paint);
    put_advice(to, study, &paint);
    if (study->access.op == SMP_BANK_ATOMIC_FLOAT)
        smp_text_wrap(
            to,
            "\nEach turn of a float atomic's loop takes two wavefronts, load and swap. The hardware's conflict "
            "counter reads 0 whatever they cost.",
            0, 0);
    for (int lane = 0; lane < SMP_WARP; lane++)
        if (study->access.active >> lane & 1 && study->access.offset[lane] + (uint32_t)study->access.width > end)
            end = study->access.offset[lane] + (uint32_t)study->access.width;
    if (end > LARGEST_BLOCK)
        fprintf(to, "\nThis reaches to byte %u; a block has at most 227 KiB (%d bytes) of shared memory, on 9.0.\n",
                end, LARGEST_BLOCK);
}

/* Describes in a few words what frees an access. */
static void freed_by(char *text, size_t size, const smp_bank_study *study)
{
    const smp_advice *advice = &study->advice;
    char what[128];
    if (!study->schedule.cost.conflicts)
        snprintf(text, size, "-");
    else if (study->pattern && study->pattern->random)
        snprintf(text, size, "(random)");
    else if (advice->better_stride)
        snprintf(text, size, "stride %lld", (long long)advice->better_stride);
    else if (advice->pad.pad && study->elements.dims > 1) {
        smp_bank_array_text(what, sizeof what, study, advice->pad.pad);
        snprintf(text, size, "%s", what);
    } else if (advice->pad.pad > 1)
        snprintf(text, size, "i + i/%lld*%lld", (long long)advice->pad.period, (long long)advice->pad.pad);
    else if (advice->pad.pad)
        snprintf(text, size, "i + i/%lld", (long long)advice->pad.period);
    else if (advice->swizzle.mask)
        snprintf(text, size, "an XOR swizzle");
    else if (advice->better_size)
        snprintf(text, size, "%d-byte elements", advice->better_size);
    else if (study->access.op >= SMP_BANK_ASYNC)
        snprintf(text, size, "another pitch");
    else
        snprintf(text, size, "no layout");
}

void smp_bank_comparison(FILE *to, const smp_bank_study *studies, size_t count, bool color)
{
    enum { PATTERN = 36 };
    smp_paint paint = smp_paint_for(color);
    fprintf(to, "%s on compute capability %s\n\n%s%-*s  %5s  %10s  %5s  %9s  %6s  %s%s\n", studies->op_text,
            studies->capability, paint.bold, PATTERN, "pattern", "bytes", "wavefronts", "least", "conflicts", "n-way",
            "freed by", paint.off);
    for (size_t i = 0; i < count; i++) {
        const smp_bank_study *study = &studies[i];
        smp_bank_cost cost = study->schedule.cost;
        char text[160];
        freed_by(text, sizeof text, study);
        smp_text_column(to, study->name, PATTERN);
        fprintf(to, "  %5d  %10d  %5d  %s%9d%s  %6.3g  %s\n", study->access.width, cost.wavefronts, cost.ideal,
                cost.conflicts ? paint.red : paint.green, cost.conflicts, paint.off, smp_bank_ways(cost), text);
    }
}

void smp_bank_explain(FILE *to)
{
    smp_text_between(to, smp_topic_banks, NULL, "\nPatterns (");
}
