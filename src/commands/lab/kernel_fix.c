/* --fix: applies tips about arrays in shared memory (lab/report/lab_tips.h) to the text of a source, runs what becomes
 * of it beside the old one, and keeps it there where it costs less and leaves the same. What it is not sure to change
 * right, it leaves, and says why. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "commands/lab/kernel.h"

enum { WHY = 200, MOST_INDEX = 300 };

/* ------------------------------------------------------------------------------------------------ edits */

typedef struct edit {
    size_t from, to;
    char *text; /* that takes the place */
} edit;

/* A source that changes. */
typedef struct change {
    char *text, *plain;
    char *directed; /* plain, with directives */
    size_t size;
    edit *edits;
    size_t count, capacity;
    char why[WHY]; /* the tip at hand cannot be applied; "" */
} change;

static bool refuse(change *c, const char *format, ...) SMP_PRINTF(2, 3);
static bool refuse(change *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->why, sizeof c->why, format, arguments);
    va_end(arguments);
    return false;
}

static unsigned line_of(const change *c, size_t at)
{
    unsigned line = 1;
    for (size_t i = 0; i < at; i++)
        line += c->text[i] == '\n';
    return line;
}

static bool add_edit(change *c, size_t from, size_t to, const char *text)
{
    for (size_t i = 0; i < c->count; i++)
        if (from < c->edits[i].to && c->edits[i].from < to)
            return refuse(c, "line %u has one array in the index of another", line_of(c, from));
    char *own = smp_strdup(text);
    if (!own || !smp_grow(&c->edits, &c->capacity, c->count + 1, sizeof *c->edits)) {
        smp_free(own);
        return refuse(c, "there is no memory for it");
    }
    c->edits[c->count++] = (edit){from, to, own};
    return true;
}

static void drop_edits(change *c, size_t from)
{
    while (c->count > from)
        smp_free(c->edits[--c->count].text);
}

