/* Files beneath folders: somebody swaps links while a pipeline's files are found and opened. */
#include "suite.h"

#include "media_fixture.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>

#include "api/pipe_text.h"
#include "base/os/beneath.h"
#include "lab/stage/device_code.h"
#include "run/file_source.h"

enum { LOOPS = 1000, INSIDE = 5, OUTSIDE = 7 /* the width of a picture */ };

static void put(const char *name, const char *text)
{
    FILE *to = fopen(in_folder(name), "w");
    assert_non_null(to);
    assert_true(fputs(text, to) >= 0);
    assert_int_equal(fclose(to), 0);
}

static void put_picture(const char *name, int64_t width)
{
    smp_error err;
    picture p = make_picture(width, 3, 1, false, SMP_U8);
    assert_int_equal(write_picture(in_folder(name), &p, &err), SMP_OK);
    free_picture(&p);
}

static int make_world(void **state)
{
    make_folder(state);
    mkdir(in_folder("own"), 0777);
    mkdir(in_folder("own/real"), 0777);
    mkdir(in_folder("other"), 0777);
    put("own/real/x.pipe", "invert\n");
    put("other/x.pipe", "secret\n");
    put_picture("own/real/x.npy", INSIDE);
    put_picture("other/x.npy", OUTSIDE);
    return 0;
}

