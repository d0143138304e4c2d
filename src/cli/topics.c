/* Texts of `smempipe help TOPIC`: files of topics/, or what a table elsewhere knows (exit codes, border modes). */
#include "cli/topics.h"

#include "cli/cli.h"

/* Statuses in ascending order, each with the kinds of failure that give it. */
static void print_exit_codes(FILE *to)
{
    static const struct {
        const char *name;
        int status;
        const char *text;
    } rows[] = {
#define X(name, status, text) {#name, status, text},
#include "base/error_list.def"
#undef X
    };
    const size_t count = sizeof rows / sizeof rows[0];
    fputs("Exit codes of every command:\n\n", to);
    for (int status = 0; status < 256; status++) {
        bool any = false;
        for (size_t i = 0; i < count; i++) {
            if (rows[i].status != status)
                continue;
            if (any)
                fprintf(to, "; %s", rows[i].text);
            else
                fprintf(to, "  %3d  %s", status, rows[i].text);
            any = true;
        }
        if (any)
            fputc('\n', to);
    }
    fputs("\nWith several files (check, info) the first failure decides, after all were looked at.\n", to);
}

static void print_edge(FILE *to)
{
    static const struct {
        const char *drawing, *what;
    } modes[SMP_EDGES] = {
        [SMP_CLAMP] = {"aaa|abcd|ddd", "the border sample goes on"},
        [SMP_REFLECT] = {"cba|abcd|dcb", "mirrored, the border sample twice"},
        [SMP_MIRROR] = {"dcb|abcd|cba", "mirrored about the border sample"},
        [SMP_WRAP] = {"bcd|abcd|abc", "the picture repeats"},
        [SMP_ZERO] = {"000|abcd|000", "black"},
        [SMP_CONSTANT] = {"kkk|abcd|kkk", "a value of your choice, where the stage takes one"},
    };
    fputs("edge= says what stages that look at neighbours see outside a picture 'abcd':\n\n", to);
    for (int i = 0; i < SMP_EDGES && smp_edge_names[i]; i++)
        fprintf(to, "  %-9s  %s  %s\n", smp_edge_names[i], modes[i].drawing, modes[i].what);
    fputs("\nA reach larger than the picture works with all of them.\n", to);
}

static const smp_topic topics[] = {
    {"language", "how pipe files are written", .text = smp_topic_language},
    {"draws", "random values in pipelines", .text = smp_topic_draws},
    {"exit-codes", "what the exit status says", print_exit_codes},
    {"formats", "which files are read and written", smp_topic_formats},
    {"edge", "what lies outside a picture", print_edge},
    {"banks", "how shared memory serves a warp, and the patterns of smempipe bank", .text = smp_topic_banks},
};

const smp_topic *smp_topic_at(size_t index)
{
    return index < sizeof topics / sizeof topics[0] ? &topics[index] : NULL;
}

void smp_topic_print(const smp_topic *topic, FILE *to)
{
    if (topic->text)
        smp_help_expand(to, (const char *)topic->text);
    else
        topic->print(to);
}
