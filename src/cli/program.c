/* The program: picks the subcommand, parses its command line, says what went wrong, and turns codes into exit statuses.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/machine.h"
#include "base/text/diag.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/mistakes.h"
#include "cli/shipped.h"
#include "cli/team.h"
#include "cli/topics.h"
#include "cli/write_options.h"
#include "io/decoder/worker.h"
#include "io/files/source.h"
#include "io/format.h"
#include "io/raw/raw_spec.h"
#include "report/text.h"

enum { COLOR_AUTO = 0, COLOR_NEVER = 2 }; /* of --color */
enum { MAX_COMMANDS = 64, LEAST_MEMORY = 64 << 10 /* bytes */ };

/* Files opened later must not land on descriptors 0 to 2 that the caller closed. What takes their place is open the
 * wrong way round, so that using it fails as the closed one would. */
static void open_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

/* Commands of other programs, and what to write. */
static const smp_alias other_commands[] = {
    {"identify vipsheader exiftool soxi ffprobe mediainfo", "smempipe info FILE"},
    {"mogrify", "smempipe convert IN... --in-place, or -o DIR"},
    {"magick", "smempipe convert IN OUT"},
    {"sox ffmpeg lame", "smempipe convert IN OUT -e STAGE"},
    {"cwebp dwebp heif-convert avifenc", "smempipe convert IN OUT"},
    {"vipsthumbnail", "smempipe convert IN... -o DIR --resize 256"},
    {"composite", "smempipe convert IN OUT -e 'overlay by=\"logo.png\"'"},
    {"contact-sheet contactsheet", "smempipe montage IN... -o OUT"},
    {"pngquant", "smempipe convert IN OUT -e 'palette 256 dither=diffuse' --png-palette"},
    {"optipng", "smempipe convert IN OUT --png-level 9"},
    {"dzsave", "smempipe tiles IN -o DIR --size 256"},
    {0}};

/* `smempipe WORD ...`, where WORD is no command. words: what follows it. */
static smp_code fail_command(const char *name, char *const *words, int word_count, smp_error *err)
{
    char rest[200] = " IN OUT", statement[200];
    if (word_count)
        smp_cli_words(rest, sizeof rest, words, word_count);
    const char *names[MAX_COMMANDS];
    size_t count = 0, length = strlen(name);
    for (; count < MAX_COMMANDS && count < smp_command_count(); count++)
        names[count] = smp_command_at(count)->name;
    const char *near = smp_nearest(name, length, names, count);
    const smp_stage *stage = smp_stage_find(name, length);
    const bool shipped = smp_is_shipped(name);
    const char *other = smp_alias_of(other_commands, name, length);
    if (name[0] == '-')
        return smp_fail(err, SMP_E_USAGE, "unknown option '%s'", name),
               smp_hint(err, "options follow a command: smempipe COMMAND [options] ...");
    if (smp_command_is_later(name))
        return smp_fail(err, SMP_E_USAGE, "'%s' is not in this first build", name),
               smp_hint(err, "samples/quickstart.sh builds the rest");
    if (stage && !smp_stage_is(stage, SMP_TRAIT_INTERNAL)) {
        const bool help = word_count == 1 && (!strcmp(words[0], "-h") || !strcmp(words[0], "--help"));
        int values = word_count;
        smp_cli_statement(statement, sizeof statement, name, stage->example, words, &values);
        if (values < word_count)
            smp_cli_words(rest, sizeof rest, words + values, word_count - values);
        smp_fail(err, SMP_E_USAGE, "'%s' is a stage, not a command", name);
        return help ? smp_hint(err, "write smempipe stages %s", name)
                    : smp_hint(err, "write smempipe run -e '%s'%s", statement, rest);
    }
    if (!shipped && smp_writer_kind(name) != SMP_KIND_NONE)
        return smp_fail(err, SMP_E_USAGE, "the command is missing: '%s' is a file's name", name),
               smp_hint(err, "write smempipe convert %s%s", name, word_count ? rest : " OUT");
    smp_fail(err, SMP_E_USAGE, shipped ? "'%s' is a pipeline, not a command" : "unknown command '%s'", name);
    if (shipped)
        return smp_hint(err, "write smempipe run %s%s", name, rest);
    if (other)
        return smp_hint(err, "write %s", other);
    if (near)
        return smp_hint(err, "did you mean '%s'?", near);
    if (length > 5 && !strcmp(name + length - 5, ".pipe"))
        return smp_hint(err, "write smempipe run %s%s", name, rest);
    if (!strcmp(name, "version"))
        return smp_hint(err, "write smempipe --version");
    return smp_hint(err, "smempipe help lists the commands");
}

/* -h and not --help: one screen. */
static bool is_short_help(int argc, char *const *argv)
{
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "-h"))
            return true;
    return false;
}

