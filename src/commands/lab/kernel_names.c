/* The names of a kernel's parameters, as its CUDA source has them: PTX has none. With them --args may be in any order.
 */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "commands/lab/kernel.h"

enum { MOST_PARAMETERS = 64, NAME = 64 };

/* What C calls the elements of an array, and --args; those that may stand beside another word come last. */
static const struct {
    const char *name, *word;
} elements[] = {
    {"float", "f32"},        {"double", "f64"}, {"half", "f16"},     {"__half", "f16"},   {"__nv_bfloat16", "bf16"},
    {"nv_bfloat16", "bf16"}, {"bool", "u8"},    {"char", "i8"},      {"uchar", "u8"},     {"int8_t", "i8"},
    {"uint8_t", "u8"},       {"short", "i16"},  {"ushort", "u16"},   {"int16_t", "i16"},  {"uint16_t", "u16"},
    {"long", "i64"},         {"size_t", "u64"}, {"int64_t", "i64"},  {"uint64_t", "u64"}, {"int32_t", "i32"},
    {"uint32_t", "u32"},     {"uint", "u32"},   {"unsigned", "u32"}, {"signed", "i32"},   {"int", "i32"},
};
enum { ROWS = sizeof elements / sizeof *elements };

typedef struct names {
    char of[MOST_PARAMETERS][NAME];
    const char *word[MOST_PARAMETERS]; /* of --args, for the array's elements; null: not known */
    size_t count;
} names;

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The text behind the bracket that closes the one at `at`; null: none does. */
static const char *behind(const char *at)
{
    const size_t close = smp_declared_close(at, 0, SIZE_MAX);
    return close == SIZE_MAX ? NULL : at + close + 1;
}

/* The last word of "const float *__restrict__ in[8]" before what stands in brackets or behind '='. */
static bool read_parameter(const char *from, const char *to, char name[NAME])
{
    for (const char *at = from; at < to; at++)
        if (*at == '=' || *at == '[' || *at == '(')
            to = at;
    while (to > from && !in_word(to[-1]))
        to--;
    const char *begin = to;
    while (begin > from && in_word(begin[-1]))
        begin--;
    if (begin == to || begin == from || to - begin >= NAME)
        return false;
    snprintf(name, NAME, "%.*s", (int)(to - begin), begin);
    return true;
}

static size_t row_of(const char *text, size_t size)
{
    size_t i = 0;
    while (i < ROWS && (strlen(elements[i].name) != size || memcmp(text, elements[i].name, size) != 0))
        i++;
    return i;
}

/* --args' word for what "const float *__restrict__ in" points at; null: it is not known. */
static const char *read_element(const char *from, const char *to)
{
    size_t which = ROWS, stars = 0;
    bool no_sign = false;
    for (const char *at = from; at < to; at++) {
        const char *begin = at;
        stars += *at == '*';
        while (!stars && at < to && in_word(*at))
            at++;
        const size_t size = (size_t)(at - begin), row = row_of(begin, size);
        const bool passed = !size || (size == 5 && !memcmp(begin, "const", 5)) ||
                            (size == 8 && !memcmp(begin, "volatile", 8)) || (size == 3 && !memcmp(begin, "std", 3));
        if (row == ROWS && !passed)
            return NULL;
        which = row < which ? row : which;
        no_sign |= row < ROWS && !strcmp(elements[row].name, "unsigned");
        at -= size > 0;
    }
    for (size_t i = 0; i < ROWS && no_sign && which < ROWS && elements[which].word[0] == 'i'; i++)
        if (elements[i].word[0] == 'u' && !strcmp(elements[i].word + 1, elements[which].word + 1))
            which = i;
    return which < ROWS && stars == 1 ? elements[which].word : NULL;
}

/* From the opening bracket of the parameters. False: what is there is not understood. */
static bool read_parameters(const char *open, names *out)
{
    const char *end = behind(open), *from = open + 1;
    int depth = 0, angles = 0;
    out->count = 0;
    if (!end)
        return false;
    for (const char *at = from; at < end; at++) {
        const bool last = at + 1 == end;
        if ((*at == ',' && !depth && !angles) || last) {
            bool empty = true;
            for (const char *c = from; c < at; c++)
                empty = empty && isspace((unsigned char)*c);
            if (empty && last && !out->count)
                return true;
            if (out->count == MOST_PARAMETERS || !read_parameter(from, at, out->of[out->count]))
                return false;
            out->word[out->count++] = read_element(from, at);
            from = at + 1;
        }
        depth += strchr("([{", *at) ? 1 : strchr(")]}", *at) ? -1 : 0;
        angles += *at == '<' ? 1 : *at == '>' && angles ? -1 : 0;
    }
    return true;
}

/* From behind __global__: the name of the kernel, and the bracket of its parameters; null: none is found. */
static const char *read_head(const char *at, char name[NAME])
{
    while (*at && *at != ';' && *at != '{') {
        if (!in_word(*at)) {
            at++;
            continue;
        }
        const char *word = at;
        while (in_word(*at))
            at++;
        snprintf(name, NAME, "%.*s", (int)(at - word), word);
        const char *next = at + strspn(at, " \t\r\n");
        if (*next != '(')
            continue;
        if (strncmp(name, "__", 2) != 0 && strcmp(name, "alignas") != 0)
            return next;
        at = behind(next); /* __launch_bounds__(256) */
        if (!at)
            return NULL;
    }
    return NULL;
}

