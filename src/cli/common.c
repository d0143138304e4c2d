/* Shared by all subcommands: common options, errors, colour, signals, the device. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/mistakes.h"
#include "pipe/plan/plan.h"
#include "report/report.h"
#include "report/text.h"

static const char *const camera_white_words[] = {"camera", "auto", "none", NULL}; /* smp_camera_white */
static const char *const color_words[] = {"auto", "always", "never", NULL};

const smp_option smp_common_options[] = {
    {"help", 'h', SMP_O_FLAG, offsetof(smp_common, help), .help = "show this help", .flags = SMP_O_LEAVES},
    {"version", 'V', SMP_O_FLAG, offsetof(smp_common, version), .help = "show the version", .flags = SMP_O_LEAVES},
    {"quiet", 'q', SMP_O_FLAG, offsetof(smp_common, quiet), .help = "say nothing but errors"},
    {"verbose", 'v', SMP_O_FLAG, offsetof(smp_common, verbose), .help = "say more", .flags = SMP_O_VERBOSE},
    {"force", 'f', SMP_O_FLAG, offsetof(smp_common, force),
     .help = "replace existing outputs, also those that the pipeline saves, which are told (never an input)",
     .flags = SMP_O_OUTPUTS},
    {"color", 0, SMP_O_CHOICE, offsetof(smp_common, color), .fallback = "auto", .argument = "WHEN",
     .help = "colour: on terminals unless NO_COLOR is set, always, or never", .choices = color_words},
    {"device", 0, SMP_O_STRING, offsetof(smp_common, device), .fallback = "auto", .argument = "DEVICE",
     .help = "what computes: auto, or one that 'smempipe devices' lists", .flags = SMP_O_DEVICE},
    {"threads", 0, SMP_O_INT, offsetof(smp_common, threads), .fallback = "0", .argument = "N",
     .help = "threads that compute; 0: one for each processor that affinity, control group, Slurm, PBS, Grid Engine or "
             "OMP_NUM_THREADS grant",
     .min = 0, .max = 4096, .flags = SMP_O_THREADS},
#define L(field, option, value, text)                                                                                  \
    {option,          0,                                                                                               \
     SMP_O_SIZE,      offsetof(smp_common, read.limits.field),                                                         \
     .size = (value), .argument = "N",                                                                                 \
     .help = text,    .flags = SMP_O_INPUTS},
#define SMP_MEMORY_DEFAULT 0
#include "base/limit_list.def"
#undef SMP_MEMORY_DEFAULT
#undef L
    {"page", 0, SMP_O_INT, offsetof(smp_common, read.page), .fallback = "0", .argument = "N", .min = 1, .max = 1e9,
     .help = "the page to read of a file that holds several (TIFF, PDF), 1 first; the first unless said",
     .flags = SMP_O_INPUTS | SMP_O_PICTURES | SMP_O_SILENT},
    {"dpi", 0, SMP_O_NUMBER, offsetof(smp_common, read.dpi), .fallback = "0", .argument = "N", .min = 1, .max = 1e5,
     .help = "pixels an inch at which PDF (150 unless said) and SVG (96, its own pixels) are drawn",
     .flags = SMP_O_INPUTS | SMP_O_PICTURES | SMP_O_SILENT},
    {"draw-width", 0, SMP_O_INT, offsetof(smp_common, read.draw_width), .fallback = "0", .argument = "PIXELS", .min = 1,
     .max = 32767, .help = "how wide PDF and SVG are drawn, whatever --dpi says",
     .flags = SMP_O_INPUTS | SMP_O_PICTURES | SMP_O_SILENT},
    {"camera-white", 0, SMP_O_CHOICE, offsetof(smp_common, read.camera.white), .fallback = "camera", .argument = "HOW",
     .help = "white balance of camera raw: the camera's, by the picture (auto), or as the sensor sees (none)",
     .choices = camera_white_words, .flags = SMP_O_INPUTS | SMP_O_PICTURES | SMP_O_SILENT},
    {"camera-linear", 0, SMP_O_FLAG, offsetof(smp_common, read.camera.linear),
     .help = "develop camera raw to linear light, no brighter than it is", .flags = SMP_O_INPUTS | SMP_O_PICTURES},
    {"camera-half", 0, SMP_O_FLAG, offsetof(smp_common, read.camera.half),
     .help = "develop camera raw to a pixel for each four, several times as quick",
     .flags = SMP_O_INPUTS | SMP_O_PICTURES},
    {"fast-decode", 0, SMP_O_FLAG, offsetof(smp_common, fast_decode),
     .help = "decode JPEGs at 1/2, 1/4 or 1/8 of their size where the pipeline scales them down to a size in pixels "
             "first: several times as quick, and other samples than from the whole picture",
     .flags = SMP_O_INPUTS | SMP_O_PICTURES},
    {"raw", 0, SMP_O_STRING, offsetof(smp_common, raw), .argument = "SPEC", .flags = SMP_O_INPUTS,
     .help = "inputs have no header: pictures as in u8x3:1920x1080 (u8, u16le, u16be, f32le), sounds as in "
             "s16lex2:48000 (u8, s16le, s24le, s32le, f32le, f64le, alaw, mulaw); @BYTES behind it passes bytes over"},
    {"no-verify", 0, SMP_O_FLAG, offsetof(smp_common, read.no_verify),
     .help = "read what there is of a JPEG, PNG, PDF, WAV, W64, AIFF, CAF, MP3, video, M4A or other file of FFmpeg's "
             "that is cut short, with a warning, and check neither the MD5 that a FLAC keeps of its samples nor a "
             "TIFF's sums",
     .flags = SMP_O_INPUTS},
    {"time-limit", 0, SMP_O_NUMBER, offsetof(smp_common, read.time_limit), .fallback = "0", .argument = "SECONDS",
     .min = 0, .max = 1e6,
     .help = "longest time that decoding a file, or compiling a kernel, may take; 0: by its size, and a minute for a "
             "kernel",
     .flags = SMP_O_INPUTS},
    {"gpu-jpeg", 0, SMP_O_SIZE, offsetof(smp_common, gpu_jpeg), .size = SMP_GPU_JPEG, .argument = "PIXELS",
     .help = "from how many pixels on a GPU decodes and codes JPEGs too: the same bytes; 0: never",
     .flags = SMP_O_INPUTS | SMP_O_PICTURES | SMP_O_DEVICE | SMP_O_ADVANCED},
    {"no-sandbox", 0, SMP_O_FLAG, offsetof(smp_common, no_sandbox),
     .help = "decode and encode in this process, not in those that can do nothing else, and give up no rights: for "
             "debuggers",
     .flags = SMP_O_INPUTS | SMP_O_ADVANCED},
    {0},
};

