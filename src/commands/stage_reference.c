/* The stage reference for people: one stage on a terminal, all of them as a Markdown page. */
#include <string.h>

#include "commands/stages.h"
#include "report/text.h"

const char *smp_domain_name(smp_kind domain)
{
    return domain == SMP_IMAGE ? "image" : domain == SMP_AUDIO ? "audio" : "both";
}

const char *smp_access_name(smp_access access)
{
    static const char *const names[] = {"point", "stencil", "whole", "reduce", "adjust"};
    return (size_t)access < sizeof names / sizeof names[0] ? names[access] : "?";
}

/* The default as a reader wants it: the text of the table, "required", or "none". */
static const char *fallback_text(const smp_param *param)
{
    return param->flags & SMP_P_REQUIRED ? "required" : param->fallback ? param->fallback : "none";
}

/* Sounds have frames where pictures have pixels and rows. */
static const char *access_text(const smp_stage *stage)
{
    static const char *const texts[][2] = {
        [SMP_POINT] = {"the same pixel; streams", "the same frame; streams"},
        [SMP_STENCIL] = {"neighbouring rows; streams", "neighbouring frames; streams"},
        [SMP_WHOLE] = {"anywhere; its input is kept whole", "anywhere; its input is kept whole"},
        [SMP_REDUCE] = {"every pixel, and passes the data on; streams", "every frame, and passes the data on; streams"},
        [SMP_ADJUST] = {"everything first, then the same pixel; two passes",
                        "everything first, then the same frame; two passes"},
    };
    return (size_t)stage->access < sizeof texts / sizeof texts[0] ? texts[stage->access][stage->domain == SMP_AUDIO]
                                                                  : "?";
}

static const char *domain_text(smp_kind domain)
{
    return domain == SMP_IMAGE ? "pictures" : domain == SMP_AUDIO ? "sound" : "pictures and sound";
}

/* "name value [key=value ...]": what may be written, the main parameter first. */
static void put_synopsis(FILE *to, const smp_stage *stage)
{
    fputs(stage->name, to);
    for (int main_first = 1; main_first >= 0; main_first--)
        for (const smp_param *param = stage->params; param && param->name; param++) {
            bool is_main = (param->flags & SMP_P_MAIN) != 0, needed = (param->flags & SMP_P_REQUIRED) != 0;
            if (is_main != (main_first == 1))
                continue;
            fprintf(to, needed ? " %s%s" : " [%s%s]", param->name, is_main ? "" : "=...");
        }
}

/* ------------------------------------------------------------------------------------------------ terminal */

static void put_param(FILE *to, const smp_param *param)
{
    enum { AT = 14 };
    char accepts[400];
    smp_param_domain(param, accepts, sizeof accepts);
    fprintf(to, "  %-*s", AT - 2, param->name);
    if (strlen(param->name) >= AT - 2)
        fprintf(to, "\n%*s", AT, "");
    smp_text_wrap(to, param->help ? param->help : "", AT, AT);
    fprintf(to, "%*s", AT, "");
    char line[600];
    bool needed = (param->flags & SMP_P_REQUIRED) != 0, is_main = (param->flags & SMP_P_MAIN) != 0;
    snprintf(line, sizeof line, "%s; %s%s%s", accepts, needed ? "" : "default ", fallback_text(param),
             is_main ? "; may be given without its name" : "");
    smp_text_wrap(to, line, AT, AT);
}

static void put_variants(FILE *to, const smp_variant *variants)
{
    for (const smp_variant *variant = variants; variant && variant->name; variant++) {
        fprintf(to, "  %-12s", variant->name);
        smp_text_wrap(to, variant->help ? variant->help : "", 14, 14);
    }
}

/* "resize WxH" and what it means, without the signs of letters. */
static void put_form(FILE *to, const smp_stage *stage, const smp_form *form, const char *between)
{
    const char *parts[] = {form->values, form->means};
    for (int i = 0; i < 2; i++) {
        fprintf(to, "%s%s ", i ? between : "", stage->name);
        for (const char *at = parts[i]; *at; at++)
            if (*at != '$' && *at != '@')
                fputc(*at, to);
    }
}

static void put_forms(FILE *to, const smp_stage *stage, const char *title)
{
    for (const smp_form *form = stage->hints ? stage->hints->forms : NULL; form && form->values; form++) {
        if (!form->means)
            continue;
        fprintf(to, "%s  ", title);
        put_form(to, stage, form, "  is  ");
        fputc('\n', to);
        title = "";
    }
}

