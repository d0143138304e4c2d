/* Pieces of a list in an output folder: each is taken once, and taken up again by those who may. Whole tasks:
 * tests/cluster/test_tasks.py. */
#include "suite.h"

#include "media_fixture.h"

#include <ftw.h>
#include <stdbool.h>

#include "batch/claims/claims.h"
#include "batch/todo.h"

enum { COUNT = 1100 }; /* two groups of them */

static char *output; /* a folder in the test's folder */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)kind, (void)at;
    return remove(path);
}

static int make_output(void **context)
{
    (void)context;
    output = strdup(in_folder("out"));
    return !output || mkdir(output, 0777);
}

static int remove_output(void **context)
{
    (void)context;
    const int code = nftw(output, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(output);
    return code;
}

static smp_claims_request ask(size_t count, bool claim, bool resume)
{
    return (smp_claims_request){.folder = output,
                                .list = {1, 2},
                                .work = {3, 4},
                                .share.pieces = count,
                                .claim = claim,
                                .resume = resume,
                                .clock = -1};
}

static smp_claims *open_pieces(const smp_claims_request *request)
{
    smp_error err = {0};
    smp_claims *pieces;
    assert_ok(smp_claims_open(request, true, &pieces, &err));
    return pieces;
}

/* The next piece, taken; null: there is none, or another took it (*piece < COUNT). */
static smp_claim *take_next(smp_claims *pieces, size_t *piece, smp_piece_past *past)
{
    smp_error err = {0};
    smp_claim *claim = NULL;
    bool lockless = false;
    size_t next;
    *piece = SIZE_MAX;
    if (smp_claims_next(pieces, &next, past)) {
        *piece = next;
        assert_ok(smp_claims_take(pieces, next, past, &claim, &lockless, &err));
    }
    return claim;
}

static void end_done(smp_claim *claim, uint64_t sum)
{
    smp_error err = {0};
    const smp_piece_past past = {.done = true, .sum = sum, .newest = 77};
    assert_ok(smp_claim_done(claim, &past, 1, &err));
}

/* Two tasks that take turns, over several groups: every piece comes once, the large ones in front first. */
SMP_TEST_AROUND(every_piece_is_taken_once, make_output, remove_output)
{
    const smp_claims_request request = ask(COUNT, true, false);
    smp_claims *tasks[] = {open_pieces(&request), open_pieces(&request)};
    smp_claim *held[2] = {NULL};
    uint8_t taken[COUNT] = {0};
    size_t total = 0, furthest = 0;
    for (bool more[2] = {true, true}; more[0] || more[1];)
        for (int i = 0; i < 2; i++) {
            size_t piece;
            smp_piece_past past;
            smp_claim *claim = more[i] ? take_next(tasks[i], &piece, &past) : NULL;
            more[i] = more[i] && piece != SIZE_MAX;
            if (!claim)
                continue;
            assert_int_equal(taken[piece]++, 0);
            assert_false(past.done || past.begun);
            assert_true(piece <= total + 4); /* as many as are worked on may be left out for a while */
            furthest = piece > furthest ? piece : furthest;
            total++;
            smp_claim_give_back(held[i], SMP_CLAIM_FAILED); /* which syncs nothing, and so is quick */
            held[i] = claim;
        }
    assert_int_equal(total, COUNT);
    assert_int_equal(furthest, COUNT - 1);
    smp_claims_sum sum = smp_claims_sum_up(tasks[0]);
    assert_int_equal(sum.failed, COUNT - 2);
    assert_int_equal(sum.held, 2);
    smp_claim_give_back(held[0], SMP_CLAIM_STOPPED);
    smp_claim_give_back(held[1], SMP_CLAIM_FAILED);
    sum = smp_claims_sum_up(tasks[1]);
    assert_int_equal(sum.left, 1);
    assert_int_equal(sum.failed, COUNT - 1);
    assert_int_equal(sum.held, 0);
    smp_claims_close(tasks[0]);
    smp_claims_close(tasks[1]);
}

SMP_TEST_AROUND(pieces_that_were_left_are_taken_up_with_resume, make_output, remove_output)
{
    smp_claims_request request = ask(3, true, false);
    smp_claims *first = open_pieces(&request);
    size_t piece;
    smp_piece_past past;
    smp_claim *claims[3];
    for (size_t i = 0; i < 3; i++)
        claims[i] = take_next(first, &piece, &past);
    smp_error err = {0};
    const smp_journal_entry begun = {.input = {1, 1}, .work = {3, 4}};
    assert_ok(smp_journal_add(smp_claim_journal(claims[1]), "b.png", &begun, &err));
    end_done(claims[0], 9);
    smp_claim_give_back(claims[1], SMP_CLAIM_STOPPED);

    smp_claims *plain = open_pieces(&request); /* without resume nothing is free */
    assert_null(take_next(plain, &piece, &past));
    assert_int_equal(piece, SIZE_MAX);
    smp_claims_close(plain);

    request.resume = true;
    smp_claims *second = open_pieces(&request);
    smp_claim *again = take_next(second, &piece, &past);
    assert_non_null(again);
    assert_int_equal(piece, 1);
    assert_true(past.begun && !past.done);
    smp_journal_log *log;
    smp_journal_past of_file;
    assert_ok(smp_claims_log(second, 1, &log, &err));
    assert_true(smp_journal_find(log, "b.png", &of_file) && of_file.begun);
    smp_journal_log_free(log);
    assert_null(take_next(second, &piece, &past)); /* piece 0 is done, piece 2 is held by a process that lives */
    assert_int_equal(piece, SIZE_MAX);
    end_done(again, 9);
    smp_claim_give_back(claims[2], SMP_CLAIM_STOPPED);
    smp_claims_close(first);
    smp_claims_close(second);
}

/* Without claims: a piece that is done comes again with resume, with what its outputs summed up to. */
SMP_TEST_AROUND(pieces_that_are_done_are_looked_at_again, make_output, remove_output)
{
    smp_claims_request request = ask(2, false, true);
    size_t piece;
    smp_piece_past past;
    smp_claims *first = open_pieces(&request);
    end_done(take_next(first, &piece, &past), 123);
    smp_claims_close(first);
    smp_claims *second = open_pieces(&request);
    assert_true(smp_claims_next(second, &piece, &past));
    assert_int_equal(piece, 0);
    assert_true(past.done && past.sum == 123 && past.newest == 77);
    assert_true(smp_claims_next(second, &piece, &past));
    assert_int_equal(piece, 1);
    assert_false(past.done || past.begun || past.passed);
    assert_false(smp_claims_next(second, &piece, &past));
    smp_claims_close(second);
    request.resume = false;
    smp_claims *plain = open_pieces(&request);
    assert_true(smp_claims_next(plain, &piece, &past));
    assert_true(past.passed && !past.done); /* its outputs are in the way */
    smp_claims_close(plain);
}

/* Also by a task that has gone past it, and without resume. */
SMP_TEST_AROUND(a_piece_that_is_given_back_is_free, make_output, remove_output)
{
    const smp_claims_request request = ask(3, true, false);
    smp_claims *refused = open_pieces(&request), *other = open_pieces(&request);
    size_t piece;
    smp_piece_past past;
    smp_claim *back = take_next(refused, &piece, &past);
    assert_int_equal(piece, 0);
    for (size_t done = 0; done < 2;) { /* by chance it tries the one that is held */
        smp_claim *claim = take_next(other, &piece, &past);
        if (claim)
            end_done(claim, 1);
        done += claim != NULL;
    }
    assert_int_equal(smp_claims_sum_up(other).held, 1);
    smp_claim_give_back(back, SMP_CLAIM_UNTOUCHED);
    assert_int_equal(smp_claims_sum_up(other).left, 1);
    smp_claim *claim = take_next(other, &piece, &past);
    assert_non_null(claim);
    assert_int_equal(piece, 0);
    assert_int_equal(past.tries, 1);
    assert_false(past.begun || past.passed);
    assert_null(take_next(other, &piece, &past));
    assert_int_equal(piece, SIZE_MAX);
    end_done(claim, 1);
    assert_int_equal(smp_claims_sum_up(refused).done, 3);
    smp_claims_close(refused);
    smp_claims_close(other);
}

SMP_TEST_AROUND(shards_have_their_own, make_output, remove_output)
{
    static const uint32_t owners[] = {1, 2, 2, 1, 3};
    smp_claims_request request = ask(5, false, false);
    request.share.owners = owners;
    request.share.shard = 2;
    smp_claims *pieces = open_pieces(&request);
    size_t piece;
    smp_piece_past past;
    smp_claim *claim = take_next(pieces, &piece, &past);
    assert_int_equal(piece, 1);
    end_done(claim, 1);
    claim = take_next(pieces, &piece, &past);
    assert_int_equal(piece, 2);
    end_done(claim, 1);
    assert_false(smp_claims_next(pieces, &piece, &past));
    assert_int_equal(smp_claims_sum_up(pieces).done, 2);
    smp_claims_close(pieces);
}

static size_t dealt;

static bool deal_backwards(size_t count, size_t *piece)
{
    *piece = count - 1 - dealt;
    return dealt++ < count;
}

SMP_TEST_AROUND(pieces_come_as_they_are_dealt, make_output, remove_output)
{
    smp_claims_request request = ask(3, false, false);
    request.share.deal = deal_backwards;
    dealt = 0;
    smp_claims *pieces = open_pieces(&request);
    size_t piece;
    smp_piece_past past;
    for (size_t i = 3; i-- > 0;) {
        end_done(take_next(pieces, &piece, &past), 1);
        assert_int_equal(piece, i);
    }
    assert_null(take_next(pieces, &piece, &past));
    smp_claims_close(pieces);
}

SMP_TEST(sums_depend_on_order_size_and_time)
{
    const uint64_t ab = smp_piece_sum_add(smp_piece_sum_add(0, 1, 2), 3, 4);
    assert_int_not_equal(ab, smp_piece_sum_add(smp_piece_sum_add(0, 3, 4), 1, 2));
    assert_int_not_equal(ab, smp_piece_sum_add(smp_piece_sum_add(0, 1, 2), 3, 5));
    assert_int_not_equal(ab, smp_piece_sum_add(smp_piece_sum_add(0, 1, 2), 4, 4));
}

/* Somebody removes it between its last byte and the note that it was made. */
SMP_TEST_AROUND(a_piece_whose_output_was_removed_at_once_is_not_done, make_output, remove_output)
{
    static const smp_program no_stages = {.output = SMP_NODE_INPUT};
    const smp_found file = {.path = "/nowhere/a.png", .name = "a.png", .size = 1, .mtime = 1};
    char *list = strdup(in_folder("work.list"));
    smp_list_writer *writer;
    smp_list_sum sum;
    smp_error err = {0};
    assert_ok(smp_list_begin(list, true, "/nowhere", 0, 0, &writer, &err));
    assert_ok(smp_list_add(writer, &file, &err));
    assert_ok(smp_list_end(writer, &sum, &err));
    const smp_todo_request request = {
        .list = list, .folder = output, .pattern = "{stem}.{ext}", .program = &no_stages, .claim = true};
    smp_todo todo;
    smp_work_unit *unit;
    assert_ok(smp_todo_make(&request, &todo, &err));
    assert_ok(smp_todo_start(&todo, &err));
    assert_ok(smp_todo_next(&todo, &unit, &err));
    assert_non_null(unit);
    const smp_batch_file *file_to_do = &unit->files[0];
    assert_ok(smp_todo_begin(&todo, file_to_do, &err));
    assert_ok(smp_todo_done(&todo, file_to_do, SMP_TODO_DONE, &err));
    assert_ok(smp_todo_ended(&todo, file_to_do, &err));
    smp_todo_end(&todo);
    assert_int_equal(todo.count.gone, 1);
    assert_int_equal(todo.count.sum.done, 0);
    assert_int_equal(todo.count.sum.failed, 1);
    smp_todo_free(&todo);
    unlink(list);
    free(list);
}

SMP_TESTS_AROUND(make_folder, remove_folder)
