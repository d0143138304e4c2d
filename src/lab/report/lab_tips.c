/* Tips about arrays in shared memory: see lab_tips.h. */
#include "lab/report/lab_tips.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/whole_file.h"
#include "lab/report/lab.h"

enum { MOST_SOURCE = 16 << 20, STATIC_SHARED = 48 << 10 /* of a block, without cudaFuncSetAttribute */ };
#define IMPOSSIBLE UINT64_MAX

/* An array of a result. Those with one declaration change together. */
typedef struct member {
    smp_warp_result *result;
    uint32_t array;
    size_t group;
    smp_declared declared; /* with this result's sizes */
    const char *path;
    uint64_t before;
} member;

/* ------------------------------------------------------------------------------------------------ counting */

static uint32_t row_of(const member *m, const smp_lab_layout *y)
{
    const smp_declared *d = &m->declared;
    return d->dims > 1 ? (uint32_t)d->dim[d->dims - 1] : y->period;
}

static uint64_t place(const member *m, const smp_lab_layout *y, uint32_t offset)
{
    const smp_declared *d = &m->declared;
    const uint32_t length = row_of(m, y), index = offset / d->element;
    const uint32_t in_plane = d->dims > 1 ? (uint32_t)d->dim[d->dims - 2] : 0;
    uint64_t row = index / length;
    const uint64_t of_swizzle = d->dims > 2 ? row % in_plane : row;
    const uint64_t column = (index % length) ^ (of_swizzle / y->divide & y->mask) * y->group;
    if (y->rows)
        row += row / in_plane * y->rows;
    return (row * (length + y->pad) + column) * (d->element + y->grow) + offset % d->element;
}

/* The wavefronts of all accesses to the array. Where an index changes, none is wider than the program's: the compiler
 * joins none of which it does not know that they lie side by side. IMPOSSIBLE: some would not be aligned, or more than
 * `most`. */
static uint64_t wavefronts_of(const member *m, const smp_lab_layout *y, uint64_t most)
{
    const smp_warp_patterns *patterns = &m->result->patterns;
    const uint32_t whole = m->result->arrays[m->array].whole;
    const bool changes = y && (y->mask || m->declared.dims == 1) && !y->grow;
    uint64_t sum = changes && whole == SMP_WARP_ROWS ? IMPOSSIBLE : 0;
    for (size_t i = 0; i < patterns->count && sum <= most; i++) {
        const smp_warp_pattern *p = &patterns->items[i];
        if (p->of != m->array)
            continue;
        const bool splits = changes && whole && p->width > whole;
        const uint32_t width = splits ? whole : p->width;
        for (uint32_t part = 0; part < p->width; part += width) {
            smp_bank_access access = {.op = (smp_bank_op)p->op, .width = (int)width, .active = p->active};
            for (int l = 0; l < SMP_WARP; l++) {
                const uint64_t at = y ? place(m, y, p->offset[l] + part) : p->offset[l];
                access.offset[l] = (uint32_t)at;
                if ((p->active >> l & 1) && (at % width || at > UINT32_MAX))
                    return IMPOSSIBLE;
            }
            sum += p->count * (uint32_t)smp_bank_cost_of(&access).wavefronts;
        }
    }
    return sum <= most ? sum : IMPOSSIBLE;
}

static uint64_t added_bytes(const member *m, const smp_lab_layout *y)
{
    const smp_declared *d = &m->declared;
    const uint64_t elements = m->result->arrays[m->array].bytes / d->element, rows = elements / row_of(m, y);
    const uint64_t planes = d->dims > 2 ? rows / d->dim[d->dims - 2] : 0;
    return (rows * y->pad + planes * y->rows * (row_of(m, y) + y->pad)) * d->element + elements * y->grow;
}

