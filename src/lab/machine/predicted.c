/* See predicted.h. */
#include "lab/machine/predicted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const char *const smp_time_reason_names[] = {
#define X(name, text) text,
    SMP_TIME_REASON_LIST(X)
#undef X
};
const char *const smp_time_resource_names[] = {
#define X(name, text) text,
    SMP_TIME_RESOURCE_LIST(X)
#undef X
};

static void free_items(smp_predictions *p)
{
    for (size_t i = 0; i < p->count; i++) {
        smp_free(p->items[i].lines);
        smp_free(p->items[i].instructions);
    }
    smp_free(p->items);
}

void smp_predictions_free(smp_predictions *p)
{
    if (!p)
        return;
    free_items(p);
    smp_free(p);
}

bool smp_predictions_add(smp_predictions *sum, smp_predictions *more)
{
    if (!smp_grow(&sum->items, &sum->capacity, sum->count + more->count, sizeof *sum->items))
        return false;
    if (more->count)
        memcpy(sum->items + sum->count, more->items, more->count * sizeof *sum->items);
    sum->count += more->count;
    more->count = 0;
    return true;
}

/* ------------------------------------------------------------------------------------------------ as text */

/* The numbers of a prediction, in their order in a record. */
enum { NUMBERS = 17 };
static void numbers_of(smp_predicted *p, double *to[NUMBERS])
{
    double *const all[NUMBERS] = {&p->clock_ghz,  &p->cycles,  &p->us,       &p->low_us,       &p->high_us,
                                  &p->occupancy,  &p->waves,   &p->tail,     &p->launch_share, &p->dram_read,
                                  &p->dram_write, &p->l2_read, &p->l2_write, &p->l1_hit,       &p->l2_hit,
                                  &p->imbalance,  &p->l1_read};
    memcpy(to, all, sizeof all);
}

static void write_doubles(FILE *to, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(to, "\t%.17g", values[i]);
}

static void write_lines(FILE *to, char letter, const smp_predicted_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const smp_predicted_line *l = &lines[i];
        fprintf(to, "%c\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32, letter, l->file, l->line, l->place);
        write_doubles(to, &l->share, 1);
        write_doubles(to, l->reasons, SMP_TIME_REASONS);
        fputc('\t', to);
        smp_result_put_text(to, l->text);
        fputc('\n', to);
    }
}

/* T: a launch; U: its resources; V: its reasons; L: a line; I: an instruction; W: a price; M: a mend; Q: an occupancy.
 */
