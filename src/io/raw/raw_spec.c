/* The text of --raw: see raw_spec.h. */
#include "io/raw/raw_spec.h"

#include <string.h>

#include "base/checked.h"
#include "stages/stage.h"

static const struct {
    const char *name;
    int bytes;
    bool real, big, picture, sound;
} types[] = {
    {"u8", 1, .picture = true, .sound = true},
    {"u16le", 2, .picture = true},
    {"u16be", 2, .big = true, .picture = true},
    {"f32le", 4, .real = true, .picture = true, .sound = true},
    {"s16le", 2, .sound = true},
    {"s24le", 3, .sound = true},
    {"s32le", 4, .sound = true},
    {"f64le", 8, .real = true, .sound = true},
    {"alaw", 1, .real = true, .sound = true},
    {"mulaw", 1, .real = true, .big = true, .sound = true},
};
enum { TYPES = sizeof types / sizeof types[0] };

static smp_code fail(const char *text, const char *why, smp_error *err)
{
    smp_fail(err, SMP_E_USAGE, "'%.80s' is not a valid value for --raw: %s", text, why);
    return smp_hint(
        err, "pictures: --raw u8x3:1920x1080 (u8, u16le, u16be, f32le; x channels : width x height); "
             "sounds: --raw s16lex2:48000 (u8, s16le, s24le, s32le, f32le, f64le, alaw, mulaw; x channels : rate); "
             "@BYTES behind it passes a header over");
}

/* Digits, at least one. */
static bool take_number(const char **at, int64_t *value)
{
    const char *begin = *at;
    *value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (!smp_mul_i64(*value, 10, value) || !smp_add_i64(*value, **at - '0', value))
            return false;
    return *at > begin;
}

static bool take(const char **at, char c)
{
    if (**at != c)
        return false;
    ++*at;
    return true;
}

/* The longest name that the text begins with. */
static int find_type(const char *text)
{
    int found = -1;
    for (int i = 0; i < TYPES; i++)
        if (!strncmp(text, types[i].name, strlen(types[i].name)) &&
            (found < 0 || strlen(types[i].name) > strlen(types[found].name)))
            found = i;
    return found;
}

smp_code smp_raw_parse(const char *text, smp_raw *raw, smp_error *err)
{
    const char *at = text;
    const int type = find_type(text);
    int64_t channels, first, offset = 0;
    *raw = (smp_raw){.given = true};
    if (type < 0)
        return fail(text, "it begins with no kind of sample", err);
    at += strlen(types[type].name);
    if (!take(&at, 'x') || !take_number(&at, &channels))
        return fail(text, "'x' and the number of channels follow the kind of sample", err);
    if (channels < 1 || channels > SMP_MAX_CHANNELS)
        return fail(text, "there are too few or too many channels", err);
    if (!take(&at, ':') || !take_number(&at, &first))
        return fail(text, "':' and the size, or the rate, follow the channels", err);
    raw->sound = *at != 'x';
    if (!raw->sound && (!take(&at, 'x') || !take_number(&at, &raw->height)))
        return fail(text, "the height is missing", err);
    if ((take(&at, '@') && !take_number(&at, &offset)) || *at)
        return fail(text, "it does not end where it should", err);
    if (first < 1 || (!raw->sound && raw->height < 1))
        return fail(text, "a size or a rate is 0", err);
    if (raw->sound ? !types[type].sound : !types[type].picture)
        return fail(text, raw->sound ? "sounds have no samples of this kind" : "pictures have no samples of this kind",
                    err);
    raw->real = types[type].real;
    raw->big = types[type].big;
    raw->bytes = types[type].bytes;
    raw->channels = (int)channels;
    raw->width = raw->sound ? 1 : first;
    raw->rate = raw->sound ? (double)first : 0;
    raw->offset = (uint64_t)offset;
    return SMP_OK;
}