/* Whether a block may still have its memory, and an SM as many blocks. */
static bool has_room(const member *m, const smp_lab_layout *y, bool *fewer)
{
    const smp_warp_result *r = m->result;
    const uint64_t shared = r->shared + added_bytes(m, y), all = shared + r->dynamic_shared;
    smp_warp_fit fit;
    if ((r->shared <= STATIC_SHARED && shared > STATIC_SHARED) || all > SMP_WARP_MAX_SHARED)
        return false;
    *fewer = *fewer || (r->fit.arch &&
                        smp_warp_fit_of(r->fit.arch, r->fit.registers, (uint32_t)all,
                                        r->block[0] * r->block[1] * r->block[2], &fit) &&
                        fit.blocks < r->fit.blocks);
    return true;
}

/* ------------------------------------------------------------------------------------------------ search */

typedef struct search {
    const member *members;
    size_t count, group;
    smp_lab_layout best;
    uint64_t before, after; /* of all that count; after: with the best */
    bool fewer;             /* blocks on an SM, with the best */
} search;

/* Takes a layout that costs less than the best, or as much and leaves an SM more blocks. */
static void try(search *s, smp_lab_layout y)
{
    uint64_t sum = 0;
    bool fewer = false;
    y.divide = y.divide ? y.divide : 1;
    for (size_t i = 0; i < s->count; i++) {
        const member *m = &s->members[i];
        if (m->group != s->group)
            continue;
        const uint64_t most = s->after - sum < m->before ? s->after - sum : m->before;
        const uint64_t cost = has_room(m, &y, &fewer) ? wavefronts_of(m, &y, most) : IMPOSSIBLE;
        if (cost == IMPOSSIBLE)
            return;
        sum += cost;
    }
    if (sum < s->after || (sum == s->after && s->fewer && !fewer)) {
        s->after = sum;
        s->best = y;
        s->fewer = fewer;
    }
}

static void try_swizzles(search *s, uint32_t period, uint32_t length)
{
    if (length & (length - 1))
        return;
    for (uint32_t group = 1; group <= 8 && group < length; group *= 2)
        for (uint32_t mask = length / group - 1; mask >= 3; mask /= 2)
            for (uint32_t divide = 1; divide <= 4; divide *= 2)
                try(s, (smp_lab_layout){.period = period, .divide = divide, .mask = mask, .group = group});
}

/* Pads first: they are the smaller change. */
static void find_best(search *s, const member *first)
{
    static const uint32_t pads[] = {1, 2, 3, 4, 8, 16};
    enum { PADS = sizeof pads / sizeof pads[0], BANKS_BYTES = SMP_BANKS * SMP_BANK_BYTES };
    const smp_declared *d = &first->declared;
    const uint32_t of_banks = BANKS_BYTES / d->element ? BANKS_BYTES / d->element : 1;
    if (d->dims > 1) {
        for (int i = 0; i < PADS; i++)
            try(s, (smp_lab_layout){.pad = pads[i]});
        for (int i = 0; i < PADS && d->dims > 2; i++)
            try(s, (smp_lab_layout){.rows = pads[i]});
        for (int i = 0; i < PADS && d->dims > 2; i++)
            try(s, (smp_lab_layout){.rows = pads[i], .pad = 1});
        if (s->after == s->before || s->fewer)
            try_swizzles(s, 0, (uint32_t)d->dim[d->dims - 1]);
        return;
    }
    static const uint32_t periods[][2] = {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {16, 1}, {1, 2}, {1, 4}, {1, 8}};
    for (size_t k = 0; k < sizeof periods / sizeof periods[0]; k++)
        for (int i = 0; i < PADS && of_banks / periods[k][1]; i++)
            try(s, (smp_lab_layout){.period = of_banks * periods[k][0] / periods[k][1], .pad = pads[i]});
    if (s->after == s->before || s->fewer)
        try_swizzles(s, of_banks, of_banks);
    if (first->path && d->element % SMP_BANK_BYTES == 0 && d->element > SMP_BANK_BYTES)
        for (uint32_t grow = SMP_BANK_BYTES; grow <= 4 * SMP_BANK_BYTES; grow *= 2)
            try(s, (smp_lab_layout){.period = of_banks, .grow = grow});
}

