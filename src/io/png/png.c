/* The PNG format's row of the table, and what its reader and writer share: libpng's errors as ours, its memory counted.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/png/png_glue.h"

const smp_write_option smp_png_level = {
    .name = "png-level",
    .type = SMP_WRITE_NUMBER,
    .min = 0,
    .max = 9,
    .unset = -1,
    .argument = "N",
    .help = "PNG compression: 0 is fast, 9 small and slow; 1 unless said",
};

const smp_write_option smp_png_bits = {
    .name = "png-bits",
    .type = SMP_WRITE_NUMBER,
    .min = 1,
    .max = 8,
    .argument = "N",
    .help = "bits of a gray sample in PNGs: 1, 2, 4 or 8; the picture must have no other values (posterise 2)",
    .flags = SMP_WRITE_RARE,
};

const smp_write_option smp_png_palette = {
    .name = "png-palette",
    .type = SMP_WRITE_FLAG,
    .help = "write PNGs with a palette (at most 256 colours), gray ones with as few bits as do",
    .flags = SMP_WRITE_RARE,
};

const smp_file_format smp_format_png = {
    .name = "PNG",
    .extensions = (const char *const[]){"png", NULL},
    .kind = SMP_IMAGE,
    .texts = true,
    .text_most = INT32_MAX,
    .dpi = true,
    .gamma = true,
    .takes = (const smp_write_takes[]){{&smp_png_level}, {&smp_png_bits}, {&smp_png_palette}, {0}},
    .sniff = smp_png_sniff,
    SMP_READER(smp_png, rows),
    .read_end = smp_png_read_end,
    .read_next = smp_png_read_next,
    SMP_WRITER(smp_png, rows),
};

enum { HEADER = 16 }; /* bytes before a block that hold its size and keep its alignment */

static png_voidp png_take(png_structp png, png_alloc_size_t size)
{
    smp_png *state = png_get_mem_ptr(png);
    unsigned char *block = NULL;
    if (size > state->cap - state->live)
        state->over_cap = true;
    else if (size < SIZE_MAX - HEADER)
        block = smp_alloc_raw(size + HEADER);
    if (!block) {
        if (!state->refused)
            state->refused = size;
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    state->live += size;
    return block + HEADER;
}

static void png_give(png_structp png, png_voidp pointer)
{
    if (!pointer)
        return;
    smp_png *state = png_get_mem_ptr(png);
    unsigned char *block = (unsigned char *)pointer - HEADER;
    png_alloc_size_t size;
    memcpy(&size, block, sizeof size);
    state->live -= size;
    smp_free(block);
}

_Noreturn void smp_png_stop(smp_png *state, smp_code code)
{
    state->code = code;
    longjmp(state->jump, 1);
}

/* A chunk without which there is a picture: transparency, a palette that is only suggested. */
static bool is_beside(const char *message)
{
    return strncmp(message, "tRNS: ", 6) == 0 || strncmp(message, "PLTE: ", 6) == 0;
}

static smp_code describe(smp_png *state, const char *message)
{
    smp_error *err = state->err;
    if (state->over_cap) {
        smp_fail(err, SMP_E_LIMIT,
                 "the PNG's metadata or rows need more than the %llu bytes that are set aside for them",
                 (unsigned long long)state->cap);
        smp_hint(err, "if the file is to be trusted, remove its metadata with another program first");
        return SMP_E_LIMIT;
    }
    if (state->refused)
        return smp_fail_memory(err, "PNG", state->refused);
    if (strstr(message, "too large") || strstr(message, "exceeds"))
        return smp_fail(err, SMP_E_LIMIT, "the PNG has a chunk that is larger than is accepted (libpng: %.200s)",
                        message);
    smp_fail(err, state->fault, "the PNG %s (libpng: %.200s)",
             state->fault == SMP_E_DECODE ? "is damaged" : "cannot be written", message);
    if (state->fault == SMP_E_DECODE && is_beside(message))
        smp_hint(err, "copy or download it again, or read it without that chunk with --no-verify");
    return state->fault;
}

static PNG_NORETURN void png_failed(png_structp png, png_const_charp message)
{
    smp_png *state = png_get_error_ptr(png);
    state->lacks_rows = message && strstr(message, "Not enough image data") != NULL;
    smp_png_stop(state, describe(state, message ? message : "unknown"));
}

static bool is_one_of(const char *type, const char (*types)[5], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(type, types[i], 4) == 0)
            return true;
    return false;
}