/* Finds the names in all kernels of that name and number of parameters, which must agree. */
static bool find_names(const char *path, const char *kernel, size_t count, names *out)
{
    char *text = NULL, base[NAME], name[NAME];
    size_t size;
    smp_error ignored = {0};
    bool found = false, agree = true;
    const char *end = kernel + strcspn(kernel, "<("), *begin = end;
    while (begin > kernel && in_word(begin[-1]))
        begin--;
    snprintf(base, sizeof base, "%.*s", (int)(end - begin), begin);
    if (smp_kernel_read(path, &text, &size, &ignored))
        return false;
    char *plain = smp_declared_plain(text, strlen(text), false);
    for (const char *at = plain; at && (at = strstr(at, "__global__"));) {
        names one = {.count = 0};
        at += strlen("__global__");
        const char *open = read_head(at, name);
        if (!open || strcmp(name, base) != 0 || !read_parameters(open, &one) || one.count != count)
            continue;
        for (size_t i = 0; i < count && found; i++) {
            agree = agree && !strcmp(one.of[i], out->of[i]);
            one.word[i] = one.word[i] == out->word[i] ? one.word[i] : NULL;
        }
        *out = one;
        found = true;
    }
    smp_free_all(plain, text);
    return found && agree;
}

typedef struct word {
    const char *at;
    size_t size, name_size;
} word;

static size_t read_words(const char *args, word words[MOST_PARAMETERS])
{
    size_t count = 0;
    while (*(args += strspn(args, " \t,")) && count < MOST_PARAMETERS) {
        word *w = &words[count++];
        w->at = args;
        w->size = strcspn(args, " \t");
        const char *equals = memchr(args, '=', w->size), *open = memchr(args, '[', w->size);
        w->name_size = equals && (!open || equals < open) ? (size_t)(equals - args) : 0;
        args += w->size;
    }
    return count;
}

static size_t index_of(const names *all, const word *w)
{
    for (size_t i = 0; i < all->count; i++)
        if (strlen(all->of[i]) == w->name_size && !memcmp(all->of[i], w->at, w->name_size))
            return i;
    return SIZE_MAX;
}

static void list_names(const names *all, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < all->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", all->of[i]);
}

/* An array's elements are as wide as the source has them, and of that kind. */
static smp_code check_elements(const names *all, const char *ordered, size_t given, smp_error *err)
{
    for (size_t i = 0; i < given; i++) {
        smp_kernel_array is = {.element = 0}, has = {.element = 0};
        char text[16];
        smp_kernel_array_word(ordered, i, &is);
        snprintf(text, sizeof text, "%s[1]", all->word[i] ? all->word[i] : "");
        smp_kernel_array_word(text, 0, &has);
        if (!is.element || !has.element || (is.element == has.element && is.kind == has.kind))
            continue;
        smp_fail(err, SMP_E_USAGE, "--args: the elements of '%s' are %s in the source", all->of[i], all->word[i]);
        return smp_hint(err, "write %s=%s[...]; a NumPy array: .astype(np.%s%d)", all->of[i], all->word[i],
                        has.kind == 'i'   ? all->word[i][0] == 'u' ? "uint" : "int"
                        : has.kind == 'b' ? "bfloat"
                                          : "float",
                        (int)(8 * has.element));
    }
    return SMP_OK;
}

smp_code smp_kernel_order_args(const char *file, const smp_warp_kernel *kernel, const char *args, char **ordered,
                               smp_error *err)
{
    const smp_warp_param *params;
    const size_t count = smp_warp_kernel_params(kernel, &params);
    word words[MOST_PARAMETERS];
    size_t place[MOST_PARAMETERS] = {0}, named = 0, moved = SIZE_MAX;
    names all = {.count = 0};
    char list[400];
    args = args ? args : "";
    *ordered = smp_strdup(args);
    SMP_NEED(*ordered, "arguments", strlen(args), err);
    const size_t given = read_words(args, words);
    const bool cuda = smp_ends_with(file, ".cu") || smp_ends_with(file, ".cuh");
    if (!cuda || !given || given > count || !find_names(file, smp_warp_kernel_name(kernel), count, &all))
        return SMP_OK;
    list_names(&all, list, sizeof list);
    for (size_t i = 0; i < given; i++) {
        const size_t at = words[i].name_size ? index_of(&all, &words[i]) : SIZE_MAX;
        if (at == SIZE_MAX)
            continue;
        for (size_t k = 0; k < named; k++)
            if (place[k] == at)
                return smp_fail(err, SMP_E_USAGE, "--args names '%s' twice", all.of[at]);
        moved = at != i && moved == SIZE_MAX ? i : moved;
        place[named++] = at;
    }
    if (moved == SIZE_MAX)
        return check_elements(&all, args, given, err); /* in their order, under whatever names */
    if (named < given || given < count)
        return smp_fail(err, SMP_E_USAGE, "--args: '%.*s' is parameter %zu of '%s', and stands at place %zu",
                        (int)words[moved].name_size, words[moved].at, index_of(&all, &words[moved]) + 1,
                        smp_warp_kernel_name(kernel), moved + 1),
               smp_hint(err, "name all of them as the source does, in any order: %s", list);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (place[k] == i) {
                memcpy(*ordered + used, words[k].at, words[k].size);
                used += words[k].size;
                (*ordered)[used++] = i + 1 < count ? ' ' : 0;
            }
    return check_elements(&all, *ordered, given, err);
}