/* ------------------------------------------------------------------------------------------------ members */

/* A source that arrays are declared in. */
typedef struct tip_source {
    const char *path;
    char *text, *plain;
} tip_source;
typedef struct sources {
    tip_source *items;
    size_t count, capacity;
} sources;

static const tip_source *source_of(sources *all, const char *path)
{
    size_t size = 0;
    smp_error ignored;
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->items[i].path, path))
            return &all->items[i];
    if (!path[0] || !smp_grow(&all->items, &all->capacity, all->count + 1, sizeof *all->items))
        return NULL;
    tip_source *s = &all->items[all->count++];
    *s = (tip_source){.path = path};
    if (!smp_read_file(path, MOST_SOURCE, &s->text, &size, &ignored) && strlen(s->text) == size)
        s->plain = smp_declared_plain(s->text, size, false);
    return s;
}

/* By a line that accesses the array, or else shared memory: one that accesses two arrays is a row of one of them. An
 * array that is declared nowhere is taken as one of words. */
static void set_declaration(member *m, sources *all, smp_declared_names *names)
{
    const smp_warp_result *r = m->result;
    const smp_warp_array *a = &r->arrays[m->array];
    uint32_t word = 16;
    for (size_t i = 0; i < 2 * r->row_count && !m->path; i++) {
        const smp_warp_row *row = &r->rows[i % r->row_count];
        if (row->space != SMP_WARP_SHARED || row->file >= r->file_count ||
            (i < r->row_count) != !strcmp(row->array, a->name))
            continue;
        const tip_source *s = source_of(all, r->files[row->file]);
        if (!s || !s->plain || !smp_declared_find(s->text, s->plain, a->name, row->line, &m->declared))
            continue;
        names->symbol = r->symbol;
        smp_declared_measure(s->text, s->plain, names, a->bytes, &m->declared);
        const smp_declared *d = &m->declared;
        if (d->element && (d->dims == 1 || (d->dim[d->dims - 1] && (d->dims == 2 || d->dim[d->dims - 2]))))
            m->path = s->path;
    }
    for (size_t i = 0; i < r->patterns.count; i++)
        if (r->patterns.items[i].of == m->array && r->patterns.items[i].width < word)
            word = r->patterns.items[i].width;
    if (!m->path)
        m->declared = (smp_declared){.dims = 1, .element = word};
}

static member *find_members(smp_warp_result *results, size_t count, sources *all, smp_declared_names *names,
                            size_t *found)
{
    size_t capacity = 0;
    member *members = NULL;
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < results[i].array_count; k++) {
            member m = {.result = &results[i], .array = k, .group = *found};
            if (!smp_grow(&members, &capacity, *found + 1, sizeof *members)) {
                smp_free(members);
                return NULL;
            }
            set_declaration(&m, all, names);
            m.before = wavefronts_of(&m, NULL, IMPOSSIBLE - 1);
            for (size_t n = 0; n < *found; n++)
                if (m.path && members[n].path == m.path && members[n].declared.name == m.declared.name)
                    m.group = members[n].group;
            members[(*found)++] = m;
        }
    return members ? members : smp_alloc(1);
}

/* ------------------------------------------------------------------------------------------------ words */

void smp_lab_size_text(const char *source, size_t size, uint32_t more, uint32_t period, char *text, size_t room)
{
    const bool number = size && strspn(source, "0123456789") == size, sum = strcspn(source, "<>?|&^:") >= size;
    const uint64_t value = number ? strtoull(source, NULL, 10) : 0;
    const char *open = sum ? "" : "(", *close = sum ? "" : ")";
    if (!more)
        snprintf(text, room, "%.*s", (int)size, source);
    else if (number)
        snprintf(text, room, "%llu", (unsigned long long)(value + (period ? (value + period - 1) / period : 1) * more));
    else if (!period)
        snprintf(text, room, "%s%.*s%s + %u", open, (int)size, source, close, more);
    else
        snprintf(text, room, "(%.*s) + ((%.*s) + %u) / %u * %u", (int)size, source, (int)size, source, period - 1,
                 period, more);
}

