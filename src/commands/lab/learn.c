/* smempipe learn: the lessons of docs/course, each a text whose commands are run where they stand. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/order.h"
#include "base/os/tool.h"
#include "base/text/diag.h"
#include "cli/cli.h"
#include "cli/shipped.h"
#include "report/text.h"

typedef struct learn_settings {
    smp_common common;
    const char *lesson;
    bool no_run;
} learn_settings;

enum { MOST_LESSONS = 100, NUMBER = 3 /* characters of "01-" */ };

static const smp_option options[] = {
    {"no-run", 'n', SMP_O_FLAG, offsetof(learn_settings, no_run), .help = "print the lesson and run nothing"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"LESSON", offsetof(learn_settings, lesson), .optional = true,
     .help = "its number or name: 3, or pad; without it, a list of all"},
    {0},
};

/* "03-pad" for each text of the course, in their order. */
typedef struct lessons {
    char *names[MOST_LESSONS];
    size_t count;
} lessons;

static void free_lessons(lessons *all)
{
    for (size_t i = 0; i < all->count; i++)
        smp_free(all->names[i]);
}

static smp_code find_lessons(const char *folder, lessons *all, smp_error *err)
{
    DIR *dir = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; dir && all->count < MOST_LESSONS && (entry = readdir(dir));) {
        const size_t length = strlen(entry->d_name);
        if (length <= NUMBER + 3 || !isdigit((unsigned char)entry->d_name[0]) || entry->d_name[2] != '-' ||
            strcmp(entry->d_name + length - 3, ".md") != 0)
            continue;
        all->names[all->count] = smp_strndup(entry->d_name, length - 3);
        all->count += all->names[all->count] != NULL;
    }
    if (dir)
        closedir(dir);
    if (!all->count)
        return smp_fail(err, SMP_E_READ, "no lessons are installed beside this program"),
               smp_hint(err, "cmake --install puts them into share/smempipe/course");
    qsort(all->names, all->count, sizeof all->names[0], smp_by_text);
    return SMP_OK;
}

/* Chooses by number, name, or both as the file is called; null after a mistake. */
static const char *choose(const lessons *all, const char *wanted, smp_error *err)
{
    const char *names[MOST_LESSONS];
    char *end;
    const long number = strtol(wanted, &end, 10);
    for (size_t i = 0; i < all->count; i++) {
        names[i] = all->names[i] + NUMBER;
        if (!strcmp(wanted, all->names[i]) || !strcmp(wanted, names[i]) ||
            (end > wanted && !*end && number == strtol(all->names[i], NULL, 10)))
            return all->names[i];
    }
    const char *near = smp_nearest(wanted, strlen(wanted), names, all->count);
    smp_fail(err, SMP_E_USAGE, "there is no lesson '%s'", wanted);
    if (near)
        smp_hint(err, "did you mean '%s'? smempipe learn lists all", near);
    else
        smp_hint(err, "there are 1 to %zu; smempipe learn lists them", all->count);
    return NULL;
}

static FILE *open_lesson(const char *folder, const char *name, smp_error *err)
{
    char *path = smp_asprintf("%s/%s.md", folder, name);
    FILE *file = path ? fopen(path, "re") : NULL;
    if (!file) {
        smp_fail(err, SMP_E_READ, "cannot open it: %s", strerror(errno));
        smp_at(err, "%s", path ? path : name);
    }
    smp_free(path);
    return file;
}

static smp_code list(const learn_settings *settings, const char *folder, const lessons *all, smp_error *err)
{
    enum { COLUMNS = 24 };
    char line[400];
    smp_paint paint = smp_paint_for(smp_cli_color(&settings->common, STDOUT_FILENO));
    for (size_t i = 0; i < all->count; i++) {
        FILE *file = open_lesson(folder, all->names[i], err);
        if (!file)
            return err->code;
        if (!fgets(line, sizeof line, file))
            line[0] = '\0';
        fclose(file);
        line[strcspn(line, "\n")] = '\0';
        const char *title = strstr(line, ": ");
        char *head = smp_asprintf("%2ld  %s", strtol(all->names[i], NULL, 10), all->names[i] + NUMBER);
        printf("%s", paint.bold);
        smp_text_column(stdout, head ? head : all->names[i], COLUMNS);
        printf("%s", paint.off);
        smp_text_wrap(stdout, title ? title + 2 : line, COLUMNS, COLUMNS);
        smp_free(head);
    }
    if (!settings->common.quiet)
        printf("\nsmempipe learn N prints lesson N and runs its kernels, without a GPU. They are in %s.\n", folder);
    return SMP_OK;
}

