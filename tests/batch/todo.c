/* The work of a batch: files in folders, names of outputs, journals. Whole batches: tests/cli/test_batch.py. */
#include "suite.h"

#include "media_fixture.h"

#include <fcntl.h>

#include "base/paths.h"
#include "batch/outputs.h"
#include "batch/todo.h"

static const smp_program no_stages = {.output = SMP_NODE_INPUT};

static void make_folder_in(const char *name)
{
    assert_int_equal(mkdir(in_folder(name), 0777), 0);
}

/* a.png, b.dat, notes.md, .hidden.png, sub/c.png */
static void make_tree(void)
{
    clear_folder();
    make_folder_in("in");
    make_folder_in("in/sub");
    store(in_folder("in/b.dat"), "b", 1);
    store(in_folder("in/a.png"), "a", 1);
    store(in_folder("in/notes.md"), "n", 1);
    store(in_folder("in/.hidden.png"), "h", 1);
    store(in_folder("in/sub/c.png"), "c", 1);
}

static void remove_tree(void)
{
    static const char *const files[] = {"in/b.dat", "in/a.png", "in/notes.md", "in/.hidden.png", "in/sub/c.png"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(in_folder(files[i]));
    rmdir(in_folder("in/sub"));
    rmdir(in_folder("in"));
}

SMP_TEST(folders_give_files_in_the_order_of_bytes)
{
    make_tree();
    const char *given[] = {in_folder("in")};
    smp_find_options options = {.recursive = true};
    smp_found_list found;
    smp_error err = {0};
    assert_ok(smp_walk(given, 1, &options, &found, &err));
    assert_int_equal(found.count, 3);
    assert_string_equal(smp_found_at(&found, 0)->name, "a.png");
    assert_string_equal(smp_found_at(&found, 1)->name, "b.dat");
    assert_string_equal(smp_found_at(&found, 2)->name, "sub/c.png");
    assert_int_equal(found.left_out.files, 1);
    smp_found_free(&found);
    options.recursive = false;
    assert_ok(smp_walk(given, 1, &options, &found, &err));
    assert_int_equal(found.count, 2);
    assert_int_equal(found.left_out.folders, 1);
    smp_found_free(&found);
    remove_tree();
}

/* More than are looked at together, and a folder among them. */
SMP_TEST(a_folder_of_many_files_keeps_its_order)
{
    enum { FILES = 2300 };
    char path[32], name[16];
    clear_folder();
    make_folder_in("in");
    make_folder_in("in/01000.d");
    store(in_folder("in/01000.d/x.png"), "x", 1);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "in/%05d.png", i);
        store(in_folder(path), "many", (size_t)(i % 5));
    }
    const char *given[] = {in_folder("in")};
    smp_find_options options = {.recursive = true};
    smp_found_list found;
    smp_error err = {0};
    assert_ok(smp_walk(given, 1, &options, &found, &err));
    assert_int_equal(found.count, FILES + 1);
    for (int i = 0; i < FILES; i++) {
        const smp_found *file = smp_found_at(&found, (size_t)i);
        snprintf(name, sizeof name, "%05d.png", i);
        assert_string_equal(file->name, name);
        assert_true(file->regular);
        assert_int_equal(file->size, i % 5);
    }
    assert_string_equal(smp_found_at(&found, FILES)->name, "01000.d/x.png");
    smp_found_free(&found);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "in/%05d.png", i);
        unlink(in_folder(path));
    }
    unlink(in_folder("in/01000.d/x.png"));
    rmdir(in_folder("in/01000.d"));
    rmdir(in_folder("in"));
}

SMP_TEST(paths_are_resolved_as_far_as_they_exist)
{
    make_tree();
    char *top = smp_real_path(in_folder("in")), *inner = smp_real_path(in_folder("in/sub/../new/file"));
    assert_non_null(top);
    assert_non_null(inner);
    assert_true(smp_path_within(top, top));
    assert_true(smp_path_within(inner, top));
    assert_false(smp_path_within("/a/bc", "/a/b"));
    assert_true(smp_path_within("/a/b/c", "/a/b"));
    assert_true(smp_path_within("/a", "/"));
    smp_free(top);
    smp_free(inner);
    remove_tree();
}

