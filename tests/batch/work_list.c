/* Lists of work: what was put in comes out, pieces shrink, shares are even, and what was changed is refused. */
#include "suite.h"

#include "media_fixture.h"

#include "base/paths.h"
#include "batch/claims/work_list.h"
#include "batch/line.h"

static const char root[] = "/data/a\nb";

/* A list of `count` files of so many bytes; names (may be null) in place of "p0", "p1", ... */
static smp_list_sum make_list(size_t count, uint64_t bytes, const char *const *names, uint64_t piece_bytes,
                              uint64_t piece_files)
{
    smp_error err = {0};
    smp_list_writer *writer;
    smp_list_sum sum;
    assert_ok(smp_list_begin(in_folder("work.list"), true, root, piece_bytes, piece_files, &writer, &err));
    for (size_t i = 0; i < count; i++) {
        char number[32];
        snprintf(number, sizeof number, "p%zu", i);
        const smp_found found = {.name = names ? names[i] : number, .size = bytes, .mtime = -5 + (int64_t)i};
        assert_ok(smp_list_add(writer, &found, &err));
    }
    assert_ok(smp_list_end(writer, &sum, &err));
    return sum;
}

static smp_work_list *open_list(void)
{
    smp_error err = {0};
    smp_work_list *list;
    assert_ok(smp_work_list_open(in_folder("work.list"), &list, &err));
    return list;
}

SMP_TEST(any_name_comes_back)
{
    static const char *const names[] = {"a.png", "new\nline", "back\\slash\\n", "\"quoted\" x.png",
                                        "\\",    "d/..x/...", "\xff\xfe"};
    enum { COUNT = sizeof names / sizeof names[0] };
    smp_error err = {0};
    smp_texts texts = {NULL};
    smp_found *found;
    size_t count;
    assert_int_equal(make_list(COUNT, 7, names, 0, 0).pieces, 1);
    smp_work_list *list = open_list();
    assert_string_equal(smp_work_list_root(list), root);
    assert_ok(smp_work_list_read(list, 0, &texts, &found, &count, &err));
    assert_int_equal(count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_string_equal(found[i].name, names[i]);
        assert_int_equal(found[i].size, 7);
        assert_int_equal(found[i].mtime, -5 + (int64_t)i);
    }
    smp_free(found);
    smp_texts_free(&texts);
    smp_work_list_close(list);
}

/* Files that differ in the extension alone lead from each to the one before; other folders' do not. */
SMP_TEST(twins_lead_to_the_one_before)
{
    static char long_names[2][300]; /* longer than what is read at first */
    for (int i = 0; i < 2; i++) {
        memset(long_names[i], 'x', sizeof long_names[i] - 5);
        strcpy(long_names[i] + sizeof long_names[i] - 5, i ? ".png" : ".jpg");
    }
    const char *const names[] = {"a-1.png", "a.jpg",   "a.k.png",     "a.png",      "b",
                                 "a.webp",  "d/a.png", long_names[0], long_names[1]};
    static const int before[] = {-1, -1, -1, 1, -1, 3, -1, -1, 7};
    enum { COUNT = sizeof names / sizeof names[0] };
    smp_error err = {0};
    smp_texts texts = {NULL};
    assert_int_equal(make_list(COUNT, 7, names, 0, 2).collisions, 3);
    smp_work_list *list = open_list();
    for (size_t i = 0, at = 0; i < smp_work_list_pieces(list); i++) {
        smp_found *found, other;
        size_t count;
        assert_ok(smp_work_list_read(list, i, &texts, &found, &count, &err));
        for (size_t k = 0; k < count; k++, at++) {
            assert_int_equal(found[k].collision != 0, before[at] >= 0);
            if (before[at] < 0)
                continue;
            assert_ok(smp_work_list_read_line(list, found[k].collision, &texts, &other, &err));
            assert_string_equal(other.name, names[before[at]]);
            assert_int_equal(other.mtime, -5 + before[at]);
            assert_int_equal(smp_work_list_read_line(list, found[k].collision + 1, &texts, &other, &err), SMP_E_READ);
        }
        smp_free(found);
    }
    static const uint64_t wrong[] = {0, 1, 33, 1000000, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        smp_found other;
        assert_int_equal(smp_work_list_read_line(list, wrong[i], &texts, &other, &err), SMP_E_READ);
    }
    smp_texts_free(&texts);
    smp_work_list_close(list);
}

