/* smempipe completion: a script for a shell, made from the commands' tables. */
#include "cli/completion/completion.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text/diag.h"
#include "cli/topics.h"
#include "io/format.h"

typedef struct completion_settings {
    smp_common common;
    const char *shell;
} completion_settings;

static const char shells[] = "bash zsh fish";

/* ------------------------------------------------------------------------------------------------ kinds */

/* Kinds of values by their names in help. Of other names, arguments are files and values are not completed. */
static const struct {
    const char *name;
    smp_completes kind;
} kinds[] = {
    {"FILE", SMP_COMPLETES_FILE},       {"FILE.json", SMP_COMPLETES_FILE}, {"FILE.jsonl", SMP_COMPLETES_FILE},
    {"DIR", SMP_COMPLETES_FOLDER},      {"OUT_DIR", SMP_COMPLETES_FOLDER}, {"P.pipe", SMP_COMPLETES_PIPE},
    {"IN", SMP_COMPLETES_MEDIA},        {"OUT", SMP_COMPLETES_MEDIA},      {"A", SMP_COMPLETES_MEDIA},
    {"B", SMP_COMPLETES_MEDIA},         {"STAGE", SMP_COMPLETES_WORDS},    {"DEVICE", SMP_COMPLETES_WORDS},
    {"VARIANT", SMP_COMPLETES_WORDS},   {"TOPIC", SMP_COMPLETES_WORDS},    {"SHELL", SMP_COMPLETES_WORDS},
    {"PATTERN", SMP_COMPLETES_NOTHING},
};

static bool kind_of(const char *name, smp_completes *out)
{
    for (size_t i = 0; name && i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strcmp(kinds[i].name, name)) {
            *out = kinds[i].kind;
            return true;
        }
    return false;
}

smp_completes smp_option_completes(const smp_option *option)
{
    smp_completes kind = SMP_COMPLETES_NOTHING;
    if (option->type == SMP_O_CHOICE)
        return SMP_COMPLETES_WORDS;
    kind_of(option->argument, &kind);
    return kind;
}

smp_completes smp_argument_completes(const smp_argument_row *row)
{
    smp_completes kind = SMP_COMPLETES_MEDIA;
    kind_of(row->name, &kind);
    return kind == SMP_COMPLETES_FILE ? SMP_COMPLETES_MEDIA : kind;
}

bool smp_option_takes_word(const smp_option *option)
{
    return option->type != SMP_O_FLAG && !(option->flags & SMP_O_OPTIONAL);
}

/* ------------------------------------------------------------------------------------------------ words */

/* A growing list of different words; text null: memory ran out. */
typedef struct word_list {
    char *text;
} word_list;

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static void add_word(word_list *list, const char *word)
{
    if (!list->text || has_word(list->text, word))
        return;
    char *longer = smp_asprintf("%s%s%s", list->text, list->text[0] ? " " : "", word);
    smp_free(list->text);
    list->text = longer;
}

static void add_stages(word_list *list)
{
    for (size_t i = 0; i < smp_stage_count(); i++)
        if (!smp_stage_is(smp_stage_at(i), SMP_TRAIT_INTERNAL))
            add_word(list, smp_stage_at(i)->name);
}

static void add_variants(word_list *list)
{
    for (size_t i = 0; i < smp_stage_count(); i++) {
        for (const smp_variant *v = smp_stage_at(i)->variants; v && v->name; v++)
            add_word(list, v->name);
        for (const smp_variant *v = smp_stage_reducers(smp_stage_at(i)); v && v->name; v++)
            add_word(list, v->name);
    }
}

static void add_topics(word_list *list)
{
    const smp_topic *topic;
    for (size_t i = 0; (topic = smp_topic_at(i)); i++)
        add_word(list, topic->name);
    for (size_t i = 0; i < smp_command_count(); i++)
        add_word(list, smp_command_at(i)->name);
    add_stages(list);
}

static char *named_words(const char *name)
{
    word_list list = {smp_strdup(!strcmp(name, "SHELL") ? shells : "")};
    if (!strcmp(name, "STAGE"))
        add_stages(&list);
    else if (!strcmp(name, "VARIANT"))
        add_variants(&list);
    else if (!strcmp(name, "TOPIC"))
        add_topics(&list);
    else if (!strcmp(name, "DEVICE")) {
        static const char *const devices[] = {"auto", "cpu", "cuda", "simt"};
        for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
            add_word(&list, devices[i]);
    }
    return list.text;
}

