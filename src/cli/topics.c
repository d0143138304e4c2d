/* Texts of `smempipe help TOPIC`. What a table elsewhere knows (exit codes, border modes) is read from that table. */
#include "cli/topics.h"

#include "cli/cli.h"

static void print_language(FILE *to)
{
    smp_help_expand(
        to, "The language of pipe files: one stage a line, NAME key=value.\n"
            "\n"
            "  smempipe 1\t# format version; the first statement; optional\n"
            "  kind image\t# image or audio: lets 'check' work without an input\n"
            "  param size = 2px min=1px max=50px help=\"what it does\"\n"
            "\t# a parameter that --set size=3px changes\n"
            "  light linear\t# what follows computes in linear light (or: encoded)\n"
            "  {stencil}\n"
            "  {point} -> @kept\t# keep the result under a name\n"
            "  from @input\t# start a new branch; @input is the input itself\n"
            "  from \"logo.png\"\t# or of a file with stages of its own, up to -> @logo\n"
            "  {reduce}\t# measuring stages pass the data on unchanged\n"
            "  save \"small.png\"\t# write a file here, inside the output folder\n"
            "  include \"other.pipe\" size=3px\t# a pipeline of its own, with its parameters\n"
            "\n"
            "Text      UTF-8. '# ' begins a comment, '\\' at the end of a line continues it, as does an open '['.\n"
            "Values    one value without a name (the stage's main parameter), all others key=value, without\n"
            "          blanks round '='. Also without names: words that one parameter alone has (resize 50%\n"
            "          nearest), and what `smempipe stages NAME` shows (resize 800x600).\n"
            "Numbers   2, 0.5, 1e-3, with a unit: px, %, Hz, kHz, s, ms, dB, dBFS, deg, bit. A bare number\n"
            "          has the parameter's own unit. Times also 1:30, 1:02:03.5.\n"
            "Others    yes, no, words of a list, \"text\", [1 2 1; 2 4 2; 1 2 1], $name for a parameter,\n"
            "          for colours also red, #ff8000 (3, 4, 6 or 8 digits),\n"
            "          @name for a picture or sound made before, \"dark.png\" for one to read (a path from the\n"
            "          pipe file's folder, and below it unless --allow-read DIR says more).\n"
            "Sums      {$size*2 + 1}: + - * / ( ) min max round, and width, height, channels, rate of the input.\n"
            "Random    random(0.8..1.2), random(0, 90, 180); probability=50%: see help draws.\n"
            "\n"
            "On the command line each -e STAGE is a line of the same language:\n"
            "\n"
            "  smempipe run -e '{stencil}' -e '{point}' in.png out.png\n"
            "\n"
            "and may include a pipeline that comes with the program, where no file here is called so:\n"
            "\n"
            "  smempipe run -e 'include \"rounded\" radius=50%' in.png out.png\n"
            "\n"
            "'smempipe stages' lists the stages, 'smempipe check FILE.pipe' finds mistakes.\n");
}

static void print_draws(FILE *to)
{
    smp_help_expand(
        to, "Random values in pipelines, for training and for tests. Each file has draws of its own.\n"
            "\n"
            "  warp random(-15..15deg)\t# any number may be drawn, evenly; 'explain' shows what it came to\n"
            "  median random(3..7)\t# 3, 5 or 7: of whole numbers both ends too\n"
            "  rotate random(0, 90, 180, 270)\t# one of several\n"
            "  multiply {1 + random(-0.4..0.4)}\t# in arithmetic\n"
            "  param bright = random(0.6..1.4)\t# drawn once, however often $bright is used\n"
            "  gaussian 2px probability=20%\t# any stage may be left out by chance\n"
            "  noise 4% seed=random\t# other noise for each file\n"
            "\n"
            "Some stages draw several values that belong together: `crop random scale=8..100% ratio=3/4..4/3`,\n"
            "`crop random 224x224`, `trim random 2s`; `flip random` is `flip horizontal probability=50%`.\n"
            "\n"
            "A draw depends on the seed (--seed), the epoch (--epoch), the file, and on how many draws stand before\n"
            "it in the text, and on nothing else: not on devices, threads, other files or the order of work. `run`\n"
            "and `convert` of one file draw for index 0 (--index), `batch` for the name under the folder given: a\n"
            "file that is renamed gets other values, files that come and go change no other's. smempipe.Feed draws\n"
            "for a file's place in its data set; `run --seed 1 --epoch 3 --index 17` makes its picture 17.\n"
            "All pictures of a film have the same draws. Ends of ranges are checked before any file is opened.\n"
            "`run --report`, `batch --report` and `explain` tell what was drawn.\n");
}

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
    {"language", "how pipe files are written", print_language},
    {"draws", "random values in pipelines", print_draws},
    {"exit-codes", "what the exit status says", print_exit_codes},
    {"formats", "which files are read and written", smp_topic_formats},
    {"edge", "what lies outside a picture", print_edge},
    {"banks", "how shared memory serves a warp, and the patterns of smempipe bank", smp_topic_banks},
};

const smp_topic *smp_topic_at(size_t index)
{
    return index < sizeof topics / sizeof topics[0] ? &topics[index] : NULL;
}