static void name_of(const char *name, const char *pattern, const char *want)
{
    smp_error err = {0};
    smp_namer namer = smp_namer_for("out", pattern, NULL, &no_stages);
    assert_ok(smp_name_pattern_check(pattern, &err));
    assert_string_equal(smp_namer_output(&namer, name), want);
    smp_namer_free(&namer);
}

SMP_TEST(patterns_name_outputs)
{
    name_of("a.png", "{stem}.{ext}", "out/a.png");
    name_of("x/y/a.b.JPG", "{stem}.{ext}", "out/x/y/a.b.JPG");
    name_of("a.psd", "{stem}.{ext}", "out/a.png"); /* cannot be written */
    name_of("a", "{stem}.{ext}", "out/a.png");
    name_of(".png", "{name}", "out/.png.png");
    name_of("a.png", "small/{name}", "out/small/a.png");
    name_of("{ext}.png", "{stem}.jpg", "out/{ext}.jpg"); /* what a file is called is no pattern */
    name_of("100%.png", "{stem}%s.png", "out/100%%s.png");
    name_of("a.psd", "{stem}-{from}.{ext}", "out/a-psd.png");
}

static smp_journal_entry entry(bool done, uint64_t input, uint64_t work)
{
    return (smp_journal_entry){
        .done = done, .input = {input, 1}, .work = {work, 2}, .size = done ? 7 : 0, .mtime = done ? 9 : 0};
}

SMP_TEST(journals_say_what_was_begun_and_done)
{
    clear_folder();
    smp_error err = {0};
    smp_journal *journal, *second;
    smp_journal_log *log;
    static const char strange[] = "new\nline \\ back/slash.png";
    const smp_journal_entry lines[] = {entry(false, 1, 5), entry(true, 1, 5), entry(false, 2, 5)};
    assert_ok(smp_journal_open(in_folder(""), 0, 0, &journal, NULL, &err));
    assert_int_equal(smp_journal_open(in_folder(""), 0, 0, &second, NULL, &err), SMP_E_WRITE); /* held */
    assert_ok(smp_journal_open(in_folder(""), 1, 2, &second, NULL, &err));
    for (int i = 0; i < 3; i++)
        assert_ok(smp_journal_add(journal, "a.png", &lines[i], &err));
    assert_ok(smp_journal_add(journal, strange, &lines[0], &err));
    assert_ok(smp_journal_add(journal, strange, &lines[1], &err));
    assert_ok(smp_journal_add(second, "b.png", &lines[0], &err));
    smp_journal_entry holed = lines[1];
    holed.lacks = true;
    assert_ok(smp_journal_add(second, "s.tar", &holed, &err));
    smp_journal_close(journal);
    smp_journal_close(second);
    assert_ok(smp_journal_read(in_folder(""), NULL, &log, &err));
    smp_journal_past a, b, s, c;
    assert_true(smp_journal_find(log, "a.png", &a) && smp_journal_find(log, "b.png", &b));
    assert_true(smp_journal_find(log, strange, &s));
    assert_true(a.done && a.begun && a.last.input.a == 1 && a.last.size == 7 && a.last.mtime == 9);
    assert_true(!b.done && b.begun && b.begun_work.a == 5);
    assert_true(s.done && !s.begun && !s.last.lacks);
    assert_true(smp_journal_find(log, "s.tar", &s) && s.done && s.last.lacks);
    assert_false(smp_journal_find(log, "c.png", &c));
    smp_journal_log_free(log);
    clear_folder();
}