bool smp_cli_color(const smp_common *common, int fd)
{
    if (common->color)
        return common->color == 1;
    const char *off = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(off && off[0]) && !(term && !strcmp(term, "dumb")) && isatty(fd);
}

void smp_cli_error(const smp_common *common, smp_error *err)
{
    if (!err->message[0])
        return;
    smp_cli_suggest_file(err);
    smp_paint paint = smp_paint_for(smp_cli_color(common, STDERR_FILENO));
    fprintf(stderr, "%ssmempipe: ", paint.bold);
    if (err->where[0]) {
        smp_text_clean(stderr, err->where);
        fputs(": ", stderr);
    }
    fprintf(stderr, "%s%serror:%s ", paint.off, paint.red, paint.off);
    smp_text_clean(stderr, err->message);
    fputc('\n', stderr);
    if (err->hint[0]) {
        fprintf(stderr, "  %s= hint:%s ", paint.bold, paint.off);
        smp_text_clean(stderr, err->hint);
        fputc('\n', stderr);
    }
    err->message[0] = '\0';
}

void smp_cli_warning(const smp_common *common, const char *format, ...)
{
    if (common->quiet)
        return;
    smp_paint paint = smp_paint_for(smp_cli_color(common, STDERR_FILENO));
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "%ssmempipe:%s %swarning:%s ", paint.bold, paint.off, paint.yellow, paint.off);
    smp_text_clean(stderr, text);
    fputc('\n', stderr);
}

void smp_cli_clipped(const smp_common *common, const char *path, uint64_t samples)
{
    if (samples)
        smp_cli_warning(
            common, "%s: %llu sample%s beyond full scale and clipped (lower the level first), or NaN and stored as 0",
            path, (unsigned long long)samples, samples == 1 ? " was" : "s were");
}

void smp_cli_step_warnings(const smp_common *common, const char *path, const smp_run_report *report)
{
    char text[400];
    for (size_t i = 0; i < report->step_count; i++) {
        if (report->steps[i].measurements.warning[0])
            smp_cli_warning(common, "%s: %s", path, report->steps[i].measurements.warning);
        if (smp_report_clips_much(report, &report->steps[i])) {
            smp_report_clipping_text(report, &report->steps[i], text, sizeof text);
            smp_cli_warning(common, "%s: %s", path, text);
        }
    }
}