static void write_one(FILE *to, const smp_predicted *given)
{
    smp_predicted p = *given;
    double *numbers[NUMBERS];
    numbers_of(&p, numbers);
    fprintf(to, "T\t%" PRIu32 "\t%s\t%s\t%s\t%" PRIu32 "\t%" PRIu32, p.order, p.gpu, p.refusal, p.bound, p.resident,
            p.simulated);
    for (int i = 0; i < NUMBERS; i++)
        write_doubles(to, numbers[i], 1);
    fputs("\nU", to);
    write_doubles(to, p.use, SMP_TIME_RESOURCES);
    fputs("\nV", to);
    write_doubles(to, p.reasons, SMP_TIME_REASONS);
    fputc('\n', to);
    write_lines(to, 'L', p.lines, p.line_count);
    write_lines(to, 'I', p.instructions, p.instruction_count);
    for (size_t i = 0; i < p.price_count; i++) {
        fprintf(to, "W\t%s", p.prices[i].what);
        write_doubles(to, &p.prices[i].us, 1);
        fputc('\n', to);
    }
    for (size_t i = 0; i < p.mend_count; i++) {
        const smp_predicted_mend *m = &p.mends[i];
        fprintf(to, "M\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%d\t%d", m->file, m->line, m->place,
                m->width, m->space, m->op);
        write_doubles(to, &m->us, 1);
        fputc('\n', to);
    }
    for (size_t i = 0; i < p.fit_count; i++) {
        const smp_predicted_fit *o = &p.fits[i];
        fprintf(to, "Q\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32, o->blocks, o->registers, o->shared);
        write_doubles(to, &o->us, 1);
        fputc('\n', to);
    }
}

void smp_predictions_write(FILE *to, const smp_predictions *p)
{
    for (size_t i = 0; i < p->count; i++)
        write_one(to, &p->items[i]);
}

static void read_doubles(char *const *fields, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = strtod(fields[i], NULL);
}

static uint32_t small(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

static bool read_launch(char *const *f, int count, smp_predictions *p)
{
    enum { FIRST = 7 };
    double *numbers[NUMBERS];
    if (count != FIRST + NUMBERS || !smp_grow(&p->items, &p->capacity, p->count + 1, sizeof *p->items))
        return false;
    smp_predicted *one = &p->items[p->count++];
    *one = (smp_predicted){.order = small(f[1]), .resident = small(f[5]), .simulated = small(f[6])};
    snprintf(one->gpu, sizeof one->gpu, "%s", f[2]);
    snprintf(one->refusal, sizeof one->refusal, "%s", f[3]);
    snprintf(one->bound, sizeof one->bound, "%s", f[4]);
    numbers_of(one, numbers);
    for (int i = 0; i < NUMBERS; i++)
        read_doubles(f + FIRST + i, numbers[i], 1);
    return true;
}

static bool read_line(char *const *f, int count, smp_predicted_line **lines, size_t *line_count, size_t *capacity)
{
    enum { FIRST = 5, TEXT = FIRST + SMP_TIME_REASONS };
    if (count != TEXT + 1 || !smp_grow(lines, capacity, *line_count + 1, sizeof **lines))
        return false;
    smp_predicted_line *l = *lines + (*line_count)++;
    *l = (smp_predicted_line){.file = small(f[1]), .line = small(f[2]), .place = small(f[3])};
    read_doubles(f + FIRST - 1, &l->share, 1);
    read_doubles(f + FIRST, l->reasons, SMP_TIME_REASONS);
    snprintf(l->text, sizeof l->text, "%s", f[TEXT]);
    return true;
}

static bool read_what_if(char *const *f, int count, smp_predicted *to)
{
    if (f[0][0] == 'M' && count == 8 && to->mend_count < SMP_PREDICTED_MENDS) {
        to->mends[to->mend_count++] = (smp_predicted_mend){.file = small(f[1]),
                                                           .line = small(f[2]),
                                                           .place = small(f[3]),
                                                           .width = small(f[4]),
                                                           .space = (uint8_t)small(f[5]),
                                                           .op = (uint8_t)small(f[6]),
                                                           .us = strtod(f[7], NULL)};
        return true;
    }
    if (f[0][0] != 'Q' || count != 5 || to->fit_count == SMP_PREDICTED_FITS)
        return false;
    to->fits[to->fit_count++] = (smp_predicted_fit){small(f[1]), small(f[2]), small(f[3]), strtod(f[4], NULL)};
    return true;
}

bool smp_predictions_read(char *const *f, int count, smp_predictions *p)
{
    if (f[0][0] == 'T')
        return read_launch(f, count, p);
    smp_predicted *last = p->count ? &p->items[p->count - 1] : NULL;
    if (!last)
        return false;
    if (f[0][0] == 'L')
        return read_line(f, count, &last->lines, &last->line_count, &last->line_capacity);
    if (f[0][0] == 'I')
        return read_line(f, count, &last->instructions, &last->instruction_count, &last->instruction_capacity);
    if (f[0][0] == 'U' && count == 1 + SMP_TIME_RESOURCES) {
        read_doubles(f + 1, last->use, SMP_TIME_RESOURCES);
        return true;
    }
    if (f[0][0] == 'V' && count == 1 + SMP_TIME_REASONS) {
        read_doubles(f + 1, last->reasons, SMP_TIME_REASONS);
        return true;
    }
    if (f[0][0] == 'M' || f[0][0] == 'Q')
        return read_what_if(f, count, last);
    if (f[0][0] != 'W' || count != 3 || last->price_count == SMP_PREDICTED_PRICES)
        return false;
    smp_predicted_price *price = &last->prices[last->price_count++];
    snprintf(price->what, sizeof price->what, "%s", f[1]);
    price->us = strtod(f[2], NULL);
    return true;
}
