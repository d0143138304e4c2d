/* A name that is no stage's: suggests one. See build.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "pipe/language/build.h"

/* Explains a name that is not a stage's: a shipped pipeline, or an option. False: neither. */
static bool known_otherwise(smp_builder *b, const smp_ast_statement *statement, smp_diag *diag)
{
    const smp_surroundings *around = b->diags->around;
    if (!around)
        return false;
    for (size_t i = 0; i < around->pipeline_count; i++)
        if (!strcmp(around->pipelines[i], statement->name)) {
            smp_diag_fix(b->diags, diag, "this is a pipeline, not a stage");
            smp_diag_note(b->diags, diag, "`smempipe run %s IN OUT` runs it, `smempipe pipelines %s` tells about it",
                          statement->name, statement->name);
            return true;
        }
    const bool option = around->is_option && around->is_option(statement->name);
    if (option)
        smp_diag_fix(b->diags, diag, "this is an option, not a stage: --%s", statement->name);
    const bool command = !option && around->is_command && around->is_command(statement->name);
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

/* Returns what a name stands for with its first value: `colorspace lab` does not mean gray. Null: nothing. */
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
        " ahistogram bbox bend bias case clip clone dblur deblock deconvolve delete endian face filter ft "
        "gaussmat gradients idct idet insert intent lut2 math max min ml mosaic1 phase phaser rgbd seed shade "
        "spline switch tblend test thistogram tmedian tmix tpad transform transpose3d wave xfade xmedian zone ";
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

/* Names that a statement may have meant, and what to write for those that are another tool's. */
typedef struct near_names {
    const char **names, **say; /* say null: the name itself */
    smp_other_name *texts;     /* what names of other tools point into */
    size_t count;
} near_names;

/* Stages that take what there is, keywords, and how other tools call them; others: the most of the last. False: out of
 * memory. */
static bool gather_names(near_names *list, size_t others, smp_kind kind)
{
    static const char *const keywords[] = {"smempipe", "kind", "light", "param", "include", "from", "save"};
    static const struct {
        const char *name, *say;
    } statements[] = {{"linear", "light linear"}, {"linear_light", "light linear"}, {"linearize", "light linear"}};
    const size_t more = sizeof statements / sizeof statements[0], stages = smp_catalog_count();
    const size_t most = sizeof keywords / sizeof keywords[0] + more + stages + others;
    *list = (near_names){.names = smp_alloc_array(most, sizeof *list->names),
                         .say = smp_alloc_array(most, sizeof *list->say),
                         .texts = smp_alloc_array(others + 1, sizeof *list->texts)};
    if (!list->names || !list->say || !list->texts)
        return false;
    for (size_t i = 0; i < stages; i++)
        if (!smp_stage_is(smp_catalog_at(i), SMP_TRAIT_INTERNAL) && takes(smp_catalog_at(i), kind))
            list->names[list->count++] = smp_catalog_at(i)->name;
    memcpy(list->names + list->count, keywords, sizeof keywords);
    list->count += sizeof keywords / sizeof keywords[0];
    for (size_t i = 0; i < more; i++) {
        list->names[list->count] = statements[i].name;
        list->say[list->count++] = statements[i].say;
    }
    smp_other_name *text = list->texts;
    for (size_t i = 0; i < stages; i++)
        for (smp_other_name other = smp_other_names(smp_catalog_at(i));
             takes(smp_catalog_at(i), kind) && smp_next_name(&other); text++) {
            *text = other;
            list->say[list->count] = other.say;
            list->names[list->count++] = text->name;
        }
    return true;
}

/* Suggests what to write for another tool's name. */
static void suggest_ours(smp_builder *b, const smp_ast_statement *statement, smp_diag *diag, const char *name,
                         const char *say, smp_kind kind)
{
    char amount[SMP_INSTEAD], both[BOTH];
    const char *same = smp_same_amount(name, statement, amount), *chosen = same ? same : by_value(statement);
    smp_diag_fix(b->diags, diag, strncmp(say, "nothing: ", 9) ? "smempipe calls this: %s" : "write %s",
                 chosen ? chosen : for_kind(name, say, kind, both));
}

/* The nearest name, if it is near enough. False: it is not. */
static bool suggest_near(smp_builder *b, const smp_ast_statement *statement, smp_diag *diag, const near_names *list,
                         smp_kind kind)
{
    const size_t length = strlen(statement->name);
    const char *near = smp_nearest(statement->name, length, list->names, list->count), *say = NULL;
    if (!near || means_something_else(statement->name))
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (list->names[i] == near) {
            say = list->say[i];
            break;
        }
    /* Other tools' names match at one edit only: at two, "median" would suggest "mean", and "log" at one "logo". */
    const size_t edits = smp_edit_distance(statement->name, length, near, strlen(near));
    if (say && (edits > 1 || (edits && length <= SHORT)))
        return false;
    if (!say)
        smp_diag_fix(b->diags, diag, "did you mean '%s'?", near);
    else if (!same_name(near, statement->name))
        smp_diag_fix(b->diags, diag, "did you mean '%s'? smempipe calls it: %s", near, say);
    else
        suggest_ours(b, statement, diag, near, say, kind);
    return true;
}

bool smp_unknown_stage(smp_builder *b, const smp_ast_statement *statement, smp_kind kind)
{
    char shown[SMP_SHOWN];
    size_t others = 0;
    if (smp_origin_misplaced(b, statement))
        return true;
    smp_diag *diag = smp_diags_add(b->diags, SMP_ERROR, statement->name_span, "unknown stage '%s'",
                                   smp_shown(shown, statement->name, strlen(statement->name)));
    bool aliased = false; /* a stage that other tools call so */
    for (size_t i = 0; i < smp_catalog_count(); i++)
        for (smp_other_name other = smp_other_names(smp_catalog_at(i)); smp_next_name(&other); others++)
            aliased |= !strcmp(other.name, statement->name);
    if (!diag || (!aliased && known_otherwise(b, statement, diag)))
        return true;
    near_names list;
    const bool gathered = gather_names(&list, others, kind);
    if (gathered && !suggest_near(b, statement, diag, &list, kind) && !smp_mend_stage(b, statement, diag))
        smp_diag_note(b->diags, diag, "`smempipe stages` lists the stages");
    smp_free_all(list.names, list.say, list.texts);
    return gathered;
}
