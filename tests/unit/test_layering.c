/* The house's rules, read off the sources: includes between folders point one way; only the files named for it know
 * CUDA; a stage's name appears nowhere under src/ but in its own file and stage_list.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/stage.h"

enum { PATH = 512, MAX_FILES = 1000 };

typedef struct source {
    char path[PATH];  /* from the root: "src/io/png/png_read.c" */
    char folder[64];  /* "io"; kernels/ is "kernels"; src/main.c is "main" */
    const char *name; /* "png_read.c" */
    char *text;       /* comments replaced by spaces */
} source;

static source files[MAX_FILES];
static size_t file_count;

/* ------------------------------------------------------------------------------------------------ reading */

static void blank_comments(char *text)
{
    enum { CODE, LINE, BLOCK, STRING, CHAR } state = CODE;
    for (char *p = text; *p; p++) {
        if (state == CODE && p[0] == '/' && (p[1] == '/' || p[1] == '*')) {
            state = p[1] == '/' ? LINE : BLOCK;
            p[0] = p[1] = ' ';
            p++;
        } else if (state == LINE || state == BLOCK) {
            bool end = state == BLOCK && p[0] == '*' && p[1] == '/';
            if (end)
                p[1] = ' ';
            if ((state == LINE && *p == '\n') || end)
                state = CODE;
            if (*p != '\n')
                *p = ' ';
            p += end;
        } else if (state == CODE) {
            state = *p == '"' ? STRING : *p == '\'' ? CHAR : CODE;
        } else if (*p == '\\' && p[1]) {
            p++;
        } else if (*p == (state == STRING ? '"' : '\'')) {
            state = CODE;
        }
    }
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = NULL;
    size_t size = 0, got;
    do {
        text = realloc(text, size + 65537);
        assert_non_null(text);
        got = fread(text + size, 1, 65536, file);
        size += got;
    } while (got);
    text[size] = 0;
    fclose(file);
    return text;
}

static bool is_source(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".c") || !strcmp(dot, ".h") || !strcmp(dot, ".def") || !strcmp(dot, ".cu") ||
                   !strcmp(dot, ".cpp"));
}

static void read_folder(const char *folder)
{
    char path[PATH * 2];
    snprintf(path, sizeof path, "%s/%s", SMP_SOURCE_DIR, folder);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char inner[PATH];
        snprintf(inner, sizeof inner, "%.200s/%.255s", folder, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        if (!strchr(entry->d_name, '.')) {
            read_folder(inner);
        } else if (is_source(entry->d_name)) {
            assert_true(file_count < MAX_FILES);
            source *f = &files[file_count++];
            snprintf(f->path, sizeof f->path, "%s", inner);
            f->name = strrchr(f->path, '/') + 1;
            const char *start = !strncmp(f->path, "src/", 4) ? f->path + 4 : f->path, *slash = strchr(start, '/');
            snprintf(f->folder, sizeof f->folder, "%.*s", slash ? (int)(slash - start) : 4, slash ? start : "main");
            snprintf(path, sizeof path, "%s/%s", SMP_SOURCE_DIR, inner);
            f->text = read_text(path);
            blank_comments(f->text);
        }
    }
    closedir(dir);
}

static int read_sources(void **state)
{
    (void)state;
    read_folder("src");
    read_folder("kernels");
    return file_count > 20 ? 0 : -1;
}

