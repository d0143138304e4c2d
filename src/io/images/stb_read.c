/* stb_image behind our readers. The library goes on with zeros, and sometimes for ever, when a file ends early, so
 * running out of bytes leaves it by longjmp; its blocks are kept in a list for that. Memory is counted and capped. */
#include "io/images/stb_read.h"

#include <limits.h>
#include <setjmp.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

typedef struct stb_block {
    struct stb_block *next, *previous;
    size_t size;
    size_t pad; /* what follows is aligned to 16 bytes */
} stb_block;

typedef struct stb_reader {
    smp_reader *reader;
    smp_stb_request request;
    uint8_t *pixels;
    /* of the call in progress */
    jmp_buf jump;
    smp_error *err;
    smp_code code;
    const void *refill; /* stb's own buffer: the first place it reads into */
    stb_block *blocks;
    uint64_t live, cap, refused;
    int width, height, channels;
} stb_reader;

/* stb_image's allocation hooks have no context. */
static _Thread_local stb_reader *current;

static _Noreturn void stop(smp_code code)
{
    current->code = code;
    longjmp(current->jump, 1);
}

static _Noreturn void stop_contradiction(void)
{
    stop(smp_fail(current->err, SMP_E_DECODE, "the %s is damaged: its header contradicts itself",
                  current->reader->format->name));
}

static void *stb_take(size_t size)
{
    size_t total;
    stb_block *block = NULL;
    if (smp_add_size(size, sizeof *block, &total) && size <= current->cap - current->live)
        block = smp_alloc_raw(total);
    if (!block) {
        current->refused = size ? size : 1;
        return NULL;
    }
    *block = (stb_block){.next = current->blocks, .size = size};
    if (current->blocks)
        current->blocks->previous = block;
    current->blocks = block;
    current->live += size;
    return block + 1;
}

static void stb_give(void *pointer)
{
    if (!pointer)
        return;
    stb_block *block = (stb_block *)pointer - 1;
    if (block->previous)
        block->previous->next = block->next;
    else
        current->blocks = block->next;
    if (block->next)
        block->next->previous = block->previous;
    current->live -= block->size;
    smp_free(block);
}