SMP_TEST(damaged_journals_lose_damaged_lines_alone)
{
    clear_folder();
    smp_error err = {0};
    smp_journal *journal;
    smp_journal_log *log;
    const smp_journal_entry done = entry(true, 1, 5);
    assert_ok(smp_journal_open(in_folder(""), 0, 0, &journal, NULL, &err));
    assert_ok(smp_journal_add(journal, "a.png", &done, &err));
    smp_journal_close(journal);
    int fd = open(in_folder(SMP_JOURNAL_NAME), O_WRONLY | O_APPEND);
    static const char noise[] =
        "done\ndone 12 34\n\nbegin xyz\n\xff\xfe garbage \n"
        "done 0000000000000001000000000000000200000 1 2 3 x.png\n"
        "done 00000000000000010000000000000001 00000000000000050000000000000002 7 9 \"c.png\n"
        "done 00000000000000010000000000000001 00000000000000050000000000000002 7 9 \"c.png\"x\n"
        "done 00000000000000010000000000000001 00000000000000050000000000000002 7 9 c.png\ndone "
        "00000000000000010000000000";
    assert_int_equal(write(fd, noise, sizeof noise - 1), sizeof noise - 1);
    close(fd);
    assert_ok(smp_journal_open(in_folder(""), 0, 0, &journal, NULL, &err)); /* ends the line that was cut off */
    assert_ok(smp_journal_add(journal, "b.png", &done, &err));
    smp_journal_close(journal);
    assert_ok(smp_journal_read(in_folder(""), NULL, &log, &err));
    smp_journal_past past;
    assert_true(smp_journal_find(log, "a.png", &past) && past.done);
    assert_true(smp_journal_find(log, "b.png", &past) && past.done);
    assert_false(smp_journal_find(log, "c.png", &past));
    smp_journal_log_free(log);
    clear_folder();
}

/* Machines that share a folder must agree, whatever is in it: these stay. */
SMP_TEST(shards_are_a_matter_of_the_name)
{
    enum { NAMES = 1000, SHARDS = 7 };
    int counts[SHARDS] = {0};
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "series/%04d.png", i);
        int64_t shard = smp_shard_of(name, SHARDS);
        assert_in_range(shard, 1, SHARDS);
        counts[shard - 1]++;
        assert_int_equal(smp_shard_of(name, 1), 1);
    }
    for (int i = 0; i < SHARDS; i++) /* 143 in the mean, 11 its deviation */
        assert_in_range(counts[i], 143 - 45, 143 + 45);
    assert_int_equal(smp_shard_of("a.png", 1000), 225);
    assert_int_equal(smp_shard_of("x/b.png", 1000), 24);
}

SMP_TEST(every_failing_allocation_is_reported)
{
    make_tree();
    make_folder_in("out");
    char *out = strdup(in_folder("out"));
    const char *given[] = {in_folder("in")};
    char *copy = strdup(given[0]);
    given[0] = copy;
    smp_todo_request request = {.given = given,
                                .given_count = 1,
                                .folder = out,
                                .pattern = "{stem}.{ext}",
                                .program = &no_stages,
                                .resume = true,
                                .walk.recursive = true};
    uint64_t before = smp_alloc_live();
    smp_code code = SMP_E_MEMORY;
    for (uint64_t nth = 1; code && nth < 10000; nth++) {
        smp_todo todo;
        smp_error err = {0};
        smp_alloc_fail_at(nth);
        code = smp_todo_make(&request, &todo, &err);
        smp_alloc_fail_at(0);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY || code == SMP_E_WRITE);
        assert_true(code == SMP_OK || err.message[0]);
        if (!code)
            assert_int_equal(todo.count.to_do, 3);
        smp_todo_free(&todo);
        assert_int_equal(smp_alloc_live(), before);
    }
    assert_int_equal(code, SMP_OK);
    free(out);
    free(copy);
    rmdir(in_folder("out"));
    remove_tree();
}

SMP_TESTS_AROUND(make_folder, remove_folder)