SMP_TEST(escapes_are_undone)
{
    static const char text[] = "a\\b\n\"c\"\\n";
    char line[2 * sizeof text], back[2 * sizeof text];
    *smp_line_escape(line, text, true) = '\0';
    assert_string_equal(line, "a\\\\b\\n\\\"c\\\"\\\\n");
    assert_int_equal(*smp_line_unescape(back, line, '"'), '\0');
    assert_string_equal(back, text);
    *smp_line_escape(line, text, false) = '\0';
    assert_string_equal(line, "a\\\\b\\n\"c\"\\\\n");
    assert_string_equal(smp_line_unescape(back, line, '"'), "\"c\"\\\\n"); /* ends at the quote */
    smp_line_unescape(line, line, '\0');
    assert_string_equal(line, text);
}

/* All pieces together hold what the list does, and every file is in one. */
static void add_up(const smp_work_list *list, const smp_list_sum *sum)
{
    smp_error err = {0};
    uint64_t files = 0, bytes = 0;
    for (size_t i = 0; i < smp_work_list_pieces(list); i++) {
        const smp_work_piece *piece = smp_work_list_piece(list, i);
        smp_texts texts = {NULL};
        smp_found *found;
        size_t count;
        char first[32];
        assert_ok(smp_work_list_read(list, i, &texts, &found, &count, &err));
        assert_int_equal(count, piece->files);
        snprintf(first, sizeof first, "p%llu", (unsigned long long)files);
        assert_string_equal(found[0].name, first);
        files += piece->files;
        bytes += piece->bytes;
        smp_free(found);
        smp_texts_free(&texts);
    }
    assert_int_equal(files, sum->files);
    assert_int_equal(bytes, sum->bytes);
    assert_int_equal(smp_work_list_pieces(list), sum->pieces);
}

SMP_TEST(pieces_shrink_to_a_few_files)
{
    enum { FILES = 100000, LEAST = 16, PARTS = 1024 };
    const smp_list_sum sum = make_list(FILES, 100, NULL, 0, 0);
    smp_work_list *list = open_list();
    add_up(list, &sum);
    uint64_t left = FILES;
    for (size_t i = 0; i < sum.pieces; i++) {
        const uint64_t files = smp_work_list_piece(list, i)->files;
        assert_true(files <= LEAST || files <= left / PARTS);
        assert_true(files >= LEAST || files == left);
        left -= files;
    }
    assert_true(smp_work_list_piece(list, 0)->files > 4 * LEAST);
    assert_in_range(sum.pieces, FILES / PARTS, FILES / LEAST);
    smp_work_list_close(list);
}

/* More units than are kept: they are joined on the way. */
SMP_TEST(long_lists_keep_few_pieces)
{
    enum { FILES = 70000 };
    const smp_list_sum sum = make_list(FILES, 5 << 20, NULL, 0, 0); /* a unit each */
    smp_work_list *list = open_list();
    add_up(list, &sum);
    assert_in_range(sum.pieces, 1024, FILES / 7);
    assert_true(smp_work_list_piece(list, 0)->bytes > UINT64_C(32) << 20);
    assert_int_equal(smp_work_list_piece(list, sum.pieces - 1)->files, 1);
    smp_work_list_close(list);
}

SMP_TEST(chosen_sizes_are_kept)
{
    assert_int_equal(make_list(100, 1000, NULL, 0, 10).pieces, 10);
    smp_work_list *list = open_list();
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(smp_work_list_piece(list, i)->files, 10);
    smp_work_list_close(list);
    assert_int_equal(make_list(100, 1000, NULL, 5000, 0).pieces, 20);
    assert_int_equal(make_list(0, 0, NULL, 0, 0).pieces, 0);
    list = open_list();
    assert_int_equal(smp_work_list_pieces(list), 0);
    smp_work_list_close(list);
}

SMP_TEST(shares_are_even_and_whole)
{
    static const int64_t of[] = {1, 3, 7, 200, 100000};
    const smp_list_sum sum = make_list(20000, 3000, NULL, 0, 0);
    smp_work_list *list = open_list();
    smp_error err = {0};
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        uint32_t *owners;
        assert_ok(smp_work_list_shares(list, of[k], &owners, &err));
        uint64_t *files = calloc((size_t)of[k] + 1, sizeof *files), least = UINT64_MAX, most = 0;
        assert_non_null(files);
        for (size_t i = 0; i < sum.pieces; i++) {
            assert_in_range(owners[i], 1, of[k]);
            files[owners[i]] += smp_work_list_piece(list, i)->files;
        }
        for (int64_t s = 1; s <= of[k]; s++) {
            least = files[s] < least ? files[s] : least;
            most = files[s] > most ? files[s] : most;
        }
        assert_true(most - least <= 16 || (uint64_t)of[k] > sum.pieces / 2);
        free(files);
        smp_free(owners);
    }
    smp_work_list_close(list);
}

