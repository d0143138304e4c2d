/* Results in a file: a program under the lab's runtime library writes them, `smempipe kernel` of the same build reads
 * them. Structures lie there as in memory; what their pointers mean follows, in the order of the members.
 * Texts, counts and numbers that index are checked, for a program may have written where it should not. */
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/predicted.h"
#include "lab/machine/warp.h"

/* Before each result, and where a process begins and ends: "mpresult", "mp begin", "mp  ends". */
static const uint64_t result_mark = 0x746c75736572706d, begin_mark = 0x6e6967656220706d, end_mark = 0x73646e652020706d;

static void put(FILE *to, const void *items, size_t count, size_t size)
{
    if (count)
        fwrite(items, size, count, to);
}

static void put_text(FILE *to, const char *text)
{
    const size_t size = strlen(text);
    put(to, &size, 1, sizeof size);
    put(to, text, 1, size);
}

void smp_warp_result_write(FILE *to, const smp_warp_result *r)
{
    const smp_predictions none = {.count = 0}, *all = r->predictions ? r->predictions : &none;
    put(to, &result_mark, 1, sizeof result_mark);
    put(to, r, 1, sizeof *r);
    put_text(to, r->kernel);
    put_text(to, r->symbol);
    for (size_t i = 0; i < r->file_count; i++)
        put_text(to, r->files[i]);
    put(to, r->rows, r->row_count, sizeof *r->rows);
    put(to, r->findings, r->finding_count, sizeof *r->findings);
    put(to, r->arrays, r->array_count, sizeof *r->arrays);
    put(to, r->patterns.items, r->patterns.count, sizeof *r->patterns.items);
    for (int i = 0; i < SMP_WARP_STEPS; i++)
        put(to, r->steps[i].items, r->steps[i].count, sizeof *r->steps[i].items);
    put(to, &all->count, 1, sizeof all->count);
    put(to, all->items, all->count, sizeof *all->items);
    for (size_t i = 0; i < all->count; i++) {
        put(to, all->items[i].lines, all->items[i].line_count, sizeof *all->items[i].lines);
        put(to, all->items[i].instructions, all->items[i].instruction_count, sizeof *all->items[i].instructions);
    }
    fflush(to);
}

void smp_warp_process_write(FILE *to, bool ends)
{
    put(to, ends ? &end_mark : &begin_mark, 1, sizeof end_mark);
}

/* ------------------------------------------------------------------------------------------------ reading */

enum { MOST = 1 << 30 /* bytes of a file */, MOST_WIDTH = 16 /* bytes that a lane accesses */ };

/* The bytes that come. */
static size_t left(FILE *from)
{
    const off_t at = ftello(from), size = fseeko(from, 0, SEEK_END) ? at : ftello(from);
    return fseeko(from, at, SEEK_SET) || size < at ? 0 : (size_t)(size - at);
}

/* The items that come next; null: so many do not come, or there is no memory. */
static void *get(FILE *from, size_t count, size_t size)
{
    char *items = count <= left(from) / size ? smp_alloc_array(count + 1, size) : NULL; /* zeroes end a text */
    if (items && fread(items, size, count, from) == count)
        return items;
    smp_free(items);
    return NULL;
}

static char *get_text(FILE *from)
{
    size_t size;
    return fread(&size, sizeof size, 1, from) == 1 ? get(from, size, 1) : NULL;
}

#define END_TEXT(text)       ((text)[sizeof(text) - 1] = 0)
#define TRUTH(v)             (*(unsigned char *)&(v) = *(unsigned char *)&(v) != 0)
#define AT_MOST(type, v, to) ((v) = (type)((uint32_t)(v) % ((uint32_t)(to) + 1)))

