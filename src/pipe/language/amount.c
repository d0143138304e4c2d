/* Other tools' stages with the numbers that they were given, as ours. See build.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipe/language/build.h"

enum { MOST_VALUES = 3 };

/* The numbers of a statement, given without names. */
typedef struct amounts {
    size_t count;
    smp_quantity of[MOST_VALUES];
    char shown[SMP_SHOWN]; /* the first, as it is written */
} amounts;

static bool is_plain(const smp_quantity *q)
{
    return q->unit == SMP_UNIT_NONE;
}

static bool is_share(const smp_quantity *q)
{
    return q->unit == SMP_UNIT_FRACTION;
}

/* Numbers up to MOST_FACTOR are factors, and larger ones percentages, as other tools have them. */
static bool is_factor(const smp_quantity *q)
{
    static const double most_factor = 4;
    return is_plain(q) && q->value > 0 && q->value <= most_factor;
}

/* Adds the numbers of one word: "100,150,80". False: it holds something else. */
static bool add_numbers(const char *text, size_t length, amounts *a)
{
    for (size_t at = 0; at < length;) {
        size_t n = 0, unit_at;
        while (at + n < length && text[at + n] != ',' && text[at + n] != ':')
            n++;
        if (a->count == MOST_VALUES || smp_quantity_read(text + at, n, &a->of[a->count], &unit_at) != SMP_NUMBER_OK)
            return false;
        if (a->count++ == 0)
            snprintf(a->shown, sizeof a->shown, "%.*s", (int)n, text + at);
        at += n + 1;
    }
    return true;
}

static bool read_amounts(const smp_ast_statement *statement, amounts *a)
{
    *a = (amounts){.count = 0};
    for (size_t i = 0; i < statement->arg_count; i++) {
        const smp_ast_arg *arg = &statement->args[i];
        if (arg->name || arg->value.kind != SMP_AST_WORD || !add_numbers(arg->value.text, arg->value.length, a))
            return false;
    }
    return a->count > 0;
}

static bool volume(const amounts *a, char *text)
{
    const smp_quantity *q = a->of;
    const bool level = q->unit == SMP_UNIT_DB;
    if (!level && !((is_plain(q) || is_share(q)) && q->value > 0))
        return false;
    static const double most = 200; /* dB */
    const double gain = level ? q->value : 20 * log10(q->value);
    snprintf(text, SMP_INSTEAD, "gain %.3gdB", gain);
    return fabs(gain) <= most;
}

/* In percent; false: more than there is. */
static bool percent_of(const smp_quantity *q, double *percent)
{
    *percent = is_share(q) ? q->value * 100 : q->value;
    return (is_plain(q) || is_share(q)) && fabs(*percent) < 100;
}

static bool brightness(const amounts *a, char *text)
{
    double percent;
    if (!percent_of(a->of, &percent))
        return false;
    snprintf(text, SMP_INSTEAD, is_factor(a->of) ? "multiply %.4g" : "add %.4g%%", percent);
    return true;
}

static bool contrast(const amounts *a, char *text)
{
    double percent;
    if (!percent_of(a->of, &percent))
        return false;
    static const double most = 1000; /* % of white */
    const double half = 50 / (is_factor(a->of) ? percent : 1 + percent / 100);
    snprintf(text, SMP_INSTEAD, "levels black=%.4g%% white=%.4g%%", 50 - half, 50 + half);
    return 50 + half <= most;
}

/* out = in ^ x, where the stage has out = in ^ (1 / g). */
static bool power(const amounts *a, char *text)
{
    static const double least = 0.01, most = 100; /* of g */
    const double x = a->of[0].value;
    if (!is_plain(a->of) || !(x >= least && x <= most))
        return false;
    snprintf(text, SMP_INSTEAD, "gamma {1/%s}", a->shown);
    return true;
}