static int removed(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

static int remove_world(void **state)
{
    (void)state;
    return nftw(folder, removed, 8, FTW_DEPTH | FTW_PHYS);
}

/* ------------------------------------------------------------------------------------------------ links that swap */

typedef struct swapping {
    pthread_t thread;
    atomic_bool ends;
    char link[200], fresh[200];
} swapping;

static void *swap(void *context)
{
    swapping *s = context;
    for (int i = 0; !atomic_load(&s->ends); i++)
        if (symlink(i % 2 ? "../other" : "real", s->fresh) == 0)
            (void)rename(s->fresh, s->link);
    return NULL;
}

/* own/swap leads now to own/real, now to other. */
static void begin_swapping(swapping *s)
{
    atomic_init(&s->ends, false);
    snprintf(s->link, sizeof s->link, "%s", in_folder("own/swap"));
    snprintf(s->fresh, sizeof s->fresh, "%s", in_folder("own/fresh"));
    assert_int_equal(pthread_create(&s->thread, NULL, swap, s), 0);
}

static void end_swapping(swapping *s)
{
    atomic_store(&s->ends, true);
    pthread_join(s->thread, NULL);
}

SMP_TEST_AROUND(includes_come_from_the_folder_alone, make_world, remove_world)
{
    smp_readable may = {.lenient = false};
    smp_error err;
    static swapping s; /* outlives a failure, as the thread does */
    int read = 0;
    char including[200];
    snprintf(including, sizeof including, "%s", in_folder("own/p.pipe"));
    assert_int_equal(smp_readable_add_folder_of(&may, including, &err), SMP_OK);
    begin_swapping(&s);
    for (int i = 0; i < LOOPS || !read; i++) {
        char *text;
        size_t length;
        if (smp_pipe_include(&may, including, "swap/x.pipe", &text, &length, &err))
            continue;
        assert_string_equal(text, "invert\n");
        read++;
        smp_free(text);
    }
    end_swapping(&s);
    smp_readable_free(&may);
}

SMP_TEST_AROUND(pictures_come_from_the_folder_alone, make_world, remove_world)
{
    smp_roots roots = {.count = 0};
    static swapping s; /* outlives a failure, as the thread does */
    int read = 0;
    char path[200];
    snprintf(path, sizeof path, "%s", in_folder("own/swap/x.npy"));
    assert_true(smp_roots_add(&roots, in_folder("own")));
    begin_swapping(&s);
    for (int i = 0; i < LOOPS || !read; i++) {
        smp_operand_file file = {.path = path};
        smp_shape shape;
        smp_error err;
        int orientation;
        assert_true(smp_beneath_find(&roots, path, &file.beneath));
        if (file.beneath.name && !smp_file_probe(NULL, &file, &shape, &orientation, &err)) {
            assert_int_equal(shape.width, INSIDE);
            read++;
        }
        smp_free(file.beneath.name);
    }
    end_swapping(&s);
    smp_roots_free(&roots);
}

/* ------------------------------------------------------------------------------------------------ one at a time */

static smp_code open_at(const smp_beneath *at, smp_error *err)
{
    int fd;
    const smp_code code = smp_beneath_open(at, &fd, err);
    assert_true((fd >= 0) == !code);
    if (fd >= 0)
        close(fd);
    return code;
}

SMP_TEST_AROUND(a_link_that_was_put_in_the_way_is_not_followed, make_world, remove_world)
{
    smp_roots roots = {.count = 0};
    smp_beneath at;
    smp_error err;
    assert_true(smp_roots_add(&roots, in_folder("own")));
    assert_true(smp_beneath_find(&roots, in_folder("own/real/x.pipe"), &at));
    assert_string_equal(at.name, "real/x.pipe");
    assert_int_equal(open_at(&at, &err), SMP_OK);
    assert_int_equal(rename(in_folder("own/real"), in_folder("own/was")), 0);
    assert_int_equal(symlink("../other", in_folder("own/real")), 0);
    assert_int_equal(open_at(&at, &err), SMP_E_READ);
    assert_non_null(strstr(err.message, "a link in the way"));
    unlink(in_folder("own/real"));
    assert_int_equal(rename(in_folder("own/was"), in_folder("own/real")), 0);
    assert_int_equal(rename(in_folder("own/real/x.pipe"), in_folder("own/real/y.pipe")), 0);
    assert_int_equal(symlink("../../other/x.pipe", in_folder("own/real/x.pipe")), 0);
    assert_int_equal(open_at(&at, &err), SMP_E_READ);
    smp_free(at.name);
    assert_true(smp_beneath_find(&roots, in_folder("own/real/x.pipe"), &at)); /* leads out of it */
    assert_null(at.name);
    smp_roots_free(&roots);
}

SMP_TEST_AROUND(the_folder_stays_the_one_that_was_given, make_world, remove_world)
{
    smp_roots roots = {.count = 0};
    smp_beneath at;
    smp_error err;
    assert_true(smp_roots_add(&roots, in_folder("own/real")));
    assert_true(smp_beneath_find(&roots, in_folder("own/real/x.pipe"), &at));
    assert_int_equal(rename(in_folder("own/real"), in_folder("own/was")), 0);
    assert_int_equal(symlink("../other", in_folder("own/real")), 0);
    assert_int_equal(unlink(in_folder("other/x.pipe")), 0);
    assert_int_equal(open_at(&at, &err), SMP_OK);
    smp_free(at.name);
    smp_roots_free(&roots);
}

/* A pipe without a writer would wait for one. */
SMP_TEST_AROUND(what_is_no_file_is_refused_at_once, make_world, remove_world)
{
    smp_readable may = {.lenient = false};
    smp_error err;
    char including[200], *text;
    size_t length;
    snprintf(including, sizeof including, "%s", in_folder("own/p.pipe"));
    assert_int_equal(mkfifo(in_folder("own/fifo.pipe"), 0666), 0);
    assert_int_equal(smp_readable_add_folder_of(&may, including, &err), SMP_OK);
    assert_int_equal(smp_pipe_include(&may, including, "fifo.pipe", &text, &length, &err), SMP_E_READ);
    assert_non_null(strstr(err.message, "is not a regular file"));
    smp_readable_free(&may);
}

SMP_TEST_AROUND(folders_are_made_below_and_not_through_links, make_world, remove_world)
{
    struct stat status;
    smp_roots roots = {.count = 0};
    assert_true(smp_roots_add(&roots, in_folder("own")));
    int count = 0;
    char path[] = "a/b/c.png", deeper[] = "a/b/d/e/c.png";
    const int own = roots.items[0].fd, made = smp_beneath_folder(own, path, &count);
    assert_true(made >= 0);
    assert_int_equal(count, 2);
    assert_int_equal(stat(in_folder("own/a/b"), &status), 0);
    count = 0;
    const int inner = smp_beneath_folder(own, deeper, &count);
    smp_beneath_leave(inner, deeper, count); /* d and e, which it made */
    assert_int_not_equal(stat(in_folder("own/a/b/d"), &status), 0);
    assert_int_equal(stat(in_folder("own/a/b"), &status), 0);
    smp_beneath_leave(made, path, 2);
    assert_int_not_equal(stat(in_folder("own/a"), &status), 0);
    char written[] = "f//g/./h/.//c.png"; /* the way is made without what says nothing */
    count = 0;
    const int real = smp_beneath_folder(own, "f/g/h/c.png", &count);
    smp_beneath_leave(real, written, count);
    assert_int_not_equal(stat(in_folder("own/f"), &status), 0);
    assert_int_equal(symlink("../other", in_folder("own/out")), 0);
    assert_int_equal(smp_beneath_folder(own, "out/new/c.png", &count), -1);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(smp_beneath_folder(own, "../other/c.png", NULL), -1);
    assert_int_equal(smp_beneath_folder(own, "no/c.png", NULL), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_not_equal(stat(in_folder("other/new"), &status), 0);
    smp_roots_free(&roots);
}

SMP_TEST_AROUND(no_compiler_has_headers_made_elsewhere, make_world, remove_world)
{
    static const char nested[] = "a.cu:1:10: fatal error: torch/csrc/a.h: No such file",
                      plain[] = "fatal error: Python.h: No such file";
    struct stat status;
    size_t length = 0;
    char own[PATH_MAX];
    snprintf(own, sizeof own, "%s", in_folder("own"));
    const char *name = smp_device_code_header(nested, own, &length);
    assert_non_null(name);
    assert_memory_equal(name, "torch/csrc/a.h", length);
    assert_int_equal(stat(in_folder("own/smempipe-headers/torch/csrc/a.h"), &status), 0);
    assert_null(smp_device_code_header(nested, own, &length)); /* it is there already */
    snprintf(own, sizeof own, "%s", in_folder("own/real"));    /* where there is none yet */
    assert_int_equal(symlink("../../other", in_folder("own/real/smempipe-headers")), 0);
    assert_null(smp_device_code_header(nested, own, &length));
    assert_null(smp_device_code_header(plain, own, &length));
    assert_int_not_equal(stat(in_folder("other/torch"), &status), 0);
    assert_int_not_equal(stat(in_folder("other/Python.h"), &status), 0);
}
