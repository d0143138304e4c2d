/* YUV4MPEG2 (.y4m): uncompressed video, as it goes from program to program in pipes. A line of parameters, then for
 * each picture a line and its planes. Sources: the manual yuv4mpeg(5) of mjpegtools; deep samples and XCOLORRANGE as
 * ffmpeg writes them. 8 bits become u8, more become u16; luma alone becomes gray. A picture is kept whole, since its
 * planes follow each other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/format.h"
#include "io/video/ycbcr.h"

enum { MOST_LINE = 4096 /* bytes of a line of parameters */, FRAME = 6 /* of "FRAME\n" */ };
static const char magic[] = "YUV4MPEG2", frame_magic[] = "FRAME";

/* Names of C without their depth. */
static const struct {
    const char *name, *siting;
    int across, down;
    bool gray, deep; /* deep: "p10" and others may follow; of mono "10" */
} codings[] = {
    {"420jpeg", "jpeg", 1, 1, .deep = false},
    {"420mpeg2", "mpeg2", 1, 1, .deep = false},
    {"420paldv", "paldv", 1, 1, .deep = false},
    {"420", "", 1, 1, .deep = true},
    {"422", "", 1, 0, .deep = true},
    {"444", "", 0, 0, .deep = true},
    {"411", "", 2, 0, .deep = false},
    {"mono", "", 0, 0, .gray = true, .deep = true},
};
enum { CODINGS = sizeof codings / sizeof codings[0] };

typedef struct y4m {
    smp_ycbcr colours;
    int64_t width, height, chroma_rows;
    int down;
    size_t luma_row, chroma_row; /* bytes */
    uint64_t picture;            /* bytes of the planes */
    uint8_t *planes;
    int32_t *sums; /* writer: of the rows that share chroma */
    bool begun;    /* reader: the planes are this picture's */
} y4m;

static bool sniff(const uint8_t *head, size_t size)
{
    return size > sizeof magic && memcmp(head, magic, sizeof magic - 1) == 0 && head[sizeof magic - 1] == ' ';
}

/* Sizes of planes; checked. */
static smp_code set_sizes(y4m *state, const smp_video *video, const smp_shape *shape, smp_error *err)
{
    const int64_t bytes = video->bits > 8 ? 2 : 1;
    const int64_t chroma = video->gray ? 0 : (shape->width + (1 << video->across) - 1) >> video->across;
    int64_t luma, both;
    state->width = shape->width;
    state->height = shape->height;
    state->down = video->down;
    state->chroma_rows = (shape->height + (1 << video->down) - 1) >> video->down;
    if (!smp_mul_i64(shape->width * bytes, shape->height, &luma) ||
        !smp_mul_i64(2 * chroma * bytes, state->chroma_rows, &both) || !smp_add_i64(luma, both, &both))
        return smp_fail(err, SMP_E_LIMIT, "the picture's size is past what can be counted");
    state->luma_row = (size_t)(shape->width * bytes);
    state->chroma_row = (size_t)(chroma * bytes);
    state->picture = (uint64_t)both;
    return SMP_OK;
}

static smp_code take_memory(y4m *state, const smp_video *video, smp_error *err)
{
    state->planes = smp_alloc_raw((size_t)state->picture);
    smp_ycbcr_open(&state->colours, video, state->width, state->height);
    return state->planes ? SMP_OK : smp_fail_memory(err, "a picture of a video", state->picture);
}

/* The row y of plane 0 to 2. */
static uint8_t *row_of(const y4m *state, int plane, int64_t y)
{
    const size_t luma = state->luma_row * (size_t)state->height;
    const size_t chroma = state->chroma_row * (size_t)state->chroma_rows;
    return plane ? state->planes + luma + (plane == 2 ? chroma : 0) + (size_t)(y >> state->down) * state->chroma_row
                 : state->planes + (size_t)y * state->luma_row;
}