static bool get_rows(FILE *from, size_t count, smp_warp_result *r)
{
    r->rows = get(from, count, sizeof *r->rows);
    for (; r->rows && r->row_count < count; r->row_count++) {
        smp_warp_row *row = &r->rows[r->row_count];
        AT_MOST(smp_warp_space, row->space, SMP_WARP_LOCAL);
        AT_MOST(smp_warp_op, row->op, SMP_WARP_COPY);
        AT_MOST(smp_bank_op, row->worst_op, SMP_BANK_ASYNC_L2);
        if (!row->width || row->width > MOST_WIDTH || (row->width & (row->width - 1)))
            row->worst_active = 0; /* banks serve no such access */
        for (int lane = 0; lane < SMP_WARP && row->worst_active; lane++)
            row->worst_offset[lane] &= ~(row->width - 1); /* and none across words */
        TRUTH(row->far);
        TRUTH(row->by_data);
        TRUTH(row->spill);
        TRUTH(row->repeats);
        END_TEXT(row->array);
        END_TEXT(row->instruction);
    }
    return r->rows != NULL;
}

static bool get_findings(FILE *from, size_t count, smp_warp_result *r)
{
    r->findings = get(from, count, sizeof *r->findings);
    for (; r->findings && r->finding_count < count; r->finding_count++) {
        AT_MOST(smp_warp_fault, r->findings[r->finding_count].fault, SMP_WARP_LEAK);
        END_TEXT(r->findings[r->finding_count].text);
    }
    return r->findings != NULL;
}

static bool get_patterns(FILE *from, size_t arrays, size_t count, smp_warp_result *r)
{
    smp_warp_pattern *items = NULL;
    r->arrays = get(from, arrays, sizeof *r->arrays);
    for (; r->arrays && r->array_count < arrays; r->array_count++) {
        END_TEXT(r->arrays[r->array_count].name);
        END_TEXT(r->arrays[r->array_count].tip);
        TRUTH(r->arrays[r->array_count].mixed);
        AT_MOST(uint8_t, r->arrays[r->array_count].whole, SMP_WARP_ROWS);
    }
    bool good = r->arrays && (items = get(from, count, sizeof *items));
    for (size_t i = 0; i < count && good; i++) {
        const uint8_t width = items[i].width;
        AT_MOST(uint8_t, items[i].op, SMP_BANK_ATOMIC_FLOAT);
        good = items[i].of < arrays && width && width <= MOST_WIDTH && !(width & (width - 1)) &&
               smp_warp_patterns_add(&r->patterns, &items[i]);
    }
    smp_free(items);
    return good;
}

static bool get_steps(FILE *from, size_t count, smp_warp_steps *steps)
{
    *steps = (smp_warp_steps){.items = get(from, count, sizeof *steps->items), .capacity = count};
    for (; steps->items && steps->count < count; steps->count++)
        END_TEXT(steps->items[steps->count].text);
    return steps->items != NULL;
}

static bool get_lines(FILE *from, smp_predicted_line **lines, size_t count)
{
    *lines = get(from, count, sizeof **lines);
    for (size_t i = 0; *lines && i < count; i++)
        END_TEXT((*lines)[i].text);
    return *lines != NULL;
}

static bool get_predictions(FILE *from, smp_warp_result *r)
{
    size_t count;
    if (fread(&count, sizeof count, 1, from) != 1)
        return false;
    smp_predictions *all = r->predictions = smp_alloc(sizeof *r->predictions);
    if (!all || !(all->items = get(from, count, sizeof *all->items)))
        return false;
    all->count = all->capacity = count;
    for (size_t i = 0; i < count; i++)
        all->items[i].lines = all->items[i].instructions = NULL;
    for (size_t i = 0; i < count; i++) {
        smp_predicted *p = &all->items[i];
        END_TEXT(p->gpu);
        END_TEXT(p->refusal);
        END_TEXT(p->left_out);
        END_TEXT(p->bound);
        for (size_t k = 0; k < SMP_PREDICTED_PRICES; k++)
            END_TEXT(p->prices[k].what);
        for (size_t k = 0; k < SMP_PREDICTED_MENDS; k++) {
            AT_MOST(uint8_t, p->mends[k].space, SMP_WARP_LOCAL);
            AT_MOST(uint8_t, p->mends[k].op, SMP_WARP_COPY);
        }
        p->line_capacity = p->line_count;
        p->instruction_capacity = p->instruction_count;
        if (p->price_count > SMP_PREDICTED_PRICES || p->mend_count > SMP_PREDICTED_MENDS ||
            p->fit_count > SMP_PREDICTED_FITS || !get_lines(from, &p->lines, p->line_count) ||
            !get_lines(from, &p->instructions, p->instruction_count))
            return false;
    }
    return true;
}