static int by_place(const void *a, const void *b)
{
    const edit *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* ------------------------------------------------------------------------------------------------ uses */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The last byte before a place that is no blank; 0: none. */
static char before(const char *plain, size_t *at)
{
    while (*at && strchr(" \t\r\n", plain[*at - 1]))
        --*at;
    return *at ? plain[*at - 1] : 0;
}

/* Whether a word ends before the place. */
static bool ends_with_word(const char *plain, size_t end, const char *word)
{
    const size_t size = strlen(word);
    return end >= size && !memcmp(plain + end - size, word, size) && (end == size || !is_name(plain[end - size - 1]));
}

/* Whether an index may be written twice: it changes nothing, and calls nothing that might. */
static bool repeats(const char *index, size_t size)
{
    static const char *const pure[] = {"__brev", "__popc", "__ffs", "__clz", "__mul24", "__umul24", "min", "max"};
    for (size_t i = 0; i < size; i++) {
        const char c = index[i], next = i + 1 < size ? index[i + 1] : 0, last = i ? index[i - 1] : 0;
        const bool shifts = i > 1 && strchr("<>", last) && index[i - 2] == last; /* <<=, >>= */
        if (((c == '+' || c == '-') && next == c) || (c == '=' && next != '=' && (shifts || !strchr("=<>!", last))) ||
            c == '"')
            return false;
        size_t end = i;
        const char called = c == '(' ? before(index, &end) : 0;
        bool calls = called && (is_name(called) || strchr(")]>", called));
        for (size_t k = 0; k < sizeof pure / sizeof pure[0] && calls; k++)
            calls = !ends_with_word(index, end, pure[k]);
        if (calls)
            return false;
    }
    return true;
}

/* Without blanks around it, in parentheses unless it is a name or number. */
static void operand(const change *c, size_t from, size_t to, char *text, size_t size)
{
    while (from < to && isspace((unsigned char)c->text[from]))
        from++;
    while (to > from && isspace((unsigned char)c->text[to - 1]))
        to--;
    bool simple = true;
    for (size_t i = from; i < to; i++)
        simple = simple && (is_name(c->text[i]) || c->text[i] == '.');
    snprintf(text, size, simple ? "%.*s" : "(%.*s)", (int)(to - from), c->text + from);
}

/* Checks where a name stands: no address is taken of what it names, and it declares nothing. */
static bool check_before(change *c, const smp_lab_tip *tip, size_t at)
{
    static const char *const verbs[] = {"return", "else", "do", "case", "co_return"};
    const unsigned line = line_of(c, at);
    const char last = before(c->plain, &at);
    bool verb = false;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        verb = verb || ends_with_word(c->plain, at, verbs[i]);
    if (is_name(last) && !verb)
        return refuse(c, "line %u has another meaning of %s", line, tip->name);
    if (last != '&' || (at > 1 && c->plain[at - 2] == '&'))
        return true;
    const char left = before(c->plain, &(size_t){at - 1});
    if (is_name(left) || left == ')' || left == ']')
        return true;
    size_t open = at - 1;
    if (before(c->plain, &open) == '(') {
        size_t end = open - 1, start;
        (void)before(c->plain, &end);
        for (start = end; start && is_name(c->plain[start - 1]);)
            start--;
        if (!strncmp(c->plain + start, "atomic", strlen("atomic")))
            return true;
    }
    return refuse(c, "line %u takes an address in %s", line, tip->name);
}

static bool change_index(change *c, const smp_lab_tip *tip, const size_t *from, const size_t *to)
{
    const int last = tip->declared.dims - 1, of = last ? last - 1 : 0;
    char row[MOST_INDEX], column[MOST_INDEX], text[3 * MOST_INDEX];
    if (tip->declared.dims > 1 && !tip->layout.mask)
        return true;
    if (to[of] - from[of] > MOST_INDEX - 4 || to[last] - from[last] > MOST_INDEX - 4 ||
        !repeats(c->plain + from[of], to[of] - from[of]) ||
        smp_declared_word(c->plain, from[of], to[of], tip->name, tip->declared.name_size) != SIZE_MAX)
        return refuse(c, "line %u has an index of %s that cannot be written twice", line_of(c, from[of]), tip->name);
    operand(c, from[of], to[of], row, sizeof row);
    operand(c, from[last], to[last], column, sizeof column);
    smp_lab_index_text(&tip->layout, row, last ? column : NULL, text, sizeof text);
    return add_edit(c, from[last], to[last], text);
}

/* Changes all that the name stands for. */
static bool change_uses(change *c, const smp_lab_tip *tip)
{
    const smp_declared *d = &tip->declared;
    for (size_t at = d->begin; (at = smp_declared_word(c->plain, at, d->end, tip->name, d->name_size)) != SIZE_MAX;) {
        size_t start = at, from[SMP_DECLARED_DIMS], to[SMP_DECLARED_DIMS], end = at + d->name_size;
        int dims = 0;
        const char last = before(c->plain, &start);
        at = end;
        if (last == '.' || (start > 1 && last == '>' && c->plain[start - 2] == '-') ||
            (start > 1 && last == ':' && c->plain[start - 2] == ':'))
            continue;
        for (; dims < d->dims && c->plain[end += strspn(c->plain + end, " \t\r\n")] == '['; dims++) {
            from[dims] = end + 1;
            to[dims] = smp_declared_close(c->plain, end, d->end);
            if (to[dims] == SIZE_MAX)
                break;
            end = to[dims] + 1;
        }
        if (dims < d->dims)
            return refuse(c, "line %u uses %s without %s", line_of(c, at), tip->name,
                          d->dims > 1 ? "all its indices" : "an index");
        if (!check_before(c, tip, at - d->name_size) || !change_index(c, tip, from, to))
            return false;
    }
    return true;
}

/* A directive that has the name may be a macro that stands for it. */
static bool is_in_directive(const change *c, const smp_lab_tip *tip)
{
    const size_t size = tip->declared.name_size;
    size_t at = 0;
    while ((at = smp_declared_word(c->directed, at, c->size, tip->name, size)) != SIZE_MAX && c->plain[at] != ' ')
        at++;
    return at != SIZE_MAX;
}

static bool change_declaration(change *c, const smp_lab_tip *tip)
{
    const smp_declared *d = &tip->declared;
    bool fits = true;
    for (int i = 0; i < d->dims && fits; i++) {
        char text[2 * MOST_INDEX];
        const uint32_t more = i == d->dims - 1 ? tip->layout.pad : i == d->dims - 2 ? tip->layout.rows : 0;
        const size_t size = d->to[i] - d->from[i];
        if (!more)
            continue;
        if (size > MOST_INDEX / 2)
            return refuse(c, "its size is too long a text");
        smp_lab_size_text(c->text + d->from[i], size, more, d->dims == 1 ? tip->layout.period : 0, text, sizeof text);
        fits = add_edit(c, d->from[i], d->to[i], text);
    }
    return fits;
}

static bool apply(change *c, const smp_lab_tip *tip, const char *real)
{
    const size_t edits = c->count;
    char *path = tip->path ? smp_real_path(tip->path) : NULL;
    const bool here = path && real && !strcmp(path, real);
    smp_free(path);
    c->why[0] = 0;
    if (!tip->path)
        return refuse(c, "its declaration is not found in the source");
    if (!here)
        return refuse(c, "it is declared in another file, %.80s", smp_base_name(tip->path));
    if (tip->declared.end > c->size || memcmp(c->text + tip->declared.name, tip->name, tip->declared.name_size) != 0)
        return refuse(c, "the source is another one since");
    if (tip->layout.grow)
        return refuse(c, "its elements would grow, and pads and swizzles alone are written");
    if (tip->declared.is_extern)
        return refuse(c, "it is declared extern, and its launches say its size");
    if (tip->declared.twice)
        return refuse(c, "two arrays of this name are declared in one block");
    if (is_in_directive(c, tip))
        return refuse(c, "a directive of the preprocessor has its name");
    if (change_declaration(c, tip) && change_uses(c, tip))
        return true;
    drop_edits(c, edits);
    return false;
}

/* ------------------------------------------------------------------------------------------------ running */

static char *fixed_path(const char *file)
{
    return smp_asprintf("%.*s.fixed.cu", (int)(strlen(file) - strlen(".cu")), file);
}

smp_code smp_kernel_check_fix(const smp_kernel_settings *settings, smp_error *err)
{
    struct stat status;
    if (!settings->fix)
        return SMP_OK;
    const char *against = settings->compare                                          ? "--compare"
                          : settings->device                                         ? "--device"
                          : settings->blocks && strcmp(settings->blocks, "all") != 0 ? "--blocks"
                                                                                     : NULL;
    if (against)
        return smp_fail(err, SMP_E_USAGE, "--fix does not go with %s", against);
    if (!smp_ends_with(settings->file, ".cu"))
        return smp_fail(err, SMP_E_USAGE, "--fix changes the source of a .cu file, and '%s' is none", settings->file),
               smp_hint(err, "smempipe kernel a.cu --fix writes a.fixed.cu");
    if (!lstat(settings->file, &status) && S_ISLNK(status.st_mode))
        return smp_fail(err, SMP_E_USAGE,
                        "--fix: '%s' is a link to a source, and the new one would lie beside the link", settings->file),
               smp_hint(err, "name the file that it leads to");
    char *path = fixed_path(settings->file);
    smp_code code = path ? smp_cli_refuse_report(path, settings->file, err) : smp_fail_memory(err, "a path", 0);
    code = code ? code : smp_cli_check_report(path, settings->common.force, err);
    smp_free(path);
    return code;
}

static uint64_t wavefronts(const smp_warp_result *r)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->row_count; i++)
        sum += r->rows[i].wavefronts;
    return sum;
}