/* In stops: each doubles. */
static bool exposure(const amounts *a, char *text)
{
    static const double most = 20;
    if (!is_plain(a->of) || fabs(a->of[0].value) > most)
        return false;
    snprintf(text, SMP_INSTEAD, "multiply %.6g", exp2(a->of[0].value));
    return true;
}

static bool saturation(const amounts *a, char *text)
{
    const double value = a->of[0].value;
    const bool plain = is_factor(a->of) || (is_plain(a->of) && value >= 0 && value <= 1000);
    if (!plain && !(is_share(a->of) && value >= 0 && value <= 100))
        return false;
    snprintf(text, SMP_INSTEAD, is_plain(a->of) && !is_factor(a->of) && value != 0 ? "saturate %s%%" : "saturate %s",
             a->shown);
    return true;
}

static bool hue(const amounts *a, char *text)
{
    const bool degrees = is_plain(a->of) || a->of[0].unit == SMP_UNIT_DEG;
    if (!degrees || fabs(a->of[0].value) > 360)
        return false;
    snprintf(text, SMP_INSTEAD, "saturate hue=%.6gdeg", a->of[0].value);
    return true;
}

/* sox's and ffmpeg's filters, of which the first number is the one that counts. */
static bool shelf(const amounts *a, const char *kind, char *text)
{
    if (!(is_plain(a->of) || a->of->unit == SMP_UNIT_DB) || fabs(a->of->value) > 60)
        return false;
    snprintf(text, SMP_INSTEAD, "eq %s gain=%.4gdB", kind, a->of->value);
    return true;
}

static bool bass(const amounts *a, char *text)
{
    return shelf(a, "lowshelf freq=100Hz", text);
}

static bool treble(const amounts *a, char *text)
{
    return shelf(a, "highshelf freq=3kHz", text);
}

static bool speed(const amounts *a, char *text)
{
    snprintf(text, SMP_INSTEAD, "resample speed=%.6g", a->of->value);
    return is_plain(a->of) && a->of->value >= 0.05 && a->of->value <= 20;
}

static bool is_frequency(const smp_quantity *q)
{
    return (is_plain(q) || q->unit == SMP_UNIT_HZ) && q->value >= 1;
}

static bool rate(const amounts *a, char *text)
{
    snprintf(text, SMP_INSTEAD, "resample %.9gHz", a->of->value);
    return is_frequency(a->of);
}

static bool band_stop(const amounts *a, char *text)
{
    snprintf(text, SMP_INSTEAD, "notch %.6gHz", a->of->value);
    return is_frequency(a->of);
}

static bool norm(const amounts *a, char *text)
{
    snprintf(text, SMP_INSTEAD, "normalize peak=%.4gdB", a->of->value);
    return (is_plain(a->of) || a->of->unit == SMP_UNIT_DB) && a->of->value >= -120 && a->of->value <= 0;
}

static const struct {
    const char *name;
    size_t most; /* values */
    bool (*say)(const amounts *a, char *text);
} tools[] = {
    {"vol", 1, volume},
    {"volume", 1, volume},
    {"amplify", 1, volume},
    {"brightness", 1, brightness},
    {"contrast", 1, contrast},
    {"pow", 1, power},
    {"power", 1, power},
    {"gammaval", 1, power},
    {"exposure", 1, exposure},
    {"saturation", 1, saturation},
    {"vibrance", 1, saturation},
    {"hue", 1, hue},
    {"hue-rotate", 1, hue},
    {"bass", 1, bass},
    {"treble", 1, treble},
    {"speed", 1, speed},
    {"rate", 1, rate},
    {"bandreject", 2, band_stop},
    {"norm", 1, norm},
};

const char *smp_same_amount(const char *name, const smp_ast_statement *statement, char text[SMP_INSTEAD])
{
    amounts a;
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (!strcmp(name, tools[i].name))
            return read_amounts(statement, &a) && a.count <= tools[i].most && tools[i].say(&a, text) ? text : NULL;
    return NULL;
}
