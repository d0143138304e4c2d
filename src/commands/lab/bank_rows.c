/* Lists the accesses that `smempipe bank` studies: a row for each pattern, each choice of the values that -D lists, and
 * each access that an element takes. See bank.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "commands/lab/bank.h"

enum { MOST_DEFINES = 16, MOST_VALUES = 256, MOST_ROWS = 1024 };

/* ------------------------------------------------------------------------------------------------ names and values */

/* "stride=1,2,4,8" */
typedef struct define {
    char *name;
    int64_t values[MOST_VALUES];
    size_t count, now;
} define;

typedef struct defines {
    define items[MOST_DEFINES];
    size_t count;
} defines;

static smp_code fail_define(const char *text, const char *what, smp_error *err)
{
    smp_fail(err, SMP_E_USAGE, "-D %s: %s", text, what);
    return smp_hint(err, "write -D NAME=VALUE, or values with commas between: -D stride=1,2,4,8");
}

static smp_code read_value(const char *text, size_t length, smp_diags *diags, define *out, smp_error *err)
{
    smp_pattern *pattern = smp_alloc(sizeof *pattern);
    char *word = smp_strndup(text, length);
    smp_code code = pattern && word ? smp_pattern_parse("-D", word, diags, pattern)
                                    : smp_fail_memory(err, "a value", sizeof *pattern);
    if (!code && (pattern->dims || pattern->tid))
        code = fail_define(word, "a value is a number", err);
    if (!code &&
        !smp_pattern_value(pattern, pattern->index[0], 0, NULL, diags, &out->values[out->count++])) /* at most once */
        code = SMP_E_USAGE;
    smp_free_all(word, pattern);
    return code;
}

static smp_code read_define(const char *text, smp_diags *diags, defines *all, smp_error *err)
{
    const size_t length = strcspn(text, "=");
    bool good = length && text[length] && (isalpha((unsigned char)text[0]) || text[0] == '_');
    for (size_t i = 0; i < length; i++)
        good = good && (isalnum((unsigned char)text[i]) || text[i] == '_');
    if (!good)
        return fail_define(text, text[length] ? "this is not a name" : "the value is missing", err);
    if (all->count == MOST_DEFINES)
        return fail_define(text, "16 names at most", err);
    define *out = &all->items[all->count++];
    out->name = smp_strndup(text, length);
    SMP_NEED(out->name, "a name", length, err);
    if (smp_pattern_has_word(out->name))
        return fail_define(text, "the patterns have this word already", err);
    for (size_t i = 0; i + 1 < all->count; i++)
        if (!strcmp(all->items[i].name, out->name))
            return fail_define(text, "the name is given twice", err);
    smp_code code = SMP_OK;
    for (const char *at = text + length + 1; !code;) {
        const size_t size = strcspn(at, ",");
        if (!size || out->count == MOST_VALUES)
            return fail_define(text, size ? "256 values at most" : "a value is missing", err);
        code = read_value(at, size, diags, out, err);
        if (!at[size])
            break;
        at += size + 1;
    }
    return code;
}

