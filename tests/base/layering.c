/* The house's rules, read off the sources: includes between folders point one way, those inside one make no circle;
 * only the files named for it know CUDA; a stage's name appears nowhere under src/ but in its own file and
 * stage_list.def; functions are short. */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "stages/stage.h"

enum { PATH = 512, MAX_FILES = 4000 };

typedef struct source {
    char path[PATH];  /* from the root: "src/io/png/png_read.c" */
    char room[64];    /* "io", "lab/ptx", "kernels/stencil": see ranks; src/main.c is "main" */
    const char *name; /* "png_read.c" */
    char *text;       /* comments replaced by spaces */
} source;

static source files[MAX_FILES];
static size_t file_count;

/* ------------------------------------------------------------------------------------------------ layers */

/* A file includes files of its own room and of lower ranks. A file's room is the deepest of these folders that holds
 * it. Rooms under kernels/ that build on others come after them. The pipeline's rooms rank below the lab's. */
static const struct {
    const char *room;
    int rank;
} ranks[] = {
    {"base", 0},
    {"banks", 1},
    {"kernels/lib", 1},
    {"kernels/reduce", 2},
    {"kernels/stencil", 2},
    {"kernels/geometry", 2},
    {"kernels/jpeg", 2},
    {"kernels/matmul", 2},
    {"kernels/bench", 2},
    {"kernels/audio", 3},
    {"kernels/elementwise", 3},
    {"kernels/gaussian", 3},
    {"media", 4},
    {"stages", 5},
    {"pipe", 6},
    {"device", 6},
    {"io", 6},
    {"run", 7},
    {"report", 8},
    {"report/measure", 9},
    {"api", 9},
    {"batch", 9},
    {"feed", 10},
    {"lab/machine", 10},
    {"lab/ptx", 11},
    {"lab/counters", 11},
    {"lab/sass", 12},
    {"lab/stage", 13},
    {"lab/time", 13},
    {"lab/program_kernels", 14},
    {"lab/runtime", 14},
    {"lab/report", 14},
    {"report/bench", 14},
    {"bench", 15},
    {"report/compare", 15},
    {"compare", 16},
    {"cli", 17},
    {"commands", 18},
    {"main", 19},
    {"mpi", 19},
};

static void name_room(source *f)
{
    const char *start = !strncmp(f->path, "src/", 4) ? f->path + 4 : f->path, *best = "";
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        const size_t length = strlen(ranks[i].room);
        if (!strncmp(start, ranks[i].room, length) && start[length] == '/' && length > strlen(best))
            best = ranks[i].room;
    }
    snprintf(f->room, sizeof f->room, "%s", strcmp(start, "main.c") != 0 ? best : "main");
}

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
                   !strcmp(dot, ".cuh") || !strcmp(dot, ".cpp"));
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
            name_room(f);
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

static int rank_of(const char *room)
{
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        if (!strcmp(ranks[i].room, room))
            return ranks[i].rank;
    return -1;
}