/* Every byte matters: whichever is changed, the list is refused, when it is opened or when its piece is read. */
SMP_TEST(a_changed_byte_is_noticed)
{
    make_list(5, 7, NULL, 0, 2);
    char text[2048];
    FILE *file = fopen(in_folder("work.list"), "rb");
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    const size_t head = strlen("smempipe list 2\nfolder /data/a\\nb\n");
    for (size_t i = head; i < size; i++) {
        smp_error err = {0};
        smp_work_list *list;
        text[i] ^= 1;
        store(in_folder("bad.list"), text, size);
        text[i] ^= 1;
        smp_code code = smp_work_list_open(in_folder("bad.list"), &list, &err);
        for (size_t k = 0; !code && k < smp_work_list_pieces(list); k++) {
            smp_texts texts = {NULL};
            smp_found *found = NULL;
            size_t count;
            code = smp_work_list_read(list, k, &texts, &found, &count, &err);
            smp_free(found);
            smp_texts_free(&texts);
        }
        smp_work_list_close(list);
        const bool links = i >= size - 47 && i < size - 34; /* how many links there are decides nothing of files */
        if (!links)
            assert_int_equal(code, SMP_E_READ);
    }
    unlink(in_folder("bad.list"));
}

SMP_TEST(names_that_leave_the_folder)
{
    static const char *const leave[] = {"..", "../a", "a/..", "a/../b", "/a", "a/b/.."};
    static const char *const stay[] = {"a", "..a", "a..", "a/..b", ".", "a/.../b", ""};
    for (size_t i = 0; i < sizeof leave / sizeof leave[0]; i++) {
        smp_error err = {0};
        smp_texts texts = {NULL};
        smp_found *found = NULL;
        size_t count;
        assert_true(smp_path_leaves(leave[i]));
        make_list(1, 7, &leave[i], 0, 0);
        smp_work_list *list = open_list();
        assert_int_equal(smp_work_list_read(list, 0, &texts, &found, &count, &err), SMP_E_READ);
        assert_null(found);
        smp_texts_free(&texts);
        smp_work_list_close(list);
    }
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++)
        assert_false(smp_path_leaves(stay[i]));
}

/* Writes a list, opens it, shares it, reads a piece. */
static smp_code use_list(smp_error *err)
{
    smp_list_writer *writer;
    smp_list_sum sum;
    smp_work_list *list = NULL;
    smp_texts texts = {NULL};
    smp_found *found = NULL;
    uint32_t *owners = NULL;
    size_t count;
    smp_code code = smp_list_begin(in_folder("work.list"), true, root, 0, 3, &writer, err);
    if (code)
        return code;
    for (int i = 0; !code && i < 40; i++) {
        const smp_found file = {.name = "d/p.png", .size = 1, .mtime = i};
        code = smp_list_add(writer, &file, err);
    }
    if (!code)
        code = smp_list_end(writer, &sum, err);
    else
        smp_list_abort(writer);
    if (!code)
        code = smp_work_list_open(in_folder("work.list"), &list, err);
    if (!code)
        code = smp_work_list_shares(list, 5, &owners, err);
    if (!code)
        code = smp_work_list_read(list, 2, &texts, &found, &count, err);
    smp_found other;
    if (!code)
        code = smp_work_list_read_line(list, found[0].collision, &texts, &other, err);
    smp_free(owners);
    smp_free(found);
    smp_texts_free(&texts);
    smp_work_list_close(list);
    return code;
}

SMP_TEST(every_failing_allocation_is_reported)
{
    const uint64_t before = smp_alloc_live();
    smp_code code = SMP_E_MEMORY;
    uint64_t nth = 0;
    while (code && nth < 1000) {
        smp_error err = {0};
        smp_alloc_fail_at(++nth);
        code = use_list(&err);
        smp_alloc_fail_at(0);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY);
        assert_true(code == SMP_OK || err.message[0]);
        assert_int_equal(smp_alloc_live(), before);
    }
    assert_int_equal(code, SMP_OK);
    assert_true(nth > 10);
}

static int remove_list(void **context)
{
    unlink(in_folder("work.list"));
    return remove_folder(context);
}

SMP_TESTS_AROUND(make_folder, remove_list)