static int free_sources(void **state)
{
    (void)state;
    for (size_t i = 0; i < file_count; i++)
        free(files[i].text);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ layers */

/* A file includes its own folder and lower ranks. */
static const struct {
    const char *folder;
    int rank;
} ranks[] = {
    {"base", 0},     {"kernels", 1}, {"stages", 2}, {"pipe", 3}, {"device", 3}, {"io", 3},
    {"counters", 4}, {"report", 5},  {"exec", 6},   {"cli", 7},  {"main", 8},
};

/* Pure parts of counters/ that the emulator (device/simt*) fills; they include base/ alone. */
static bool pure_counters(const char *include, size_t length)
{
    static const char *const headers[] = {"counters/bank.h", "counters/trace.h"};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (strlen(headers[i]) == length && !strncmp(headers[i], include, length))
            return true;
    return false;
}

static int rank_of(const char *folder, size_t length)
{
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        if (strlen(ranks[i].folder) == length && !strncmp(ranks[i].folder, folder, length))
            return ranks[i].rank;
    return -1;
}

/* The next quoted include at or after *at: its text and length; null at the end. */
static const char *next_include(const char **at, size_t *length)
{
    const char *found = strstr(*at, "#include \"");
    if (!found)
        return NULL;
    found += strlen("#include \"");
    *length = strcspn(found, "\"");
    *at = found + *length;
    return found;
}

static void includes_point_down(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < file_count; i++) {
        int own = rank_of(files[i].folder, strlen(files[i].folder));
        if (own < 0) {
            print_error("%s: folder '%s' has no place among the layers\n", files[i].path, files[i].folder);
            wrong++;
        }
        const char *at = files[i].text;
        size_t length;
        for (const char *include; (include = next_include(&at, &length));) {
            const char *slash = memchr(include, '/', length);
            if (!slash) /* its own folder, or kernels/ */
                continue;
            size_t n = (size_t)(slash - include);
            bool same = strlen(files[i].folder) == n && !strncmp(files[i].folder, include, n);
            int target = pure_counters(include, length) ? rank_of("base", 4) + 1 : rank_of(include, n);
            if (!same && (target < 0 || target >= own)) {
                print_error("%s includes \"%.*s\": that points up\n", files[i].path, (int)length, include);
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

static void only_their_files_know_cuda(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < file_count; i++) {
        const source *f = &files[i];
        bool may = (!strcmp(f->folder, "device") && (!strncmp(f->name, "cuda", 4) || !strncmp(f->name, "simt", 4))) ||
                   (!strcmp(f->folder, "counters") && !strncmp(f->name, "cupti", 5));
        if (!may && (strstr(f->text, "<cuda") || strstr(f->text, "<cupti") || strstr(f->text, "cuLaunchKernel"))) {
            print_error("%s knows CUDA\n", f->path);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ------------------------------------------------------------------------------------------------ stage names */

/* Stage names that are words of English or of the trade too: as part of a longer text they name no stage. */
static bool ordinary(const char *name)
{
    static const char *const words[] = {
        "add",       "blend",     "box",      "depth",     "divide", "flip",     "gamma",     "gray",    "invert",
        "levels",    "matrix",    "multiply", "rotate",    "stats",  "subtract", "threshold", "reverse", "gain",
        "normalize", "histogram", "sharpen",  "transpose", "remix",  "orient",   "linear",    "encoded", "convert"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(words[i], name))
            return true;
    return false;
}

/* Whole strings that are a stage's name and mean something else there. */
static bool means_something_else(const char *path, const char *name)
{
    static const struct {
        const char *path, *name, *meaning;
    } others[] = {
        {"src/pipe/statement.c", "linear", "the word after light"},
        {"src/pipe/statement.c", "encoded", "the word after light"},
        {"src/io/jpeg/jpeg_read.c", "gray", "a colour type, in info"},
        {"src/io/png/png_read.c", "gray", "a colour type, in info"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strcmp(others[i].path, path) && !strcmp(others[i].name, name))
            return true;
    return false;
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The stage's own files: stages/NAME.c and what that file includes from its own folder by name. */
static bool owns(const source *f, const char *name)
{
    size_t n = strlen(name);
    return !strcmp(f->folder, "stages") && !strncmp(f->name, name, n) && f->name[n] == '.';
}

/* A string literal that names the stage: whole, or as a word of a longer text unless it is an ordinary word. */
static bool literal_names(const char *literal, size_t length, const char *name)
{
    size_t n = strlen(name);
    if (length == n && !strncmp(literal, name, n))
        return true;
    for (size_t i = 0; i + n <= length; i++)
        if (!strncmp(literal + i, name, n) && (i == 0 || !word_char(literal[i - 1])) &&
            (i + n == length || !word_char(literal[i + n]))) {
            bool quoted = i > 0 && literal[i - 1] == '\'' && i + n < length && literal[i + n] == '\'';
            if (quoted || !ordinary(name))
                return true;
        }
    return false;
}

static int names_in_literals(const source *f, const char *name)
{
    int found = 0;
    for (const char *p = f->text; *p; p++) {
        if (*p == '\'') { /* a character constant may be '"' */
            p += p[1] == '\\' ? 3 : 2;
            continue;
        }
        if (*p != '"')
            continue;
        const char *start = ++p;
        while (*p && *p != '"')
            p += *p == '\\' && p[1] ? 2 : 1;
        bool include = start - f->text >= 10 && !strncmp(start - 10, "#include \"", 10);
        if (!include && literal_names(start, (size_t)(p - start), name) && !means_something_else(f->path, name)) {
            print_error("%s names the stage '%s': \"%.*s\"\n", f->path, name, (int)(p - start), start);
            found++;
        }
        if (!*p)
            break;
    }
    return found;
}

static int names_in_identifiers(const source *f, const char *name)
{
    char identifier[80];
    snprintf(identifier, sizeof identifier, "smp_stage_%s", name);
    const char *at = strstr(f->text, identifier);
    if (!at || word_char(at[strlen(identifier)]))
        return 0;
    print_error("%s uses %s\n", f->path, identifier);
    return 1;
}

static void a_stage_is_named_in_its_own_file_only(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t k = 0; k < smp_stage_count(); k++) {
        const char *name = smp_stage_at(k)->name;
        bool declared = false;
        for (size_t i = 0; i < file_count; i++) {
            const source *f = &files[i];
            if (owns(f, name)) {
                declared = true;
                continue;
            }
            if (strncmp(f->path, "src/", 4) || !strcmp(f->name, "stage_list.def"))
                continue;
            wrong += names_in_identifiers(f, name);
            if (strcmp(f->folder, "stages")) /* a stage may mention others in its help: they are made for each other */
                wrong += names_in_literals(f, name);
        }
        if (!declared) {
            print_error("stage '%s' has no file src/stages/%s.c\n", name, name);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(includes_point_down),
        cmocka_unit_test(only_their_files_know_cuda),
        cmocka_unit_test(a_stage_is_named_in_its_own_file_only),
    };
    return cmocka_run_group_tests(tests, read_sources, free_sources);
}