/* The file that an include means: below src/ or below kernels/. Null: there is none. */
static const source *included(const char *include, size_t length)
{
    static const char *const roots[] = {"src", "kernels"};
    char path[PATH];
    for (size_t k = 0; k < sizeof roots / sizeof roots[0]; k++) {
        snprintf(path, sizeof path, "%s/%.*s", roots[k], (int)length, include);
        for (size_t i = 0; i < file_count; i++)
            if (!strcmp(files[i].path, path))
                return &files[i];
    }
    return NULL;
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

SMP_TEST(includes_point_down)
{
    int wrong = 0;
    for (size_t i = 0; i < file_count; i++) {
        const int own = rank_of(files[i].room);
        if (own < 0) {
            print_error("%s: room '%s' has no place among the layers\n", files[i].path, files[i].room);
            wrong++;
        }
        const char *at = files[i].text;
        size_t length;
        for (const char *include; (include = next_include(&at, &length));) {
            const source *target = included(include, length);
            if (!target) {
                print_error("%s includes \"%.*s\", which is no file of src/ or kernels/\n", files[i].path, (int)length,
                            include);
                wrong++;
                continue;
            }
            const int rank = rank_of(target->room);
            if (strcmp(files[i].room, target->room) && rank >= own) {
                print_error("%s includes \"%.*s\": that points up\n", files[i].path, (int)length, include);
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* ------------------------------------------------------------------------------------------------ circles */

enum { MAX_ARROWS = 20000 };

/* From one unit to another of its room. A unit is a .c and the .h of its name, known by its first file; every other
 * file is one by itself. */
typedef struct arrow {
    size_t from, to;
    const source *file, *target; /* of the include */
} arrow;

static size_t unit_of(const source *f)
{
    const char *dot = strrchr(f->path, '.');
    const size_t stem = (size_t)(dot - f->path) + 1;
    const bool pairs = !strcmp(dot, ".c") || !strcmp(dot, ".h");
    for (size_t i = 0; pairs && i < file_count; i++)
        if (!strncmp(files[i].path, f->path, stem) &&
            (!strcmp(files[i].path + stem, "c") || !strcmp(files[i].path + stem, "h")))
            return i;
    return (size_t)(f - files);
}

static size_t draw_arrows(arrow *arrows)
{
    size_t count = 0, length;
    for (size_t i = 0; i < file_count; i++) {
        const size_t unit = unit_of(&files[i]);
        const char *at = files[i].text;
        for (const char *include; (include = next_include(&at, &length));) {
            const source *target = included(include, length);
            const bool inside = target && !strcmp(target->room, files[i].room);
            if (inside && unit_of(target) != unit) {
                assert_true(count < MAX_ARROWS);
                arrows[count++] = (arrow){unit, unit_of(target), &files[i], target};
            }
        }
    }
    return count;
}

/* Arrows that lie on no circle: nothing leads to their beginning, or nothing on from their end. Drops those, and again
 * what then is such an arrow. What is left are circles, and ways from one to another. */
SMP_TEST(rooms_have_no_circles)
{
    static arrow arrows[MAX_ARROWS];
    static bool begins[MAX_FILES], ends[MAX_FILES];
    size_t count = draw_arrows(arrows), before;
    assert_true(count > 100);
    do {
        before = count;
        memset(begins, 0, sizeof begins);
        memset(ends, 0, sizeof ends);
        for (size_t i = 0; i < count; i++)
            begins[arrows[i].from] = ends[arrows[i].to] = true;
        count = 0;
        for (size_t i = 0; i < before; i++)
            if (ends[arrows[i].from] && begins[arrows[i].to])
                arrows[count++] = arrows[i];
    } while (count < before);
    for (size_t i = 0; i < count; i++)
        print_error("%s includes %s, which leads back to it\n", arrows[i].file->path, arrows[i].target->path);
    assert_int_equal(count, 0);
}

SMP_TEST(only_their_files_know_cuda)
{
    int wrong = 0;
    for (size_t i = 0; i < file_count; i++) {
        const source *f = &files[i];
        bool may = (!strcmp(f->room, "device") && (!strncmp(f->name, "cuda", 4) || !strncmp(f->name, "simt", 4))) ||
                   (!strcmp(f->room, "lab/counters") && !strncmp(f->name, "cupti", 5)) ||
                   (!strcmp(f->room, "lab/runtime") && !strncmp(f->name, "driver", 6)); /* which is the driver there */
        if (!may && (strstr(f->text, "<cuda") || strstr(f->text, "<cupti") || strstr(f->text, "cuLaunchKernel"))) {
            print_error("%s knows CUDA\n", f->path);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ------------------------------------------------------------------------------------------------ stage names */

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The stage's own file: stages/NAME.c. */
static bool owns(const source *f, const char *name)
{
    size_t n = strlen(name);
    return !strcmp(f->room, "stages") && !strncmp(f->name, name, n) && f->name[n] == '.';
}

/* Whether a statement asks for a stage by its name: it finds a stage, or compares a stage's name, with this literal. */
static int asked_for_by_name(const source *f, const char *name)
{
    static const char *const askers[] = {"smp_stage_find(", "stage->name", "stage.name"};
    char literal[96];
    int found = 0;
    snprintf(literal, sizeof literal, "\"%s\"", name);
    for (size_t k = 0; k < sizeof askers / sizeof askers[0]; k++)
        for (const char *at = f->text; (at = strstr(at, askers[k])); at++) {
            const char *end = at + strcspn(at, ";{}"), *begin = at;
            while (begin > f->text && !strchr(";{}", begin[-1]))
                begin--;
            const char *hit = strstr(begin, literal);
            if (hit && hit < end) {
                print_error("%s asks for the stage '%s' by name\n", f->path, name);
                found++;
            }
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

SMP_TEST(a_stage_is_named_in_its_own_file_only)
{
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
            wrong += asked_for_by_name(f, name);
        }
        if (!declared) {
            print_error("stage '%s' has no file src/stages/%s.c\n", name, name);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ------------------------------------------------------------------------------------------------ lengths */

/* A declaration begins behind such a line, which may hold a comment, or behind a body. */
static bool is_blank(const char *line)
{
    return line[strspn(line, " \t")] == '\n';
}

static int long_functions(const source *f, int most)
{
    int found = 0, number = 1, declared = 1, begun = 0;
    const char *name = f->text; /* the line that declares it */
    for (const char *line = f->text, *end; (end = strchr(line, '\n')); line = end + 1, number++) {
        if (!begun && (number == 1 || is_blank(line))) {
            declared = number + 1;
            name = end + 1;
        } else if (!begun && end - line == 1 && *line == '{') {
            begun = declared;
        } else if (begun && end - line == 1 && *line == '}') {
            if (number - begun >= most) {
                print_error("%s:%d: %d lines: %.*s\n", f->path, begun, number - begun + 1, (int)strcspn(name, "\n"),
                            name);
                found++;
            }
            begun = 0;
            declared = number + 1;
            name = end + 1;
        }
    }
    return found;
}

/* A longer one becomes a list of named passes. clang-format puts the braces of bodies, and no others, at the beginning
 * of a line of their own. */
SMP_TEST(functions_have_60_lines_at_most)
{
    int wrong = 0;
    for (size_t i = 0; i < file_count; i++)
        if (!strncmp(files[i].path, "src/", 4))
            wrong += long_functions(&files[i], 60);
    assert_int_equal(wrong, 0);
}

SMP_TESTS_AROUND(read_sources, free_sources)