void smp_lab_index_text(const smp_lab_layout *y, const char *row, const char *column, char *text, size_t room)
{
    const uint32_t divide = y->divide * (column ? 1 : y->period);
    char by[24] = "", times[24] = "";
    if (!y->mask) {
        if (y->pad > 1)
            snprintf(times, sizeof times, " * %u", y->pad);
        snprintf(text, room, "%s + %s / %u%s", row, row, y->period, times);
        return;
    }
    if (divide > 1)
        snprintf(by, sizeof by, " / %u", divide);
    if (y->group > 1)
        snprintf(times, sizeof times, " * %u", y->group);
    snprintf(text, room, "%s ^ %s%s %% %u%s", column ? column : row, row, by, y->mask + 1, times);
}

/* "tile[32][32] -> tile[32][33]" */
static void change_text(const member *m, const char *source, const smp_lab_layout *y, char *text, size_t size)
{
    const smp_declared *d = &m->declared;
    const char *name = m->result->arrays[m->array].name;
    char was[80] = "", is[100] = "", part[64];
    if (!m->path && y->pad) {
        snprintf(text, size, "pad %s by %u element%s of %u bytes after each %u (a row of %u becomes one of %u)", name,
                 y->pad, y->pad == 1 ? "" : "s", d->element, y->period, y->period, y->period + y->pad);
        return;
    }
    for (int i = 0; i < d->dims && m->path; i++) {
        const size_t length = d->to[i] - d->from[i], used = strlen(was), to = strlen(is);
        const bool last = i == d->dims - 1;
        smp_lab_size_text(source + d->from[i], length,
                          last               ? y->pad
                          : i == d->dims - 2 ? y->rows
                                             : 0,
                          d->dims == 1 ? y->period : 0, part, sizeof part);
        snprintf(was + used, sizeof was - used, "[%.*s]", (int)length, source + d->from[i]);
        snprintf(is + to, sizeof is - to, "[%s]", part);
    }
    if (y->grow) {
        snprintf(text, size, "%s%s, elements of %u bytes -> %u (a member more)", name, was, d->element,
                 d->element + y->grow);
        return;
    }
    smp_lab_index_text(y, "i", d->dims > 1 ? "j" : NULL, part, sizeof part);
    if (d->dims > 1 && y->mask)
        snprintf(text, size, "%s%s, its last indices [i][j] -> [i][%s]", name, was, part);
    else if (d->dims > 1)
        snprintf(text, size, "%s%s -> %s%s", name, was, name, is);
    else if (y->pad && !d->is_extern)
        snprintf(text, size, "%s%s -> %s%s, each index i -> %s", name, was, name, is, part);
    else
        snprintf(text, size, "%s%s, each index i -> %s", name, was, part);
}

/* What rows of the array save was predicted with their own conflicts gone. Of the kernel's wavefronts the layout leaves
 * some, which take shared memory as long as they do now: no row saves more than the rest of the time. */
static void bound_prices(const member *m, uint64_t gone, uint64_t all)
{
    const double left = all > gone ? (double)(all - gone) / (double)all : 0;
    const smp_warp_result *r = m->result;
    for (size_t i = 0; r->predictions && i < r->row_count; i++)
        for (size_t k = 0; r->rows[i].conflicts && k < r->predictions->count; k++) {
            smp_predicted *p = &r->predictions->items[k];
            smp_predicted_mend *mend = smp_lab_mend_of(p, &r->rows[i]);
            const double most = p->us * (1 - p->use[SMP_TIME_SHARED_MEMORY] * left);
            if (mend && mend->us > most && !strcmp(r->rows[i].array, r->arrays[m->array].name))
                mend->us = most;
        }
}