static void free_state(y4m *state)
{
    smp_free_all(state->planes, state->sums, state);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* "25:1"; false where it is none. 0:0 is unknown. */
static bool parse_ratio(const char *text, uint32_t *to)
{
    char *end, *last;
    const unsigned long long a = strtoull(text, &end, 10), b = *end == ':' ? strtoull(end + 1, &last, 10) : 0;
    if (*end != ':' || *last || a > UINT32_MAX || b > UINT32_MAX)
        return false;
    to[0] = b ? (uint32_t)a : 0;
    to[1] = (uint32_t)b;
    return true;
}

static bool parse_size(const char *text, int64_t *to)
{
    char *end;
    *to = strtoll(text, &end, 10);
    return !*end && *to > 0 && *to <= INT32_MAX;
}

static smp_code parse_coding(const char *text, smp_video *video, smp_error *err)
{
    for (int i = 0; i < CODINGS; i++) {
        const size_t length = strlen(codings[i].name);
        if (strncmp(text, codings[i].name, length) != 0)
            continue;
        const char *depth = text + length + (codings[i].deep && !codings[i].gray && text[length] == 'p');
        char *end = NULL;
        const long bits = *depth && codings[i].deep ? strtol(depth, &end, 10) : 8;
        if ((text[length] && (!end || *end)) || bits < 8 || bits > 16)
            break;
        video->across = codings[i].across;
        video->down = codings[i].down;
        video->gray = codings[i].gray;
        video->bits = (int)bits;
        snprintf(video->siting, sizeof video->siting, "%s", codings[i].siting);
        return SMP_OK;
    }
    smp_fail(err, SMP_E_DECODE, "the video's colours are coded as '%.40s', which is not supported", text);
    return smp_hint(err, "420, 422, 444, 411 and mono are, of 8 bits or, as in 420p10, up to 16: "
                         "ffmpeg -i IN -pix_fmt yuv420p OUT.y4m");
}

static smp_code take_parameter(char *word, smp_media *media, smp_error *err)
{
    smp_coding *coding = &media->meta.coding;
    bool good = true;
    switch (word[0]) {
    case 'W':
        good = parse_size(word + 1, &media->shape.width);
        break;
    case 'H':
        good = parse_size(word + 1, &media->shape.height);
        break;
    case 'F':
        good = parse_ratio(word + 1, coding->rate);
        break;
    case 'A':
        good = parse_ratio(word + 1, coding->video.aspect);
        break;
    case 'I':
        good = word[1] && !word[2];
        coding->video.fields = word[1] == '?' ? 0 : word[1];
        break;
    case 'C':
        return parse_coding(word + 1, &coding->video, err);
    default:
        break;
    }
    return good ? SMP_OK
                : smp_fail(err, SMP_E_DECODE, "the video's header is damaged: '%.40s' is not a valid parameter", word);
}

/* Reads a line of at most MOST_LINE bytes; without its end. */
static smp_code read_line(smp_source *source, char *line, smp_error *err)
{
    const uint8_t *at;
    const size_t size = smp_source_peek(source, &at, MOST_LINE);
    const uint8_t *end = size ? memchr(at, '\n', size) : NULL;
    if (!end && size == MOST_LINE)
        return smp_fail(err, SMP_E_DECODE, "the video is damaged: a line of parameters does not end");
    if (!end) {
        smp_source_skip(source, size);
        return smp_source_ended(source, err);
    }
    const size_t length = (size_t)(end - at);
    memcpy(line, at, length);
    line[length] = '\0';
    smp_source_skip(source, length + 1);
    return SMP_OK;
}

static smp_code read_header(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_video *video = &media->meta.coding.video;
    char line[MOST_LINE], *rest = NULL;
    int range = 0; /* 1: full, -1: limited */
    media->meta.coding =
        (smp_coding){.kind = SMP_CODING_VIDEO, .video = {.bits = 8, .across = 1, .down = 1, .siting = "jpeg"}};
    smp_code code = read_line(&reader->source, line, err);
    for (char *word = code ? NULL : strtok_r(line + sizeof magic, " ", &rest); word && !code;
         word = strtok_r(NULL, " ", &rest)) {
        code = take_parameter(word, media, err);
        range = !strcmp(word, "XCOLORRANGE=FULL") ? 1 : !strcmp(word, "XCOLORRANGE=LIMITED") ? -1 : range;
    }
    video->full = range > 0 || (video->gray && !range);
    if (!code && (media->shape.width < 1 || media->shape.height < 1))
        code = smp_fail(err, SMP_E_DECODE, "the video's header is damaged: its width or height is missing");
    return code;
}

/* Reads the line in front of a picture. */
static smp_code begin_picture(smp_source *source, smp_error *err)
{
    char line[MOST_LINE];
    const uint64_t at = source->position;
    SMP_TRY(read_line(source, line, err));
    const size_t length = sizeof frame_magic - 1;
    if ((strncmp(line, frame_magic, length) != 0 || (line[length] && line[length] != ' ')))
        SMP_TRY(smp_fail(err, SMP_E_DECODE, "the video is damaged: no picture begins at byte %llu",
                         (unsigned long long)at));
    return SMP_OK;
}

static smp_code fail_part(const y4m *state, uint64_t got, const smp_source *source, smp_error *err)
{
    if (source->failed || source->over_limit)
        return smp_source_ended(source, err);
    smp_fail(err, SMP_E_DECODE, "expected a picture of %llu bytes, got %llu: the video is truncated",
             (unsigned long long)state->picture, (unsigned long long)got);
    return smp_hint(err, "the pictures in front of it are whole");
}

static smp_code pass_over(smp_reader *reader, const y4m *state, smp_error *err)
{
    smp_source *source = &reader->source;
    smp_code code = SMP_OK;
    const uint8_t *at;
    for (int64_t i = 1; i < reader->options.page && !code; i++) {
        code = begin_picture(source, err);
        const uint64_t got = code ? 0 : smp_source_skip(source, state->picture);
        if (!code && got < state->picture)
            code = fail_part(state, got, source, err);
        if (!code && !smp_source_peek(source, &at, 1))
            code = smp_fail(err, SMP_E_DECODE, "there is no page %lld: the video has %lld pictures",
                            (long long)reader->options.page, (long long)i);
    }
    return code;
}

static void describe(smp_media *media)
{
    const smp_video *video = &media->meta.coding.video;
    const uint32_t *rate = media->meta.coding.rate;
    static const char *const names[3][2] = {{"4:4:4", "4:4:0"}, {"4:2:2", "4:2:0"}, {"4:1:1", "4:1:0"}};
    size_t size = sizeof media->detail, used;
    used = (size_t)snprintf(media->detail, size, "%s, %d bits, %s range",
                            video->gray ? "luma alone" : names[video->across][video->down], video->bits,
                            video->full ? "full" : "limited");
    if (rate[1])
        used +=
            (size_t)snprintf(media->detail + used, size - used, ", %.6g pictures a second", (double)rate[0] / rate[1]);
    if (video->fields && video->fields != 'p')
        snprintf(media->detail + used, size - used, ", interlaced");
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    const smp_video *video = &media->meta.coding.video;
    smp_source *source = &reader->source;
    y4m *state = reader->state;
    SMP_TRY(read_header(reader, err));
    media->shape.channels = video->gray ? 1 : 3;
    media->shape.format = video->bits > 8 ? SMP_U16 : SMP_U8;
    media->bits = video->bits;
    describe(media);
    SMP_TRY(set_sizes(state, video, &media->shape, err));
    SMP_TRY(smp_check_picture(&reader->options.limits, media->shape.width, media->shape.height, state->picture, err));
    SMP_TRY(smp_check_size(source, source->position + FRAME + state->picture, err));
    if (source->size != UINT64_MAX)
        media->pages = (int64_t)((source->size - source->position) / (FRAME + state->picture));
    if (media->pages > 1 && !reader->options.frames && !reader->options.page)
        smp_note(
            &reader->notes,
            "the video has %lld pictures, of which the first is read; --frames of run and convert reads all, --page "
            "another",
            (long long)media->pages);
    if (video->fields && video->fields != 'p')
        smp_note(&reader->notes, "the video is interlaced: each picture is taken as it is, both fields as one");
    SMP_TRY(pass_over(reader, state, err));
    return take_memory(state, video, err);
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    y4m *state = reader->state;
    smp_source *source = &reader->source;
    if (!state->begun) {
        SMP_TRY(begin_picture(source, err));
        const size_t got = smp_source_read(source, state->planes, (size_t)state->picture);
        if (got < state->picture)
            return fail_part(state, got, source, err);
        state->begun = true;
    }
    smp_ycbcr_decode(&state->colours, row_of(state, 0, y), row_of(state, 1, y), row_of(state, 2, y), to);
    return SMP_OK;
}

static smp_code read_next(smp_reader *reader, bool *more, smp_error *err)
{
    smp_source *source = &reader->source;
    const uint8_t *at;
    ((y4m *)reader->state)->begun = false;
    *more = smp_source_peek(source, &at, 1) > 0;
    return source->failed || source->over_limit ? smp_source_ended(source, err) : SMP_OK;
}

static void read_close(smp_reader *reader)
{
    free_state(reader->state);
}

/* ------------------------------------------------------------------------------------------------ writing */

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    SMP_TRY(smp_check_colour("y4m", shape, err));
    shape->channels -= shape->alpha ? 1 : 0;
    shape->alpha = false;
    if (shape->format == SMP_F32)
        shape->format = SMP_U16;
    return SMP_OK;
}