/* Whether a warning begins with the type of a chunk that the picture does not need. */
static void note_chunk(smp_png *state, const char *message)
{
    static const char types[][5] = {"cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "bKGD", "hIST", "pHYs",
                                    "sPLT", "tIME", "tEXt", "zTXt", "iTXt", "eXIf", "oFFs", "pCAL",
                                    "sCAL", "cICP", "mDCV", "cLLI", "acTL", "fcTL", "fdAT"};
    const bool known = strlen(message) > 6 && memcmp(message + 4, ": ", 2) == 0 &&
                       is_one_of(message, types, sizeof types / sizeof types[0]);
    const bool damaged = strstr(message, "CRC error") != NULL;
    if (damaged && !known) /* its type may be damaged: the chunk may have belonged to the picture */
        png_failed(state->png, message);
    if (!known)
        return;
    if (damaged)
        smp_note(state->notes, "the chunk %.4s is damaged (its CRC is wrong) and is left out", message);
    if (memcmp(message, "iCCP", 4) == 0) { /* many profiles that libpng rejects are kept: see keep_colour() */
        state->icc_damaged |= damaged;
        snprintf(state->icc_fault, sizeof state->icc_fault, "%s", message + 6);
    } else if (!damaged)
        smp_note(state->notes, "the chunk %.4s is left out (libpng: %.100s)", message, message + 6);
}

/* Each chunk that is left out may have cost the inflating of all that one may hold: after so many the file is an
 * attack, and later ones may hold less. */
enum { MOST_LEFT_OUT = 4, SMALL_CHUNK = 1 << 20 /* bytes */ };

/* Whether every sample is as the file has it all the same, or --no-verify asks for what there is. */
static bool note_harmless(smp_png *state, const char *message)
{
    static const struct {
        const char *begins, *says;
    } harmless[] = {
        {"tRNS chunk has out-of-range", "the transparent colour has more bits than the samples: the lower ones count"},
        {"IDAT: Extra compressed data", "data follow the picture within its chunks, and are left out"},
        {"IDAT: Too much image data", "data follow the picture within its chunks, and are left out"},
    };
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0] && !state->refused; i++)
        if (strncmp(message, harmless[i].begins, strlen(harmless[i].begins)) == 0) {
            smp_note(state->notes, "%s", harmless[i].says);
            return true;
        }
    if (!is_beside(message) || !state->lenient || state->refused)
        return false;
    smp_note(state->notes, "the chunk %.4s is left out (libpng: %.100s)", message, message + 6);
    return true;
}

/* While reading, libpng only warns when it leaves something out. Metadata may be left out, with a note: the picture is
 * complete without it. Picture data may not be left out, and a reached limit must be reported. */
static void png_warned(png_structp png, png_const_charp message)
{
    static const char picture[][5] = {"IHDR", "PLTE", "tRNS", "IDAT", "IEND"};
    static const char *const limits[] = {"too large", "exceeds", "memory"};
    smp_png *state = png_get_error_ptr(png);
    if (state->fault != SMP_E_DECODE)
        return;
    if (note_harmless(state, message))
        return;
    bool fatal = state->refused != 0 || (strlen(message) >= 4 && is_one_of(message, picture, 5));
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) /* a profile's own length may be any number */
        fatal |= strstr(message, limits[i]) != NULL && strncmp(message, "iCCP", 4) != 0;
    if (fatal)
        png_failed(png, message);
    note_chunk(state, message);
    if (++state->left_out == MOST_LEFT_OUT)
        png_set_chunk_malloc_max(png, SMALL_CHUNK);
}

smp_code smp_png_create(smp_png *state, bool reading, smp_error *err)
{
    state->err = err;
    if (setjmp(state->jump))
        return state->code;
    state->png = reading ? png_create_read_struct_2(PNG_LIBPNG_VER_STRING, state, png_failed, png_warned, state,
                                                    png_take, png_give)
                         : png_create_write_struct_2(PNG_LIBPNG_VER_STRING, state, png_failed, png_warned, state,
                                                     png_take, png_give);
    if (state->png)
        state->info = png_create_info_struct(state->png);
    return state->info ? SMP_OK : smp_fail_memory(err, "PNG", state->refused);
}

smp_code smp_png_guard(smp_png *state, void (*body)(void *context), void *context, smp_error *err)
{
    state->err = err;
    state->code = SMP_OK;
    if (setjmp(state->jump))
        return state->code;
    body(context);
    return SMP_OK;
}

void smp_png_destroy(smp_png *state, bool reading)
{
    if (reading)
        png_destroy_read_struct(&state->png, &state->info, NULL);
    else
        png_destroy_write_struct(&state->png, &state->info);
}