/* smempipe P.pipe --help */
static bool asks_for_pipeline(int argc, char *const *argv)
{
    size_t length = strlen(argv[1]);
    return argc == 3 && length > 5 && !strcmp(argv[1] + length - 5, ".pipe") &&
           (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"));
}

/* One line where decoders are not confined. */
static void say_confinement(const smp_common *common)
{
    const smp_lack lack = smp_worker_lacks();
    if (lack == SMP_LACKS_BOTH)
        smp_cli_warning(common, "nothing confines the processes that decode files: this system, or its container, "
                                "allows neither seccomp nor Landlock, and a hostile file could do what you may do");
    else if (lack)
        smp_cli_warning(common, "the processes that decode files are confined in part: this system, or its container, "
                                "allows Landlock alone, which keeps them from files and not from the network");
}

static void say_waiting(const char *path)
{
    smp_text_line(stderr, "smempipe: waits for somebody to write into the pipe %s; --time-limit SECONDS ends that",
                  path);
}

static smp_code refuse_version(smp_error *err)
{
    smp_fail(err, SMP_E_USAGE, "-V, --version stands alone: it shows the version, and nothing else is done");
    return smp_hint(err, "the quality of an MP3, lame's -V 4, is --mp3-vbr 4");
}

/* smempipe --version -v */
static smp_code show_version(int argc, char *const *argv, smp_error *err)
{
    char text[80];
    bool verbose = false;
    for (int i = 2; i < argc; i++)
        if (!verbose && (!strcmp(argv[i], "-v") || !strcmp(argv[i], "--verbose")))
            verbose = true;
        else if (strcmp(argv[i], "-V") != 0 && strcmp(argv[i], "--version") != 0)
            return refuse_version(err);
    puts("smempipe " SMP_VERSION);
    if (!verbose)
        return SMP_OK;
    smp_formats_brief(stdout);
    smp_code code = smp_worker_start(0, err);
    code = code ? code : smp_worker_confinement(text, sizeof text, err);
    if (!code)
        printf("decoders are confined by: %s\n", text);
    smp_worker_stop();
    return code;
}

/* Returns the libraries needed by the files that an argument names, also within a stage: `append by="talk.m4a"`, `--to
 * avif`. */
static unsigned libraries_of(const char *argument)
{
    unsigned libraries = smp_libraries_of_name(argument);
    for (const char *dot = strpbrk(argument, ".="); dot; dot = strpbrk(dot + 1, ".=")) {
        char end[8] = ".";
        for (size_t i = 1; i < sizeof end - 1 && isalnum((unsigned char)dot[i]); i++)
            end[i] = dot[i];
        libraries |= smp_libraries_of_name(end);
    }
    return libraries;
}

/* The first file that is read; null: there is none. */
static const char *find_input(const smp_command *command, const void *settings)
{
    for (const smp_argument_row *row = command->arguments; row && row->name; row++) {
        const void *field = (const char *)settings + row->offset;
        const smp_strings *many = field;
        if (!strcmp(row->name, "IN"))
            return !row->many ? *(const char *const *)field : many->count ? many->items[0] : NULL;
    }
    return NULL;
}

/* Opens libraries that a confined decoder could not open itself, if a name or a file's beginning tells that they are
 * needed. For other files and for pipes (io/decoder/worker_reader.c) decoders start with them. */
static unsigned open_libraries(const smp_command *command, const void *settings, int argc, char **argv)
{
    const char *input = find_input(command, settings);
    const bool writes = smp_cli_writes_files(command);
    unsigned libraries = 0;
    for (int i = 0; i < argc; i++) {
        const bool written = writes && argv[i] != input; /* what is read needs no encoder */
        libraries |= libraries_of(argv[i]) & (written ? ~0U : ~(unsigned)SMP_LIBRARY_ENCODERS);
        if (command->one_input)
            libraries |= smp_libraries_of_file(argv[i]);
    }
    smp_libraries_open(libraries);
    return libraries;
}

/* Whether it writes files whose names it makes: their encoders begin as they are needed. */
static bool names_outputs(const smp_command *command)
{
    const smp_argument_row *row = command->arguments;
    while (row && row->name && strcmp(row->name, "OUT") != 0)
        row++;
    return smp_cli_writes_files(command) && (!row || !row->name);
}

/* Whether decoders or encoders may begin later: by a process that is forked while the program has one thread. */
static bool needs_more(const smp_command *command, int argc, char **argv)
{
    bool more = !command->one_input || names_outputs(command);
    for (int i = 0; i < argc && !more; i++) {
        struct stat status;
        const int found = strcmp(argv[i], "-") ? stat(argv[i], &status) : fstat(STDIN_FILENO, &status);
        more = !found && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
    }
    return more;
}

/* The ranks of a team say once what all of them would say. */
static smp_code join_team(const smp_command *command, smp_common *common, smp_common *settings, smp_error *err)
{
    if (!command->shares)
        return smp_fail(err, SMP_E_USAGE, "ranks share the work of batch and measure, not of %s", command->name),
               smp_hint(err, "write smempipe %s ...", command->name);
    const smp_code code = smp_cli_team->join(err);
    smp_cli_team->quiet = settings->quiet;
    if (settings->color == COLOR_AUTO) /* Open MPI gives ranks a terminal whatever its own output is */
        common->color = settings->color = COLOR_NEVER;
    common->quiet = settings->quiet = settings->quiet || smp_cli_team->rank > 0;
    return code;
}

static smp_code run_command(const smp_command *command, int argc, char **argv, smp_common **common, smp_error *err)
{
    bool leaves;
    void *settings = smp_alloc(command->settings_size);
    SMP_NEED(settings, "settings", command->settings_size, err);
    smp_code code = smp_options_parse(command, argc, argv, settings, &leaves, err);
    **common = *(smp_common *)settings;
    const char *pipe = smp_cli_pipe_argument(command, settings);
    if (!code && (*common)->help && pipe)
        code = smp_cli_show_pipeline(*common, pipe, err);
    else if (!code && (*common)->help)
        smp_help_command(stdout, command, is_short_help(argc, argv));
    else if (!code && (*common)->version && argc == 1)
        puts("smempipe " SMP_VERSION);
    else if (!code && (*common)->version)
        code = refuse_version(err);
    else if (!code) {
        smp_read_options *how = &((smp_common *)settings)->read;
        uint64_t *most = &how->limits.max_memory;
        how->memory_meant = (*common)->read.memory_meant = *most != 0;
        if ((*common)->quiet && (*common)->verbose)
            code = smp_fail(err, SMP_E_USAGE, "--quiet and --verbose exclude each other");
        else if ((*common)->raw && (code = smp_raw_parse((*common)->raw, &how->raw, err)))
            ;
        else if (*most && *most < LEAST_MEMORY) {
            smp_fail(err, SMP_E_USAGE, "--max-memory leaves no room for the program itself");
            code = smp_hint(err, "give at least %dK; pictures take more", LEAST_MEMORY >> 10);
        } else if (!*most)
            *most = (*common)->read.limits.max_memory = smp_default_memory();
        if (!code)
            smp_alloc_limit(*most);
        smp_source_pipes_once((*common)->quiet ? NULL : say_waiting);
        unsigned libraries = 0;
        if (!code && !(command->without & SMP_O_INPUTS))
            libraries = open_libraries(command, settings, argc, argv);
        if (!code && !(command->without & SMP_O_INPUTS) && !(*common)->no_sandbox)
            code = smp_worker_start(*most, err);
        if (!code && needs_more(command, argc, argv))
            code = smp_worker_more(err);
        else if (!code && libraries & SMP_LIBRARY_ENCODERS)
            code = smp_worker_start_encoder(err);
        if (!code && smp_cli_team) /* its threads begin once decoders are forked */
            code = join_team(command, *common, (smp_common *)settings, err);
        code = code ? code : smp_cli_take_tags(command, settings, err);
        code = code ? code : command->run(settings, err);
        smp_cli_free_tags(command, settings);
        if (smp_worker_runs())
            say_confinement(*common);
        smp_worker_stop();
    }
    smp_options_free(command, settings);
    smp_free(settings);
    return code;
}

int smp_cli_main(int argc, char **argv)
{
    smp_common settings = {0}, *common = &settings;
    smp_error err = {0}, close_err = {0};
    smp_code code = SMP_OK;
    open_standard_files();
    smp_cli_catch_signals();
    if (argc < 2) {
        smp_help_short(stderr);
        return smp_exit_status(SMP_E_USAGE);
    }
    const smp_command *command = smp_command_find(argv[1]);
    if (command)
        code = run_command(command, argc - 2, argv + 2, &common, &err);
    else if (!strcmp(argv[1], "-h"))
        smp_help_short(stdout);
    else if (!strcmp(argv[1], "--help"))
        smp_help_overview(stdout);
    else if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        code = show_version(argc, argv, &err);
    else if (asks_for_pipeline(argc, argv))
        code = smp_cli_show_pipeline(common, argv[1], &err);
    else
        code = fail_command(argv[1], argv + 2, argc - 2, &err);
    if (smp_cli_team && !smp_cli_team->leave(code)) { /* what starts ranks ends all of them when one fails */
        code = SMP_OK;
        err.message[0] = '\0';
    }
    smp_cli_error(common, &err);
    smp_code closed = smp_cli_close_stdout(&close_err);
    if (closed && (!code || code == SMP_E_DIFFERENT)) { /* what differs was to be said there */
        smp_cli_error(common, &close_err);
        code = closed;
    }
    return smp_exit_status(code);
}