static char *option_words(const smp_option *option)
{
    if (option->type != SMP_O_CHOICE)
        return named_words(option->argument);
    word_list list = {smp_strdup("")};
    for (int i = 0; option->choices[i]; i++)
        add_word(&list, option->choices[i]);
    return list.text;
}

static char *media_extensions(void)
{
    const smp_file_format *format;
    word_list list = {smp_strdup("")};
    for (size_t i = 0; (format = smp_format_at(i)); i++)
        for (const char *const *extension = format->extensions; *extension; extension++)
            add_word(&list, *extension);
    return list.text;
}

void smp_put_quoted(FILE *to, const char *text, const char *also)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", to);
        else if (strchr(also, *text))
            fprintf(to, "\\%c", *text);
        else
            fputc(*text, to);
    }
}

static smp_code put(FILE *to, const smp_completion_texts *texts, smp_completes kind, char *words, smp_error *err)
{
    const char *const plain[] = {[SMP_COMPLETES_NOTHING] = texts->nothing,
                                 [SMP_COMPLETES_FILE] = texts->file,
                                 [SMP_COMPLETES_FOLDER] = texts->folder,
                                 [SMP_COMPLETES_PIPE] = texts->pipe};
    if (kind == SMP_COMPLETES_MEDIA)
        words = media_extensions();
    if (kind == SMP_COMPLETES_WORDS || kind == SMP_COMPLETES_MEDIA) {
        SMP_NEED(words, "completion", 1024, err);
        const bool media = kind == SMP_COMPLETES_MEDIA;
        fputs(media ? texts->media[0] : texts->words[0], to);
        for (const char *p = words; *p; p++)
            if (media && *p == ' ')
                fputs(texts->media[1], to);
            else
                fputc(*p, to);
        fputs(media ? texts->media[2] : texts->words[1], to);
    } else {
        fputs(plain[kind], to);
    }
    smp_free(words);
    return SMP_OK;
}

smp_code smp_put_values(FILE *to, const smp_completion_texts *texts, const smp_option *option, smp_error *err)
{
    const smp_completes kind = smp_option_completes(option);
    return put(to, texts, kind, kind == SMP_COMPLETES_WORDS ? option_words(option) : NULL, err);
}

smp_code smp_put_arguments(FILE *to, const smp_completion_texts *texts, const smp_argument_row *row, smp_error *err)
{
    const smp_completes kind = smp_argument_completes(row);
    return put(to, texts, kind, kind == SMP_COMPLETES_WORDS ? named_words(row->name) : NULL, err);
}

/* ------------------------------------------------------------------------------------------------ the command */

static const struct {
    const char *name;
    smp_code (*write)(FILE *to, smp_error *err);
} writers[] = {{"bash", smp_completion_bash}, {"zsh", smp_completion_zsh}, {"fish", smp_completion_fish}};

static smp_code completion(void *given, smp_error *err)
{
    completion_settings *settings = given;
    const char *names[sizeof writers / sizeof writers[0]];
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
        names[i] = writers[i].name;
        if (!strcmp(writers[i].name, settings->shell))
            return writers[i].write(stdout, err);
    }
    const size_t least = 3; /* letters; "sh" is another shell than zsh */
    const size_t length = strlen(settings->shell);
    const char *near =
        length < least ? NULL : smp_nearest(settings->shell, length, names, sizeof writers / sizeof writers[0]);
    smp_fail(err, SMP_E_USAGE, "there is no completion for '%s'", settings->shell);
    return near ? smp_hint(err, "did you mean '%s'?", near) : smp_hint(err, "shells: %s", shells);
}

static const smp_argument_row arguments[] = {
    {"SHELL", offsetof(completion_settings, shell), .help = "bash, zsh or fish"},
    {0},
};

const smp_command smp_command_completion = {
    .name = "completion",
    .help = "a script that lets a shell complete smempipe's command lines",
    .about = "cmake --install puts these scripts where the shells look for them. Without that:\n"
             "  bash  smempipe completion bash > ~/.local/share/bash-completion/completions/smempipe\n"
             "  zsh   smempipe completion zsh > a folder of $fpath/_smempipe, before compinit runs\n"
             "  fish  smempipe completion fish > ~/.config/fish/completions/smempipe.fish",
    .settings_size = sizeof(completion_settings),
    .without = SMP_O_OUTPUTS | SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS | SMP_O_VERBOSE,
    .groups = {SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"source <(smempipe completion bash)", "in this bash alone"},
                 {"smempipe completion fish | source", "in this fish alone"}},
    .run = completion,
};