/* What the pointers of `head` meant. */
static bool get_parts(FILE *from, const smp_warp_result *head, smp_warp_result *r)
{
    r->kernel = get_text(from);
    r->symbol = get_text(from);
    r->files = head->file_count <= left(from) / sizeof(size_t) ? smp_alloc_array(head->file_count + 1, sizeof *r->files)
                                                               : NULL;
    bool good = r->kernel && r->symbol && r->files;
    for (; good && r->file_count < head->file_count; r->file_count += good)
        good = (r->files[r->file_count] = get_text(from)) != NULL;
    good = good && get_rows(from, head->row_count, r) && get_findings(from, head->finding_count, r) &&
           get_patterns(from, head->array_count, head->patterns.count, r);
    for (int i = 0; good && i < SMP_WARP_STEPS; i++)
        good = get_steps(from, head->steps[i].count, &r->steps[i]);
    return good && get_predictions(from, r);
}

/* Whether a result comes; *open: see warp.h. False at the end, and where other bytes come. */
static bool find_result(FILE *from, size_t *open)
{
    uint64_t mark;
    while (fread(&mark, sizeof mark, 1, from) == 1) {
        if (mark == begin_mark)
            ++*open;
        else if (mark == end_mark && *open)
            --*open;
        else
            return mark == result_mark;
    }
    return false;
}

smp_code smp_warp_result_read(FILE *from, smp_warp_result *r, size_t *open, bool *end, smp_error *err)
{
    smp_warp_result head;
    const size_t before = left(from);
    const bool comes = before <= MOST && find_result(from, open);
    const size_t size = comes ? fread(&head, 1, sizeof head, from) : 0;
    *r = size == sizeof head ? head : (smp_warp_result){.kernel = NULL};
    r->of = NULL;
    r->kernel = r->symbol = NULL;
    r->files = NULL;
    r->rows = NULL;
    r->findings = NULL;
    r->predictions = NULL;
    r->arrays = NULL;
    r->patterns = (smp_warp_patterns){.count = 0};
    r->file_count = r->row_count = r->finding_count = r->array_count = 0;
    memset(r->steps, 0, sizeof r->steps);
    if (r->fit.registers > UINT8_MAX ||
        !smp_warp_fit_of(r->fit.arch, r->fit.registers, r->shared + r->dynamic_shared,
                         r->block[0] * r->block[1] * r->block[2], &r->fit)) /* as its registers say */
        r->fit = (smp_warp_fit){.arch = 0};
    TRUTH(r->watched);
    TRUTH(r->unchecked);
    TRUTH(r->asserted);
    TRUTH(r->clocked);
    TRUTH(r->illegal);
    TRUTH(r->refused);
    TRUTH(r->stopped);
    AT_MOST(smp_code, r->error.code, SMP_E_TERMINATED);
    END_TEXT(r->code);
    END_TEXT(r->notes);
    END_TEXT(r->error.message);
    END_TEXT(r->error.where);
    END_TEXT(r->error.hint);
    *end = !comes && feof(from) && before % sizeof result_mark == 0;
    if (*end || (size == sizeof head && get_parts(from, &head, r)))
        return SMP_OK;
    *end = feof(from);
    return *end ? smp_fail(err, SMP_E_PROCESS, "the program ended in the middle of a result")
                : smp_fail(err, SMP_E_PROCESS, "the results that the program left cannot be read");
}