void smp_cli_notes(const smp_common *common, const char *path, bool written, const smp_notes *notes)
{
    if (!strcmp(path, "-"))
        path = written ? "standard output" : "standard input";
    for (int i = 0; i < notes->count; i++)
        smp_cli_warning(common, "%s: %s", path, notes->items[i]);
    if (notes->more)
        smp_cli_warning(common, "%s: %d more notes of this kind", path, notes->more);
}

smp_code smp_cli_commit(const smp_common *common, const char *path, smp_writer *writer, smp_error *err)
{
    const smp_code code = smp_writer_finish(writer, err);
    if (code) {
        smp_writer_abort(writer);
        return code;
    }
    smp_cli_clipped(common, path, smp_writer_clipped(writer));
    smp_cli_notes(common, path, true, smp_writer_notes(writer));
    return smp_writer_commit(writer, err);
}

smp_code smp_cli_close_stdout(smp_error *err)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fclose(stdout) != 0 || failed) {
        int why = errno;
        return smp_fail(err, SMP_E_WRITE, "cannot write to standard output%s%s", why ? ": " : "",
                        why ? strerror(why) : "");
    }
    return SMP_OK;
}

volatile sig_atomic_t smp_cli_stopped;
static volatile sig_atomic_t gently;

static void end_by_signal(int number)
{
    if (gently && !smp_cli_stopped && (number == SIGINT || number == SIGTERM)) {
        smp_cli_stopped = number;
        return;
    }
    smp_writer_abort_all();
    if (number == SIGINT || number == SIGTERM)
        _exit(128 + number);
    struct sigaction action = {.sa_handler = SIG_DFL}; /* the others end the program as if they had not been caught */
    sigset_t set;
    sigemptyset(&action.sa_mask);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigaction(number, &action, NULL);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void smp_cli_stop_gently(void)
{
    gently = 1;
}

void smp_cli_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    (void)signal(SIGCHLD, SIG_DFL); /* where it is ignored, no child's status is told */
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction before, action = {.sa_handler = end_by_signal, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            sigaddset(&action.sa_mask, numbers[k]);
        /* nohup and background shells ignore some on purpose */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

smp_code smp_cli_check_stdin(const char *path, smp_error *err)
{
    if (strcmp(path, "-") != 0 || !isatty(STDIN_FILENO))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "standard input is a terminal");
    return smp_hint(err, "name a file, or send one: smempipe ... - < FILE");
}

smp_code smp_cli_check_input(const char *pipe, const char *in, smp_error *err)
{
    if (pipe && !strcmp(pipe, "-") && !strcmp(in, "-"))
        return smp_fail(err, SMP_E_USAGE, "the pipeline and the input cannot both come from standard input");
    return smp_cli_check_stdin(in, err);
}

smp_code smp_cli_check_stdout(const char *path, smp_error *err)
{
    if (strcmp(path, "-") != 0 || !isatty(STDOUT_FILENO))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "binary data is not written to a terminal");
    return smp_hint(err, "name a file, or redirect: smempipe ... - > FILE");
}

/* Every stage reads and writes the picture once, in f32; a GPU gets it and gives it back as it is in the file. */
static void guess_work(const smp_common *common, const char *path, const smp_program *program,
                       smp_device_request *request)
{
    struct stat status;
    smp_reader *reader;
    smp_error unread = {.code = SMP_OK};
    if (!path || !program || !strcmp(path, "-") || stat(path, &status) || !S_ISREG(status.st_mode) ||
        smp_reader_open(path, &common->read, &reader, &unread))
        return; /* what is wrong with the file is said when it is run */
    const smp_shape *shape = &smp_reader_media(reader)->shape;
    double samples = (double)shape->width * (double)shape->height * shape->channels;
    request->work_bytes = samples * 2 * (double)sizeof(float) * (double)program->node_count;
    request->operations = smp_program_operations(program, shape, path);
    request->transfer_bytes = samples * 2 * (double)smp_sample_size((int)shape->format);
    smp_reader_close(reader);
}

smp_code smp_cli_device(const smp_common *common, const char *isa, const char *path, const smp_program *program,
                        smp_device **out, char *note, size_t note_size, smp_error *err)
{
    smp_device_request request = {.spec = common->device, .threads = (int)common->threads, .isa = isa};
    if (!common->device || !strcmp(common->device, "auto"))
        guess_work(common, path, program, &request);
    note[0] = '\0';
    return smp_device_open(&request, out, note, note_size, err);
}