/* Chooses the coding of the pictures: the input's, if it was a video and its kind of sample is still there; else with
 * full colour. */
static smp_video coding_of(const smp_writer *writer)
{
    const smp_shape *shape = &writer->shape;
    const bool known = writer->coding.kind == SMP_CODING_VIDEO;
    smp_video video = *smp_coding_video(&writer->coding);
    if (!known || video.gray != (shape->channels == 1)) {
        video.across = video.down = 0;
        video.siting[0] = '\0';
        video.full = shape->channels == 1;
    }
    video.gray = shape->channels == 1;
    video.bits = shape->format == SMP_U8 ? 8 : video.bits > 8 ? video.bits : 16;
    return video;
}

static size_t put_header(char *text, size_t size, const smp_writer *writer, const smp_video *video)
{
    static const char *const names[3][2] = {{"444", "444"}, {"422", "420"}, {"411", "411"}};
    const smp_shape *shape = &writer->shape;
    const uint32_t *rate = writer->coding.rate;
    int used =
        snprintf(text, size, "%s W%lld H%lld F%u:%u I%c", magic, (long long)shape->width, (long long)shape->height,
                 rate[1] ? rate[0] : 25, rate[1] ? rate[1] : 1, video->fields ? video->fields : 'p');
    used += snprintf(text + used, size - (size_t)used, " A%u:%u C%s%s", video->aspect[0], video->aspect[1],
                     video->gray ? "mono" : names[video->across][video->down],
                     video->bits == 8 && video->down ? video->siting : "");
    if (video->bits > 8)
        used += snprintf(text + used, size - (size_t)used, "%s%d", video->gray ? "" : "p", video->bits);
    if (video->full != video->gray)
        used += snprintf(text + used, size - (size_t)used, " XCOLORRANGE=%s", video->full ? "FULL" : "LIMITED");
    used += snprintf(text + used, size - (size_t)used, "\n");
    return (size_t)used;
}