static void put_changed(FILE *to, const void *given)
{
    const change *c = given;
    size_t at = 0;
    for (size_t i = 0; i < c->count; i++) {
        fwrite(c->text + at, 1, c->edits[i].from - at, to);
        fputs(c->edits[i].text, to);
        at = c->edits[i].to;
    }
    fwrite(c->text + at, 1, c->size - at, to);
}

/* Runs the source as it would be. */
static smp_code run(const smp_kernel_settings *settings, change *c, smp_kernel_results *fixed, smp_error *err)
{
    smp_kernel_settings own = *settings;
    size_t size;
    char *text = NULL;
    FILE *to = open_memstream(&text, &size);
    qsort(c->edits, c->count, sizeof *c->edits, by_place);
    if (to)
        put_changed(to, c);
    own.text = to && !fclose(to) ? text : NULL;
    own.again = true;
    own.html = own.save = own.time = own.time_wanted = NULL;
    const smp_code code = own.text ? smp_kernel_all(&own, fixed, err) : smp_fail_memory(err, "a source", c->size);
    free(text);
    return code;
}

/* Tells each kernel's totals. Returns whether all end as before, the sum costs less and no kernel more. */
static bool is_better(FILE *to, const smp_kernel_results *all, const smp_kernel_results *fixed)
{
    uint64_t was = 0, is = 0;
    bool good = all->count == fixed->count;
    for (size_t i = 0; i < all->count && good; i++) {
        const smp_warp_result *a = &all->results[i], *b = &fixed->results[i];
        char difference[200] = "";
        smp_lab_same same = a->digest == b->digest ? SMP_LAB_SAME : SMP_LAB_DIFFERENT;
        if (all->lefts[i].count)
            same = smp_kernel_left_compare(&all->lefts[i], &fixed->lefts[i], difference, sizeof difference);
        good = a->launches == b->launches && !b->stopped && !strcmp(a->kernel, b->kernel);
        const uint64_t x = wavefronts(a), y = wavefronts(b);
        was += x, is += y;
        if (good && to)
            fprintf(to, "  %s: %llu wavefronts in shared memory, %llu before; %s%s%s\n", a->kernel,
                    (unsigned long long)y, (unsigned long long)x,
                    same == SMP_LAB_SAME      ? "the same bytes"
                    : same == SMP_LAB_ROUNDED ? "results "
                                              : "other results",
                    same == SMP_LAB_DIFFERENT && difference[0] ? ": " : "", difference);
        good = good && same != SMP_LAB_DIFFERENT && y <= x && a->finding_count >= b->finding_count;
    }
    return good && is < was;
}

