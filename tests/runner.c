/* unit_tests: runs suites of unit tests (fixtures/suite.h) by name.
 *
 *     unit_tests                        all suites, each in a process of its own
 *     unit_tests gaussian sobel         these two
 *     unit_tests --tests '*bytes*' gaussian
 *     unit_tests --list
 *
 * Exit status: 0 all passed, 77 all were skipped, 2 usage, else failed. A single suite runs in this process, so that a
 * debugger and a profiler see it. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { SKIPPED = 77, USAGE = 2, MOST = 256 };

static test_suite *suites;

static test_suite *find(const char *name)
{
    for (test_suite *suite = suites; suite; suite = suite->next)
        if (!strcmp(suite->name, name))
            return suite;
    return NULL;
}

/* SMP_SUITE beside SMP_TEST in a file of that name, of which one would run alone. */
static void fail_twice(const char *name)
{
    fprintf(stderr, "suite %s is there twice: a file has SMP_SUITE or SMP_TEST\n", name);
    exit(1);
}

/* In the order of names, whatever order the linker gives. */
void test_suite_add(test_suite *suite)
{
    test_suite **at = &suites;
    if (find(suite->name))
        fail_twice(suite->name);
    while (*at && strcmp((*at)->name, suite->name) < 0)
        at = &(*at)->next;
    suite->next = *at;
    *at = suite;
}

/* The suite of a file, made with its first test: src/gaussian.c has gaussian. */
static test_suite *suite_of(const char *file)
{
    const char *slash = strrchr(file, '/'), *begin = slash ? slash + 1 : file;
    char *name = strndup(begin, strcspn(begin, "."));
    test_suite *suite = name ? find(name) : NULL;
    if (suite && suite->run)
        fail_twice(name);
    if (suite) {
        free(name);
        return suite;
    }
    suite = calloc(1, sizeof *suite);
    if (!name || !suite)
        abort();
    suite->name = name;
    test_suite_add(suite);
    return suite;
}

void test_add(const char *file, test_entry *entry)
{
    test_suite *suite = suite_of(file);
    test_entry **at = &suite->tests;
    while (*at && (*at)->line < entry->line)
        at = &(*at)->next;
    entry->next = *at;
    *at = entry;
    suite->count++;
}

void test_around(const char *file, CMFixtureFunction begin, CMFixtureFunction end)
{
    test_suite *suite = suite_of(file);
    suite->begin = begin;
    suite->end = end;
}

static int run(const test_suite *suite)
{
    if (suite->run)
        return suite->run();
    struct CMUnitTest *tests = calloc(suite->count, sizeof *tests);
    size_t count = 0;
    for (const test_entry *entry = suite->tests; tests && entry; entry = entry->next)
        tests[count++] = entry->test;
    const int failed = tests ? _cmocka_run_group_tests(suite->name, tests, count, suite->begin, suite->end) : 1;
    free(tests);
    return failed;
}

/* The suite's status, from a process of its own. */
static int run_apart(const test_suite *suite)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const int result = run(suite);
        exit(result > 255 ? 255 : result);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror(suite->name);
        return 1;
    }
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s: %s\n", suite->name, strsignal(WTERMSIG(status)));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s [--list] [--tests PATTERN] [SUITE]...\n", program);
    return USAGE;
}

int main(int argc, char **argv)
{
    const test_suite *wanted[MOST];
    int count = 0, failed = 0, skipped = 0;
    for (int i = 1; i < argc; i++) {
        const test_suite *suite = find(argv[i]);
        if (!strcmp(argv[i], "--list")) {
            for (suite = suites; suite; suite = suite->next)
                puts(suite->name);
            return 0;
        }
        if (!strcmp(argv[i], "--tests") && i + 1 < argc) {
            cmocka_set_test_filter(argv[++i]);
            continue;
        }
        if (!suite || count == MOST) {
            fprintf(stderr, "%s: there is no suite %s; --list tells the suites\n", argv[0], argv[i]);
            return usage(argv[0]);
        }
        wanted[count++] = suite;
    }
    if (count == 1)
        return run(wanted[0]);
    const bool all = count == 0;
    for (const test_suite *suite = suites; all && suite && count < MOST; suite = suite->next)
        wanted[count++] = suite;
    for (int i = 0; i < count; i++) {
        const int status = run_apart(wanted[i]);
        if (status == SKIPPED)
            skipped++;
        else if (status)
            fprintf(stderr, "failed: %s\n", wanted[i]->name), failed++;
    }
    printf("%d suites, %d failed, %d skipped\n", count, failed, skipped);
    return failed ? 1 : count == skipped ? SKIPPED : 0;
}