static smp_code write_open(smp_writer *writer, const smp_meta *, smp_error *err)
{
    char text[256];
    const smp_video video = coding_of(writer);
    y4m *state = writer->state;
    if (writer->coding.uneven)
        smp_note(&writer->notes, "pictures have different delays, which a Y4M does not know");
    SMP_TRY(set_sizes(state, &video, &writer->shape, err));
    SMP_TRY(take_memory(state, &video, err));
    const size_t sums = (size_t)state->colours.chroma * 3;
    if (sums && !(state->sums = smp_alloc_array(sums, sizeof *state->sums)))
        return smp_fail_memory(err, "a row of a video", sums);
    return smp_output_write(writer->output, text, put_header(text, sizeof text, writer, &video), err);
}

static void encode_row(const y4m *state, const void *from, int64_t y)
{
    const smp_ycbcr *colours = &state->colours;
    smp_ycbcr_encode_luma(colours, from, row_of(state, 0, y));
    if (!colours->chroma)
        return;
    smp_ycbcr_add(colours, from, state->sums);
    const bool alone = y + 1 == state->height && state->down && !(y & 1); /* stands for the row beyond it too */
    if (alone)
        smp_ycbcr_add(colours, from, state->sums);
    if (!state->down || (y & 1) || alone) {
        smp_ycbcr_encode_chroma(colours, state->sums, state->down, row_of(state, 1, y), row_of(state, 2, y));
        memset(state->sums, 0, (size_t)colours->chroma * 3 * sizeof *state->sums);
    }
}

static smp_code write_row(smp_writer *writer, int64_t y, const void *from, smp_error *err)
{
    const y4m *state = writer->state;
    encode_row(state, from, y);
    if (y + 1 < state->height)
        return SMP_OK;
    SMP_TRY(smp_output_write(writer->output, "FRAME\n", FRAME, err));
    return smp_output_write(writer->output, state->planes, (size_t)state->picture, err);
}

static smp_code write_next(smp_writer *writer, const smp_meta *, smp_error *err)
{
    return smp_output_flush(writer->output, err);
}

static void write_close(smp_writer *writer)
{
    free_state(writer->state);
}

const smp_file_format smp_format_y4m = {
    .name = "Y4M",
    .extensions = (const char *const[]){"y4m", NULL},
    .kind = SMP_IMAGE,
    .pages = true,
    .bare = true,
    .sniff = sniff,
    .read_state = sizeof(y4m),
    SMP_READS(row),
    .read_next = read_next,
    .read_close = read_close,
    SMP_WRITES(row),
    .write_state = sizeof(y4m),
    .write_next = write_next,
    .write_close = write_close,
};