static void put_changes(FILE *to, const smp_kernel_results *all, const char *path)
{
    fprintf(to, "\n%s\n", path);
    for (size_t i = 0; i < all->tips.count; i++) {
        const smp_lab_tip *tip = &all->tips.items[i];
        if (tip->refused[0])
            fprintf(to, "  left as it is: %s, since %s\n", tip->name, tip->refused);
    }
}

static smp_code fix(const smp_kernel_settings *settings, const smp_kernel_results *all, change *c, const char *path,
                    smp_error *err)
{
    FILE *to = settings->common.quiet ? NULL : settings->json || settings->csv ? stderr : stdout;
    smp_kernel_results fixed = {.count = 0};
    char *real = smp_real_path(settings->file);
    const char *why = "no other layout of an array in shared memory takes fewer wavefronts";
    for (size_t i = 0; i < all->tips.count && real; i++) {
        smp_lab_tip *tip = &all->tips.items[i];
        if (tip->better && !apply(c, tip, real))
            snprintf(tip->refused, sizeof tip->refused, "%s", why = c->why);
    }
    smp_free(real);
    if (!c->count) {
        for (size_t i = 0; i < all->tips.count; i++)
            if (all->tips.items[i].better)
                return smp_fail(err, SMP_E_PROCESS, "--fix wrote nothing: %s: %s", all->tips.items[i].name,
                                all->tips.items[i].refused);
        if (to)
            fprintf(to, "\n--fix wrote nothing: %s\n", why);
        return SMP_OK;
    }
    smp_code code = run(settings, c, &fixed, err);
    if (code)
        smp_hint(err, "the source with the tips of --fix does not run as the old one did; it was not written");
    else if (to)
        put_changes(to, all, path);
    if (!code && !is_better(to, all, &fixed))
        code = smp_fail(err, SMP_E_DIFFERENT,
                        "--fix: the changed source does not end as the old one, or does not cost "
                        "less; it was not written");
    code = code ? code : smp_cli_write_file(path, settings->common.force, put_changed, c, err);
    smp_kernel_results_free(&fixed);
    return code;
}

/* Reads the source that is changed. */
static smp_code begin_change(const char *file, change *c, smp_error *err)
{
    SMP_TRY(smp_kernel_read(file, &c->text, &c->size, err));
    if (strlen(c->text) != c->size)
        return smp_fail(err, SMP_E_DECODE, "it has zero bytes, and its text cannot be changed"),
               smp_at(err, "%s", file);
    c->plain = smp_declared_plain(c->text, c->size, false);
    c->directed = smp_declared_plain(c->text, c->size, true);
    return c->plain && c->directed ? SMP_OK : smp_fail_memory(err, "a source", c->size);
}

static void end_change(change *c)
{
    drop_edits(c, 0);
    smp_free_all(c->edits, c->text, c->plain, c->directed);
}

smp_code smp_kernel_fix(const smp_kernel_settings *settings, const smp_kernel_results *all, smp_error *err)
{
    change c = {.count = 0};
    char *path = fixed_path(settings->file);
    smp_code code = path ? begin_change(settings->file, &c, err) : smp_fail_memory(err, "a path", 0);
    code = code ? code : fix(settings, all, &c, path, err);
    end_change(&c);
    smp_free(path);
    return code;
}

smp_code smp_kernel_relayout(const smp_kernel_settings *settings, const smp_lab_tip *tip, smp_kernel_results *out,
                             smp_error *err)
{
    change c = {.count = 0};
    char *real = smp_real_path(settings->file);
    smp_code code = real ? begin_change(settings->file, &c, err) : smp_fail_memory(err, "a path", 0);
    if (!code && !apply(&c, tip, real))
        code = smp_fail(err, SMP_E_USAGE, "%.60s: %s", tip->name, c.why);
    code = code ? code : run(settings, &c, out, err);
    end_change(&c);
    smp_free(real);
    return code;
}