void smp_stage_reference(FILE *to, const smp_stage *stage, bool color)
{
    smp_paint paint = smp_paint_for(color);
    fprintf(to, "%s%s%s - %s\n\n  ", paint.bold, stage->name, paint.off, stage->help ? stage->help : "");
    put_synopsis(to, stage);
    if (stage->variants)
        fprintf(to, "\n\nWorks on %s. Reads %s.\n", domain_text(stage->domain), access_text(stage));
    else
        fputs("\n\nMakes the input of a pipeline, as its first statement.\n", to);
    if (stage->about) {
        fputc('\n', to);
        smp_text_wrap(to, stage->about, 0, 0);
    }
    if (stage->params && stage->params->name) {
        fprintf(to, "\n%sparameters%s\n", paint.bold, paint.off);
        for (const smp_param *param = stage->params; param->name; param++)
            put_param(to, param);
    }
    char title[60];
    snprintf(title, sizeof title, "\n%svalues without names%s\n", paint.bold, paint.off);
    put_forms(to, stage, title);
    if (stage->variants)
        fprintf(to, "\n%svariants%s (same results, different ways; the last is what runs)\n", paint.bold, paint.off);
    put_variants(to, stage->variants);
    if (smp_stage_reducers(stage)) {
        fprintf(to, "\n%svariants of its measuring pass%s\n", paint.bold, paint.off);
        put_variants(to, smp_stage_reducers(stage));
    }
    if (stage->example)
        fprintf(to, "\n%sexample%s\n  %s\n", paint.bold, paint.off, stage->example);
    smp_other_name other = smp_other_names(stage);
    if (smp_next_name(&other)) {
        fprintf(to, "\n%sother tools call it%s\n", paint.bold, paint.off);
        do
            fprintf(to, "  %-18s  here: %s\n", other.name, other.say);
        while (smp_next_name(&other));
    }
}

/* ------------------------------------------------------------------------------------------------ Markdown */

/* Text that means the same in Markdown; in a table cell line ends become blanks. Lines that begin with a blank are laid
 * out by their author, so they go into a code block as they are. */
static void put_escaped(FILE *to, const char *text, bool cell)
{
    for (; *text; text++) {
        if (cell && *text == '\n')
            fputc(' ', to);
        else {
            if (strchr("\\`*_<>|[]#", *text))
                fputc('\\', to);
            fputc(*text, to);
        }
    }
}

static void put_paragraphs(FILE *to, const char *text)
{
    bool code = false, begin = true;
    while (*text) {
        size_t length = strcspn(text, "\n");
        bool laid_out = begin ? false : text[0] == ' ';
        if (laid_out != code)
            fputs(code ? "```\n" : "\n```\n", to);
        if (code && !laid_out && length)
            fputc('\n', to);
        code = laid_out;
        char line[1024];
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), text);
        if (code)
            fputs(line, to);
        else
            put_escaped(to, line, false);
        fputc('\n', to);
        text += length + (text[length] == '\n');
        begin = false;
    }
    if (code)
        fputs("```\n", to);
}

static void put_markdown_variants(FILE *to, const char *title, const smp_variant *variants)
{
    fprintf(to, "\n| %s | |\n|---|---|\n", title);
    for (const smp_variant *variant = variants; variant && variant->name; variant++) {
        fprintf(to, "| `%s` | ", variant->name);
        put_escaped(to, variant->help ? variant->help : "", true);
        fputs(" |\n", to);
    }
}

static void put_markdown(FILE *to, const smp_stage *stage)
{
    fprintf(to, "\n## %s\n\n", stage->name);
    put_escaped(to, stage->help ? stage->help : "", true);
    fprintf(to, "\n\n    ");
    put_synopsis(to, stage);
    fprintf(to, "\n\nWorks on %s. Reads %s.\n", domain_text(stage->domain), access_text(stage));
    if (stage->about) {
        fputc('\n', to);
        put_paragraphs(to, stage->about);
    }
    if (stage->params && stage->params->name) {
        fputs("\n| parameter | accepts | default | meaning |\n|---|---|---|---|\n", to);
        for (const smp_param *param = stage->params; param->name; param++) {
            char accepts[400];
            smp_param_domain(param, accepts, sizeof accepts);
            fprintf(to, "| `%s`%s | ", param->name, param->flags & SMP_P_MAIN ? " (main)" : "");
            put_escaped(to, accepts, true);
            fputs(" | ", to);
            put_escaped(to, fallback_text(param), true);
            fputs(" | ", to);
            put_escaped(to, param->help ? param->help : "", true);
            fputs(" |\n", to);
        }
    }
    put_markdown_variants(to, smp_stage_reducers(stage) ? "variant of the second pass" : "variant", stage->variants);
    if (smp_stage_reducers(stage))
        put_markdown_variants(to, "variant of the measuring pass", smp_stage_reducers(stage));
    bool first = true;
    for (const smp_form *form = stage->hints ? stage->hints->forms : NULL; form && form->values; form++) {
        if (!form->means)
            continue;
        fputs(first ? "\nWithout names: `" : ", `", to);
        put_form(to, stage, form, "` is `");
        fputc('`', to);
        first = false;
    }
    if (!first)
        fputs(".\n", to);
    if (stage->example)
        fprintf(to, "\nExample: `%s`\n", stage->example);
    smp_other_name other = smp_other_names(stage);
    if (smp_next_name(&other)) {
        fprintf(to, "\nOther tools call it: `%s` (here `%s`)", other.name, other.say);
        while (smp_next_name(&other))
            fprintf(to, ", `%s` (here `%s`)", other.name, other.say);
        fputs(".\n", to);
    }
}

void smp_stages_markdown(FILE *to, const smp_stage *one, bool all)
{
    if (!one)
        fputs("# Stages\n\nMade by `smempipe stages --markdown` from the stages' own tables. A value without its name "
              "is the parameter marked main;\nall others are written `name=value`. Every variant of a stage gives the "
              "same bytes; the last one is what runs.\n",
              to);
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        if (one ? stage == one : all || !smp_stage_is(stage, SMP_TRAIT_INTERNAL))
            put_markdown(to, stage);
    }
}