/* The next choice of values, the last name's fastest; false: all were had. */
static bool next_choice(defines *all)
{
    for (size_t i = all->count; i--;) {
        if (++all->items[i].now < all->items[i].count)
            return true;
        all->items[i].now = 0;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------ the block */

smp_code smp_bank_block(const char *text, smp_pattern_block *out, smp_error *err)
{
    enum { MOST = 1024 };
    int64_t shape[3] = {0, 0, 0}, threads = 1;
    const char *at = text;
    bool good = true;
    for (int count = 0; good && *at; count++) {
        char *end = NULL;
        const long value = isdigit((unsigned char)*at) && count < 3 ? strtol(at, &end, 10) : 0;
        good = value >= 1 && value <= MOST && (!*end || (*end == 'x' && end[1]));
        if (good) {
            shape[count] = value;
            threads *= value;
            at = end + (*end == 'x');
        }
    }
    *out = (smp_pattern_block){shape[0], shape[1], shape[2]};
    if (good && shape[0] && threads <= MOST)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--block %s is not the shape of a block", text);
    return smp_hint(err, "write 32, 32x8 or 8x8x4: at most %d threads", MOST);
}

/* ------------------------------------------------------------------------------------------------ rows */

static char *name_of(const char *text, const smp_pattern_part *part, const defines *d)
{
    char *name = part && part->name[0] ? smp_asprintf("%s .%s", text, part->name) : smp_strdup(text);
    for (size_t i = 0; name && i < d->count; i++) {
        char *longer =
            smp_asprintf("%s, %s=%lld", name, d->items[i].name, (long long)d->items[i].values[d->items[i].now]);
        smp_free(name);
        name = longer;
    }
    return name;
}

/* A row for each access of the pattern's elements. */
static smp_code add_parts(const char *text, const defines *d, smp_diags *diags, smp_bank_rows *rows,
                          smp_bank_study_one *study_one, const void *settings, smp_error *err)
{
    smp_pattern_define now[MOST_DEFINES];
    smp_pattern *pattern = smp_alloc(sizeof *pattern);
    smp_code code = pattern ? SMP_OK : smp_fail_memory(err, "a pattern", sizeof *pattern);
    for (size_t i = 0; i < d->count; i++)
        now[i] = (smp_pattern_define){d->items[i].name, d->items[i].values[d->items[i].now]};
    code = code ? code : smp_pattern_parse_with("PATTERN", text, now, d->count, diags, pattern);
    const int parts = code ? 0 : pattern->part_count > 1 ? pattern->part_count : 1;
    for (int i = 0; i < parts && !code; i++) {
        const smp_pattern_part *part = pattern->part_count ? &pattern->parts[i] : NULL;
        if (!smp_grow(&rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items)) {
            code = smp_fail_memory(err, "patterns", sizeof *rows->items);
            break;
        }
        smp_bank_study *study = &rows->items[rows->count];
        memset(study, 0, sizeof *study);
        study->text = text;
        study->name = name_of(text, part && pattern->part_count > 1 ? part : NULL, d);
        study->pattern = pattern;
        study->part = part;
        memcpy(study->defines, now, d->count * sizeof *now);
        study->define_count = d->count;
        if (!study->name)
            code = smp_fail_memory(err, "a name", strlen(text));
        else
            code = study_one(settings, study, diags, err);
        if (code)
            smp_free(study->name);
        else {
            study->owner = i == 0;
            rows->count++;
        }
    }
    if (!rows->count || rows->items[rows->count - 1].pattern != pattern)
        smp_free(pattern);
    rows->expected += (size_t)(parts ? parts : 1);
    return code;
}

static void drop_rows(smp_bank_rows *rows, size_t count)
{
    for (; rows->count > count; rows->count--) {
        smp_bank_study *study = &rows->items[rows->count - 1];
        smp_free(study->name);
        if (study->owner)
            smp_free((void *)(uintptr_t)study->pattern);
    }
}

/* All choices of one pattern. A mistake that repeats is reported for the first choice alone. */
static smp_code add_choices(const char *text, defines *d, smp_diags *diags, smp_bank_rows *rows,
                            smp_bank_study_one *study_one, const void *settings, smp_error *err)
{
    smp_code first = SMP_OK;
    char *said = NULL;
    do {
        smp_diags again = {0};
        const size_t had = diags->count;
        bool report = !said;
        if (rows->expected >= MOST_ROWS) {
            smp_free(said);
            return smp_fail(err, SMP_E_LIMIT, "more than %d accesses to study", MOST_ROWS);
        }
        const size_t rows_before = rows->count, expected_before = rows->expected;
        smp_code code = report ? SMP_OK : add_parts(text, d, &again, rows, study_one, settings, err);
        if (again.count && strcmp(again.items[0].message, said) != 0) { /* another mistake: once more, to tell it */
            report = true;
            drop_rows(rows, rows_before);
            rows->expected = expected_before;
        }
        smp_diags_free(&again);
        if (report)
            code = add_parts(text, d, diags, rows, study_one, settings, err);
        char *given = had < diags->count && d->count ? name_of("", NULL, d) : NULL;
        if (given)
            smp_diags_found_with(diags, had, given + strspn(given, ", "));
        smp_free(given);
        if (!said && had < diags->count)
            said = smp_strdup(diags->items[had].message);
        first = first ? first : code;
    } while (!err->message[0] && next_choice(d));
    smp_free(said);
    return first;
}

smp_code smp_bank_rows_of(const smp_strings *patterns, const smp_strings *define_texts, smp_diags *diags,
                          smp_bank_study_one *study_one, const void *settings, smp_bank_rows *rows, smp_error *err)
{
    defines *d = smp_alloc(sizeof *d);
    smp_code code = d ? SMP_OK : smp_fail_memory(err, "names", sizeof *d), first = SMP_OK;
    for (size_t i = 0; i < define_texts->count && !code; i++)
        code = read_define(define_texts->items[i], diags, d, err);
    for (size_t i = 0; i < patterns->count && !code; i++) {
        const smp_code one = add_choices(patterns->items[i], d, diags, rows, study_one, settings, err);
        first = first ? first : one;
        code = err->message[0] ? one : SMP_OK;
    }
    rows->names = d ? smp_alloc_array(MOST_DEFINES, sizeof *rows->names) : NULL;
    for (size_t i = 0; d && i < d->count; i++)
        if (rows->names)
            rows->names[rows->name_count++] = d->items[i].name;
        else
            smp_free(d->items[i].name);
    if (d && !rows->names) { /* nobody may look at them */
        smp_bank_rows_free(rows);
        code = smp_fail_memory(err, "names", MOST_DEFINES * sizeof *rows->names);
    }
    smp_free(d);
    return code ? code : first;
}

void smp_bank_rows_free(smp_bank_rows *rows)
{
    drop_rows(rows, 0);
    for (size_t i = 0; i < rows->name_count; i++)
        smp_free(rows->names[i]);
    smp_free_all(rows->names, rows->items);
    *rows = (smp_bank_rows){0};
}