/* Tells a result what its kernel costs with the layout. */
static void tell(const member *m, const tip_source *s, const search *found, bool exact)
{
    smp_warp_array *a = &m->result->arrays[m->array];
    const uint64_t after = wavefronts_of(m, &found->best, IMPOSSIBLE - 1);
    char change[440], where[100] = "";
    uint64_t all = 0;
    if (after == m->before)
        return;
    for (size_t i = 0; i < m->result->row_count; i++)
        all += m->result->rows[i].wavefronts;
    bound_prices(m, m->before - after, all);
    change_text(m, s ? s->text : NULL, &found->best, change, sizeof change);
    if (m->path)
        snprintf(where, sizeof where, " (%.80s:%u)", smp_base_name(m->path), m->declared.line);
    snprintf(a->tip, sizeof a->tip, "%s%s: the kernel's %llu wavefronts become %s%llu%s", change, where,
             (unsigned long long)all,
             exact && !found->best.mask && (m->declared.dims > 1 || found->best.grow) ? "" : "about ",
             (unsigned long long)(all - (m->before - after)), found->fewer ? "; an SM holds fewer blocks then" : "");
    for (char *at = a->tip; *at; at++)
        *at = (unsigned char)*at < ' ' || *at == 0x7f ? ' ' : *at; /* of a stranger's source */
}

/* Whether all that the kernel did in shared memory is in the patterns. */
static bool is_exact(const member *members, size_t count, const smp_warp_result *r)
{
    uint64_t rows = 0, recorded = 0;
    for (size_t i = 0; i < r->row_count; i++)
        rows += r->rows[i].wavefronts;
    for (size_t i = 0; i < count; i++)
        recorded += members[i].result == r ? members[i].before : 0;
    return rows == recorded;
}

/* Searches the best layout for a group. False: it has no conflicts, none takes 5 % less, or it cannot be known. */
static bool find_layout(search *s, const member *first)
{
    bool mixed = false, conflicts = false;
    for (size_t i = 0; i < s->count; i++) {
        const member *m = &s->members[i];
        if (m->group != s->group)
            continue;
        s->before += m->before;
        mixed = mixed || m->result->arrays[m->array].mixed;
        for (size_t k = 0; k < m->result->row_count; k++)
            conflicts = conflicts || m->result->rows[k].conflicts;
    }
    s->after = s->before;
    if (conflicts && !mixed)
        find_best(s, first);
    return s->after < s->before && (s->before - s->after) * 20 >= s->before;
}

/* One for all kernels of a declaration, as templates'. False: no memory. */
static bool find_tip(const member *members, size_t count, size_t group, sources *all, smp_lab_tips *out)
{
    const member *first = &members[group];
    const tip_source *from = first->path ? source_of(all, first->path) : NULL;
    search s = {.members = members, .count = count, .group = group};
    const bool better = find_layout(&s, first);
    for (size_t i = group; i < count && better; i++)
        if (members[i].group == group)
            tell(&members[i], from, &s, is_exact(members, count, members[i].result));
    if (!smp_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items))
        return false;
    out->items[out->count++] = (smp_lab_tip){.path = first->path,
                                             .name = first->result->arrays[first->array].name,
                                             .declared = first->declared,
                                             .layout = s.best,
                                             .better = better};
    return true;
}

bool smp_lab_find_tips(smp_warp_result *results, size_t count, char *const *defines, size_t define_count,
                       smp_lab_tips *out)
{
    sources all = {.count = 0};
    smp_declared_names names = {.defines = defines, .define_count = define_count};
    size_t found = 0;
    *out = (smp_lab_tips){.count = 0};
    member *members = find_members(results, count, &all, &names, &found);
    bool fits = members != NULL;
    for (size_t i = 0; i < found && fits; i++)
        if (members[i].group == i)
            fits = find_tip(members, found, i, &all, out);
    for (size_t i = 0; i < all.count; i++) {
        smp_free_all(all.items[i].text, all.items[i].plain);
    }
    smp_free_all(all.items, members);
    return fits;
}