/* stb_image wants it defined; which formats use it depends on its version. */
static __attribute__((unused)) void *stb_resize(void *pointer, size_t size)
{
    void *grown = stb_take(size);
    if (grown && pointer) {
        size_t old = ((stb_block *)pointer - 1)->size;
        memcpy(grown, pointer, old < size ? old : size);
        stb_give(pointer);
    }
    return grown;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#if defined(__clang__)
/* A PSD whose colours were not mixed with white, as its format has it, goes out of range when that is undone. */
#pragma clang attribute push(__attribute__((no_sanitize("float-cast-overflow"))), apply_to = function)
#endif
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_STDIO
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_ONLY_PSD
#define STBI_ONLY_HDR
#define STBI_FAILURE_USERMSG
#define STBI_ASSERT(x)              ((x) ? (void)0 : stop_contradiction())
#define STBI_MALLOC(size)           stb_take(size)
#define STBI_REALLOC(pointer, size) stb_resize(pointer, size)
#define STBI_FREE(pointer)          stb_give(pointer)
#if __has_include(<stb_image.h>)
#include <stb_image.h>
#else
#include <stb/stb_image.h>
#endif
#if defined(__clang__)
#pragma clang attribute pop
#endif
#pragma GCC diagnostic pop

/* ------------------------------------------------------------------------------------------------ bytes */

/* stb reads ahead into its own buffer, where few bytes or none are no fault until it comes back for more; anywhere else
 * it wants all that it asks for. */
static int feed(void *user, char *to, int size)
{
    stb_reader *state = user;
    size_t got = smp_source_read(&state->reader->source, to, (size_t)size);
    if (!state->refill)
        state->refill = to;
    if (got == 0 || (got < (size_t)size && to != state->refill))
        stop(smp_source_ended(&state->reader->source, state->err));
    return (int)got;
}

static void skip(void *user, int size)
{
    stb_reader *state = user;
    if (size < 0)
        stop_contradiction();
    if (smp_source_skip(&state->reader->source, (uint64_t)size) != (uint64_t)size)
        stop(smp_source_ended(&state->reader->source, state->err));
}

static int at_end(void *user)
{
    stb_reader *state = user;
    const uint8_t *at;
    return smp_source_peek(&state->reader->source, &at, 1) == 0;
}

static const stbi_io_callbacks callbacks = {feed, skip, at_end};

static smp_code fail_stb(stb_reader *state)
{
    if (state->refused)
        return smp_fail_memory(state->err, "a picture", state->refused);
    return smp_fail(state->err, SMP_E_DECODE, "the %s is damaged or of a kind that is not read (stb_image: %s)",
                    state->reader->format->name, stbi_failure_reason() ? stbi_failure_reason() : "unknown");
}

static smp_code look(stb_reader *state)
{
    if (stbi_info_from_callbacks(&callbacks, state, &state->width, &state->height, &state->channels)) {
        if (state->height < 0 && state->height > INT_MIN) /* a BMP whose top row comes first */
            state->height = -state->height;
        return SMP_OK;
    }
    return fail_stb(state);
}

static smp_code decode(stb_reader *state)
{
    int w, h, n, want = state->reader->media.shape.channels;
    void *pixels =
        state->request.format == SMP_F32   ? (void *)stbi_loadf_from_callbacks(&callbacks, state, &w, &h, &n, want)
        : state->request.format == SMP_U16 ? (void *)stbi_load_16_from_callbacks(&callbacks, state, &w, &h, &n, want)
                                           : (void *)stbi_load_from_callbacks(&callbacks, state, &w, &h, &n, want);
    if (!pixels)
        return fail_stb(state);
    state->pixels = pixels;
    if (w != state->width || h != state->height)
        return smp_fail(state->err, SMP_E_DECODE, "the %s is damaged: its size changed while it was read",
                        state->reader->format->name);
    return SMP_OK;
}

/* Runs one of the two above from the file's beginning; what it left allocated after a failure is freed. */
static smp_code run(stb_reader *state, smp_code (*body)(stb_reader *), smp_error *err)
{
    if (!smp_source_seek(&state->reader->source, 0))
        return smp_fail(err, SMP_E_READ, "cannot read from the beginning again");
    state->err = err;
    state->refill = NULL;
    state->refused = 0;
    current = state;
    smp_code code = SMP_OK;
    if (setjmp(state->jump))
        code = state->code;
    else
        state->code = code = body(state);
    if (code != SMP_OK) {
        state->pixels = NULL;
        while (state->blocks)
            stb_give(state->blocks + 1);
    }
    current = NULL;
    return code;
}

/* ------------------------------------------------------------------------------------------------ the reader */

enum {
    LEAST_RATIO = 64,   /* pixels a byte: no run of these formats stands for more */
    LOOK_CAP = 1 << 20, /* bytes that reading the header may take */
    SPARE = 1 << 20     /* bytes for palettes and lines */
};

smp_code smp_stb_read_open(smp_reader *reader, const smp_stb_request *request, smp_error *err)
{
    stb_reader *state = smp_alloc(sizeof *state);
    if (!state)
        return smp_fail_memory(err, "a picture", sizeof *state);
    reader->state = state;
    state->reader = reader;
    state->request = *request;
    state->cap = LOOK_CAP;
    smp_code code = smp_source_spool(&reader->source, err);
    if (code == SMP_OK)
        code = run(state, look, err);
    if (code != SMP_OK)
        return code;

    smp_shape *shape = &reader->media.shape;
    shape->width = state->width;
    shape->height = state->height;
    shape->channels = request->channels ? request->channels : state->channels;
    shape->alpha = shape->channels == 2 || shape->channels == 4;
    shape->format = request->format;
    if (shape->channels < 1 || shape->channels > 4)
        return smp_fail(err, SMP_E_DECODE, "the %s has %d channels", reader->format->name, shape->channels);
    code = smp_check_picture(&reader->limits, shape->width, shape->height, 0, err);
    if (code != SMP_OK)
        return code;
    /* The picture, and a copy while channels are converted, with four channels at most. */
    uint64_t pixels = (uint64_t)shape->width * (uint64_t)shape->height;
    state->cap = 2 * pixels * 4 * (uint64_t)smp_sample_size((int)shape->format) + SPARE;
    code = smp_check_picture(&reader->limits, shape->width, shape->height, state->cap - SPARE, err);
    return code == SMP_OK ? smp_check_size(&reader->source, pixels / LEAST_RATIO, err) : code;
}

smp_code smp_stb_read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    stb_reader *state = reader->state;
    if (!state->pixels) {
        smp_code code = run(state, decode, err);
        if (code != SMP_OK)
            return code;
    }
    size_t row = (size_t)smp_row_bytes(&reader->media.shape);
    for (int64_t i = 0; i < rows; i++)
        memcpy((uint8_t *)to + i * stride, state->pixels + (size_t)(reader->next_row + i) * row, row);
    return SMP_OK;
}

void smp_stb_read_close(smp_reader *reader)
{
    stb_reader *state = reader->state;
    current = state;
    while (state->blocks)
        stb_give(state->blocks + 1);
    current = NULL;
    smp_free(state);
    reader->state = NULL;
}