/* Runs "smempipe WORDS" by this program itself. Words are split as a shell does, with single quotes alone. */
static smp_code run_command(char *text, smp_error *err)
{
    enum { MOST_WORDS = 40 };
    char own[PATH_MAX], *words[MOST_WORDS];
    int count = 0, status = 0;
    const ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    if (size <= 0)
        return smp_fail(err, SMP_E_PROCESS, "cannot find this program itself: %s", strerror(errno));
    own[size] = '\0';
    for (char *at = text; *at && count < MOST_WORDS - 1;) {
        at += strspn(at, " ");
        const char quote = *at == '\'' ? '\'' : ' ';
        at += quote == '\'';
        if (*at)
            words[count++] = at;
        at += strcspn(at, quote == '\'' ? "'" : " ");
        if (*at)
            *at++ = '\0';
    }
    words[count] = NULL;
    if (count)
        words[0] = own;
    const smp_code code = count ? smp_tool_run_own(words, NULL, -1, false, &status, err) : SMP_OK;
    return code || !status ? code : smp_fail(err, SMP_E_PROCESS, "the command above ended with status %d", status);
}

/* The text; of blocks of code the fences are left out, and the command in one is run. */
static smp_code print_lesson(const learn_settings *settings, FILE *file, smp_error *err)
{
    static const char prompt[] = "$ smempipe ", fence[] = "```";
    char line[1000];
    smp_code code = SMP_OK;
    smp_paint paint = smp_paint_for(smp_cli_color(&settings->common, STDOUT_FILENO));
    while (!code && fgets(line, sizeof line, file)) {
        const bool command = !strncmp(line, prompt, sizeof prompt - 1), title = line[0] == '#';
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, fence, sizeof fence - 1))
            continue;
        printf("%s%s%s\n", command || title ? paint.bold : "", title ? line + strspn(line, "# ") : line,
               command || title ? paint.off : "");
        for (size_t end; command && line[end = strlen(line) - 1] == '\\';) { /* it goes on in the next line */
            if (!fgets(line + end, (int)(sizeof line - end), file))
                break;
            line[strcspn(line, "\n")] = '\0';
            printf("%s%s%s\n", paint.bold, line + end, paint.off);
        }
        if (command && !settings->no_run)
            code = run_command(line + 2, err);
    }
    return code;
}

static smp_code learn(void *given, smp_error *err)
{
    const learn_settings *settings = given;
    lessons all = {.count = 0};
    char *folder = smp_shipped_course();
    smp_code code = find_lessons(folder, &all, err);
    if (!code && !settings->lesson)
        code = list(settings, folder, &all, err);
    else if (!code) {
        const char *name = choose(&all, settings->lesson, err);
        FILE *file = name ? open_lesson(folder, name, err) : NULL;
        code = file ? SMP_OK : err->code;
        if (!code && chdir(folder) != 0) { /* commands name files of the course */
            smp_fail(err, SMP_E_READ, "cannot go there: %s", strerror(errno));
            code = smp_at(err, "%s", folder);
        }
        code = code ? code : print_lesson(settings, file, err);
        if (file)
            fclose(file);
        if (!code && !settings->no_run && !settings->common.quiet)
            printf("\nTo try it: cp %s/%s.* . and call the commands there. With nvcc, name the .cu in place of the "
                   ".ptx.\n",
                   folder, name);
    }
    free_lessons(&all);
    smp_free(folder);
    return code;
}

const smp_command smp_command_learn = {
    .name = "learn",
    .help = "a course on shared memory: fifteen lessons, each run as you read it",
    .about =
        "Each lesson asks what a small kernel costs, counts it, tells why, and counts the mended one. No GPU and no "
        "compiler are needed. docs/course has the texts and the kernels.",
    .settings_size = sizeof(learn_settings),
    .without = SMP_O_OUTPUTS | SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS | SMP_O_VERBOSE,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe learn", "the lessons, a line each"},
                 {"smempipe learn 3", "the third, with its counts"},
                 {"smempipe learn atomics", "one by name"}},
    .run = learn,
};
