/* A name that is no stage's: suggests one. See build.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "pipe/build.h"

/* Explains a name that is not a stage's: a shipped pipeline, or an option. False: neither. */
static bool known_otherwise(smp_builder *b, const smp_ast_statement *statement, smp_diag *diag)
{
    for (size_t i = 0; i < b->diags->pipeline_count; i++)
        if (!strcmp(b->diags->pipelines[i], statement->name)) {
            smp_diag_fix(b->diags, diag, "this is a pipeline, not a stage");
            smp_diag_note(b->diags, diag, "`smempipe run %s IN OUT` runs it, `smempipe pipelines %s` tells about it",
                          statement->name, statement->name);
            return true;
        }
    const bool option = b->diags->is_option && b->diags->is_option(statement->name);
    if (option)
        smp_diag_fix(b->diags, diag, "this is an option, not a stage: --%s", statement->name);
    const bool command = !option && b->diags->is_command && b->diags->is_command(statement->name);
    if (command) {
        smp_diag_fix(b->diags, diag, "this is a command, not a stage");
        smp_diag_note(b->diags, diag, "`smempipe %s -h` says what it takes", statement->name);
    }
    return option || command;
}

/* Whether names are the same but for what stands between their words. */
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b)))
            return false;
    return *a == *b;
}

/* What else a name stands for, of what says the first value: `colorspace lab` is no gray. Null: nothing. */
static const char *by_value(const smp_ast_statement *statement)
{
    const smp_ast_arg *first = statement->arg_count ? statement->args : NULL;
    if (!first || first->name || first->value.kind != SMP_AST_WORD)
        return NULL;
    for (size_t i = 0; i < smp_catalog_count(); i++)
        for (smp_other_name other = smp_other_names(smp_catalog_at(i)); smp_next_name(&other);) {
            const char *last = strrchr(other.say, ' ');
            if (!strcmp(other.name, statement->name) && last && !strcasecmp(last + 1, first->value.text))
                return other.say;
        }
    return NULL;
}

enum { SHORT = 3, BOTH = 2 * SMP_INSTEAD }; /* bytes: of a name that is another with one edit; of two texts */

/* The text that is said of another tool's name, by the kind that the stage is given: a picture is not merged as sounds
 * are. Where that is not known, both. */
static const char *for_kind(const char *name, const char *say, smp_kind kind, char text[BOTH])
{
    const char *picture = smp_meant_for(SMP_IMAGE, name), *sound = smp_meant_for(SMP_AUDIO, name);
    if (!picture || !sound || !strcmp(picture, sound))
        return say;
    if (kind == SMP_IMAGE || kind == SMP_AUDIO)
        return kind == SMP_IMAGE ? picture : sound;
    snprintf(text, BOTH, "%s (of pictures), %s (of sound)", picture, sound);
    return text;
}

/* Words of other tools for what no stage does: their spelling is right, so that none is suggested that is spelt alike.
 */
static bool means_something_else(const char *name)
{
    static const char words[] =
        " ahistogram bbox bend bias case chorus clip clone dblur deblock deconvolve delete endian face filter ft "
        "gaussmat gradients idct idet insert intent lut2 math max min ml mosaic1 phase phaser pitch reverb rgbd seed "
        "shade spline switch tblend tempo test thistogram tmedian tmix tpad transform transpose3d tremolo vibrato wave "
        "xfade xmedian zone ";
    char padded[SMP_SHOWN];
    if (strlen(name) + 3 > sizeof padded)
        return false;
    snprintf(padded, sizeof padded, " %s ", name);
    return strstr(words, padded) != NULL;
}

/* Whether a stage takes what there is; a kind that is not known takes any. */
static bool takes(const smp_stage *stage, smp_kind kind)
{
    return (kind != SMP_IMAGE && kind != SMP_AUDIO) || (stage->domain & kind);
}

bool smp_unknown_stage(smp_builder *b, const smp_ast_statement *statement, smp_kind kind)
{
    char shown[SMP_SHOWN];
    size_t length = strlen(statement->name), count = 0, others = 0, stages = smp_catalog_count();
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "unknown stage '%s'",
                                   smp_shown(shown, statement->name, length));
    bool aliased = false; /* a stage that other tools call so */
    for (size_t i = 0; i < stages; i++)
        for (smp_other_name other = smp_other_names(smp_catalog_at(i)); smp_next_name(&other); others++)
            aliased |= !strcmp(other.name, statement->name);
    if (!diag || (!aliased && known_otherwise(b, statement, diag)))
        return true;
    static const char *const keywords[] = {"smempipe", "kind", "light", "param", "include", "from", "save"};
    static const struct {
        const char *name, *say;
    } statements[] = {{"linear", "light linear"}, {"linear_light", "light linear"}, {"linearize", "light linear"}};
    const size_t more = sizeof statements / sizeof statements[0];
    const size_t most = sizeof keywords / sizeof keywords[0] + more + stages + others;
    const char **names = smp_alloc_array(most, sizeof *names), **say = smp_alloc_array(most, sizeof *say);
    smp_other_name *texts = smp_alloc_array(others + 1, sizeof *texts);
    if (!names || !say || !texts) {
        smp_free(names);
        smp_free(say);
        smp_free(texts);
        return false;
    }
    for (size_t i = 0; i < stages; i++)
        if (!smp_stage_is(smp_catalog_at(i), SMP_TRAIT_INTERNAL) && takes(smp_catalog_at(i), kind))
            names[count++] = smp_catalog_at(i)->name;
    memcpy(names + count, keywords, sizeof keywords);
    count += sizeof keywords / sizeof keywords[0];
    for (size_t i = 0; i < more; i++) {
        names[count] = statements[i].name;
        say[count++] = statements[i].say;
    }
    others = 0;
    for (size_t i = 0; i < stages; i++)
        for (smp_other_name other = smp_other_names(smp_catalog_at(i));
             takes(smp_catalog_at(i), kind) && smp_next_name(&other);) {
            texts[others] = other;
            say[count] = other.say;
            names[count++] = texts[others++].name;
        }
    const char *near =
        means_something_else(statement->name) ? NULL : smp_nearest(statement->name, length, names, count);
    for (size_t i = 0; near && i < count; i++) {
        if (names[i] != near)
            continue;
        /* Other tools' names match at one edit only: at two, "median" would suggest "mean", and "log" at one "logo". */
        const size_t edits = smp_edit_distance(statement->name, length, near, strlen(near));
        if (say[i] && (edits > 1 || (edits && length <= SHORT)))
            near = NULL;
        else if (say[i] && !same_name(near, statement->name))
            smp_diag_fix(b->diags, diag, "did you mean '%s'? smempipe calls it: %s", near, say[i]);
        else if (say[i]) {
            char amount[SMP_INSTEAD], both[BOTH];
            const char *same = smp_same_amount(near, statement, amount), *chosen = same ? same : by_value(statement);
            smp_diag_fix(b->diags, diag, strncmp(say[i], "nothing: ", 9) ? "smempipe calls this: %s" : "write %s",
                         chosen ? chosen : for_kind(near, say[i], kind, both));
        } else
            smp_diag_fix(b->diags, diag, "did you mean '%s'?", near);
        break;
    }
    if (!near && !smp_mend_stage(b, statement, diag))
        smp_diag_note(b->diags, diag, "`smempipe stages` lists the stages");
    smp_free(names);
    smp_free(say);
    smp_free(texts);
    return true;
}
