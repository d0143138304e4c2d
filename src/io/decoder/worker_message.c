/* Messages between the program and the process that decodes: see worker_message.h. */
#include "io/decoder/worker_message.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/each.h"
#include "io/format.h"

/* ------------------------------------------------------------------------------------------------ bytes */

static void pass(smp_wire *w, void *data, size_t size)
{
    if (w->failed)
        return;
    if (!w->reading) {
        enum { USUAL = 4096 }; /* of metadata: one allocation */
        w->failed = !smp_grow(&w->data, &w->capacity, w->size + size > USUAL ? w->size + size : USUAL, 1);
        if (!w->failed && size)
            memcpy(w->data + w->size, data, size);
        w->size += size;
    } else if (size > w->size - w->at) {
        w->failed = true;
    } else {
        memcpy(data, w->data + w->at, size);
        w->at += size;
    }
}

static void pass_bool(smp_wire *w, void *value, size_t)
{
    bool *to = value;
    unsigned char byte = *to;
    pass(w, &byte, 1);
    *to = byte != 0;
}

static void pass_double(smp_wire *w, void *value, size_t size)
{
    const double *number = value;
    pass(w, value, size);
    if (!isfinite(*number))
        w->failed = true;
}

/* An array that holds a text. */
static void pass_chars(smp_wire *w, void *text, size_t size)
{
    pass(w, text, size);
    ((char *)text)[size - 1] = '\0';
}

static void pass_blob(smp_wire *w, void *value, size_t)
{
    smp_blob *blob = value;
    uint64_t size = blob->size;
    pass(w, &size, sizeof size);
    if (!w->reading) {
        pass(w, blob->data, blob->size);
        return;
    }
    if (w->failed || size > w->size - w->at)
        w->failed = true;
    else
        w->failed = w->lacks = !smp_blob_set(blob, w->data + w->at, (size_t)size);
    w->at += w->failed ? 0 : (size_t)size;
}

/* Variables, each by its type; numbers, and arrays of them, are their bytes. */
#define PASS(w, ...)                                                                                                   \
    do {                                                                                                               \
        SMP_EACH(PASS_ONE, w, __VA_ARGS__)                                                                             \
    } while (0)
#define PASS_ONE(w, value)                                                                                             \
    _Generic((value), bool                                                                                             \
             : pass_bool, double                                                                                       \
             : pass_double, smp_blob                                                                                   \
             : pass_blob, char *                                                                                       \
             : pass_chars, default                                                                                     \
             : pass)(w, &(value), sizeof(value));

static void pass_texts(smp_wire *w, smp_meta *meta)
{
    uint64_t count = meta->text_count;
    PASS(w, count);
    for (uint64_t i = 0; i < count && !w->failed; i++) {
        smp_blob key = {0}, value = {0};
        if (!w->reading) {
            const struct smp_text *text = &meta->texts[i];
            key = (smp_blob){(unsigned char *)text->key, strlen(text->key) + 1};
            value = (smp_blob){(unsigned char *)text->value, strlen(text->value) + 1};
        }
        char language[4] = "";
        if (!w->reading)
            memcpy(language, meta->texts[i].language, sizeof language);
        PASS(w, key, value, language);
        if (!w->reading)
            continue;
        if (!w->failed && (!key.size || !value.size || key.data[key.size - 1]))
            w->failed = true;
        if (!w->failed)
            w->failed = !smp_meta_add_text(meta, (const char *)key.data, (const char *)value.data, value.size - 1);
        if (!w->failed)
            memcpy(meta->texts[i].language, language, sizeof language);
        smp_free_all(key.data, value.data);
    }
}

static void pass_attached(smp_wire *w, smp_meta *meta)
{
    uint64_t count = meta->attached_count;
    PASS(w, count);
    for (uint64_t i = 0; i < count && !w->failed; i++) {
        smp_attached one = {.kind = 0};
        smp_blob description = {0};
        if (!w->reading) {
            one = meta->attached[i];
            description.data = (unsigned char *)one.description;
            description.size = one.description ? strlen(one.description) + 1 : 0;
        }
        PASS(w, one.frame, one.type, one.kind, description, one.data);
        if (!w->reading)
            continue;
        w->failed |= description.size && description.data[description.size - 1];
        one.description = (char *)description.data;
        if (!w->failed)
            w->failed = !smp_meta_attach(meta, &one);
        smp_free_all(description.data, one.data.data);
    }
}

/* ------------------------------------------------------------------------------------------------ structures */

static void pass_notes(smp_wire *w, smp_notes *notes)
{
    PASS(w, notes->count, notes->more);
    if (w->reading && (notes->count < 0 || notes->count > SMP_MOST_NOTES || notes->more < 0)) {
        w->failed = true;
        notes->count = notes->more = 0;
    }
    for (int i = 0; i < notes->count; i++)
        PASS(w, notes->items[i]);
}

static void pass_jpeg(smp_wire *w, smp_jpeg_coding *coding)
{
    PASS(w, coding->components, coding->steps, coding->across, coding->down, coding->inks, coding->progressive,
         coding->codes, coding->dc_bits, coding->ac_bits);
    bool good = (coding->components == 0 || coding->components == 1 || coding->components == 3) && coding->inks <= 1 &&
                coding->progressive <= 1 && coding->codes <= 1;
    for (int i = 0; i < 2; i++) { /* lengths that codes of a JPEG cannot have would be shifts beyond a word */
        for (int k = 0; k < SMP_JPEG_DC_CODES; k++)
            good = good && coding->dc_bits[i][k] <= 16;
        for (int k = 0; k < 256; k++)
            good = good && coding->ac_bits[i][k] <= 16;
    }
    for (int i = 0; good && i < coding->components; i++)
        for (int k = 0; k < 64; k++)
            good = good && coding->steps[i][k]; /* a step of 0 would divide by it */
    w->failed |= w->reading && !good;
}

static void pass_video(smp_wire *w, smp_video *video)
{
    PASS(w, video->aspect, video->bits, video->across, video->down, video->gray, video->full, video->fields,
         video->siting);
    const bool good = video->bits >= 8 && video->bits <= 16 && video->across >= 0 && video->across <= 2 &&
                      video->down >= 0 && video->down <= 1;
    w->failed |= w->reading && !good;
}

static void pass_coding(smp_wire *w, smp_coding *coding)
{
    int kind = (int)coding->kind;
    PASS(w, kind);
    if (w->reading)
        *coding = (smp_coding){.kind = (smp_coding_kind)kind};
    PASS(w, coding->rate, coding->plays, coding->uneven);
    switch (kind) {
    case SMP_CODING_UNKNOWN:
        break;
    case SMP_CODING_SOUND:
        PASS(w, coding->sound.type, coding->sound.mask, coding->sound.rf64, coding->sound.alac);
        break;
    case SMP_CODING_JPEG:
        pass_jpeg(w, &coding->jpeg);
        break;
    case SMP_CODING_PNG:
        PASS(w, coding->png.bits, coding->png.palette);
        break;
    case SMP_CODING_WEBP:
        PASS(w, coding->webp.lossless);
        break;
    case SMP_CODING_RAW:
        PASS(w, coding->raw.big);
        break;
    case SMP_CODING_VIDEO:
        pass_video(w, &coding->video);
        break;
    default:
        coding->kind = SMP_CODING_UNKNOWN;
        w->failed = true;
    }
}

static void pass_meta(smp_wire *w, smp_meta *meta)
{
    PASS(w, meta->icc, meta->icc_name, meta->exif, meta->iptc, meta->gamma, meta->srgb_intent, meta->has_chrm);
    for (size_t i = 0; i < sizeof meta->chrm / sizeof meta->chrm[0]; i++)
        pass_double(w, &meta->chrm[i], sizeof meta->chrm[i]);
    PASS(w, meta->x_density, meta->y_density, meta->density_is_aspect, meta->has_cicp, meta->has_mdcv, meta->has_clli,
         meta->cicp, meta->mdcv, meta->clli);
    pass_coding(w, &meta->coding);
    pass_texts(w, meta);
    pass_attached(w, meta);
}

static bool is_shape(const smp_shape *shape)
{
    int64_t row, whole;
    return (shape->kind == SMP_IMAGE || shape->kind == SMP_AUDIO) && shape->width >= 1 && shape->height >= 1 &&
           shape->channels >= 1 && shape->channels <= SMP_MAX_CHANNELS && shape->channels > (shape->alpha ? 1 : 0) &&
           smp_sample_size((int)shape->format) > 0 && shape->rate >= 0 &&
           ((shape->curve >= 0 && shape->curve <= 100) || shape->curve == SMP_CURVE_OTHER) &&
           smp_mul_i64(shape->width, (int64_t)shape->channels * smp_sample_size((int)shape->format), &row) &&
           smp_mul_i64(row, shape->height, &whole);
}

static void pass_scan(smp_wire *w, smp_scan *scan)
{
    bool given = scan->shape.kind != SMP_KIND_NONE;
    PASS(w, given, scan->shape.width, scan->shape.height, scan->across, scan->down);
    if (!w->reading || !given)
        return;
    scan->shape.kind = SMP_IMAGE;
    scan->shape.channels = 1;
    scan->shape.format = SMP_U8;
    w->failed |= !is_shape(&scan->shape) || scan->across < 1 || scan->across > 2 || scan->down < 1 || scan->down > 2;
}

static void pass_media(smp_wire *w, smp_media *media)
{
    smp_shape *shape = &media->shape;
    int kind = (int)shape->kind, format = (int)shape->format, alpha = shape->alpha ? 1 : 0, file = -1;
    for (size_t i = 0; !w->reading && smp_format_at(i); i++)
        if (smp_format_at(i)->name == media->file_format)
            file = (int)i;
    PASS(w, kind, shape->width, shape->height, shape->speakers, shape->channels, format, alpha, shape->rate,
         shape->curve, file, media->orientation, media->bits, media->pages, media->leftover, media->live,
         media->open_end);
    PASS(w, media->shrinks, media->copies, media->cuts, media->coded);
    pass_scan(w, &media->scan);
    PASS(w, media->detail);
    pass_meta(w, &media->meta);
    if (!w->reading)
        return;
    const smp_file_format *of = file >= 0 ? smp_format_at((size_t)file) : NULL;
    const bool known = format == SMP_U8 || format == SMP_U16 || format == SMP_F32;
    shape->kind = kind == SMP_AUDIO ? SMP_AUDIO : SMP_IMAGE;
    shape->alpha = alpha != 0;
    shape->format = known ? (smp_format)format : SMP_U8;
    media->file_format = of ? of->name : "";
    if (!of || !known || kind != (int)shape->kind || !(kind & (int)of->kind) || !is_shape(shape) ||
        media->orientation < 1 || media->orientation > 8)
        w->failed = true;
}

void smp_answer_wire(smp_wire *wire, smp_error *err, smp_notes *notes, smp_media *media, smp_blob *rows)
{
    if (err)
        PASS(wire, err->message, err->hint);
    pass_notes(wire, notes);
    if (media)
        pass_media(wire, media);
    if (rows)
        pass(wire, rows->data, rows->size);
    if (wire->reading && wire->at != wire->size)
        wire->failed = true;
}

void smp_writing_wire(smp_wire *wire, struct smp_writer *writer, smp_writing *also)
{
    smp_write_options *options = &writer->options;
    PASS(wire, writer->format, writer->extension, writer->shape, options->strip, options->threads, options->values,
         options->sound, options->coded.orientation);
    PASS(wire, writer->coding, writer->delay, writer->clipped);
    pass_notes(wire, &writer->notes);
    PASS(wire, also->seekable, also->tagged);
    if (also->tagged)
        pass_meta(wire, &also->meta);
}

/* ------------------------------------------------------------------------------------------------ sockets */

enum { MOST_DESCRIPTORS = 2 };

typedef union control {
    char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
    struct cmsghdr align;
} control;

static void put_descriptors(struct msghdr *message, control *room, const int *descriptors, int count)
{
    const size_t size = (size_t)count * sizeof *descriptors;
    memset(room, 0, sizeof *room);
    message->msg_control = room->bytes;
    message->msg_controllen = CMSG_SPACE(size);
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(head), descriptors, size);
}

/* Waits until the channel is ready for `events`; false when the patience ends first. */
static bool await(int channel, short events, const smp_patience *patience)
{
    for (double left; (left = patience->seconds(patience->context)) > 0;) {
        struct pollfd wait = {.fd = channel, .events = events};
        const int ready = poll(&wait, 1, left > 3600 ? 3600000 : (int)(left * 1000) + 1);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
    }
    return false;
}

smp_received smp_message_send_within(int channel, const void *head, size_t head_size, const void *rest,
                                     size_t rest_size, const int *descriptors, int count, const smp_patience *patience)
{
    control room;
    struct iovec parts[2] = {{(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)rest, rest_size}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    if (count)
        put_descriptors(&message, &room, descriptors, count);
    while (parts[0].iov_len || parts[1].iov_len) {
        const ssize_t sent = sendmsg(channel, &message, MSG_NOSIGNAL | (patience ? MSG_DONTWAIT : 0));
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN && patience) {
            if (!await(channel, POLLOUT, patience))
                return SMP_RECEIVED_LATE;
            continue;
        }
        if (sent <= 0)
            return SMP_RECEIVED_END;
        message.msg_control = NULL; /* went with the first byte */
        message.msg_controllen = 0;
        size_t left = (size_t)sent;
        for (int i = 0; i < 2; i++) {
            const size_t n = left < parts[i].iov_len ? left : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + n;
            parts[i].iov_len -= n;
            left -= n;
        }
    }
    return SMP_RECEIVED;
}

bool smp_message_send(int channel, const void *head, size_t head_size, const void *rest, size_t rest_size,
                      const int *descriptors, int count)
{
    return smp_message_send_within(channel, head, head_size, rest, rest_size, descriptors, count, NULL) == SMP_RECEIVED;
}

smp_received smp_message_receive(int channel, void *to, size_t size, const smp_patience *patience, int *descriptors)
{
    if (descriptors)
        *descriptors = 0;
    for (size_t done = 0; done < size;) {
        control room;
        struct iovec part = {(char *)to + done, size - done};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        if (descriptors) {
            message.msg_control = room.bytes;
            message.msg_controllen = sizeof room.bytes;
        }
        if (patience && !await(channel, POLLIN, patience))
            return SMP_RECEIVED_LATE;
        const ssize_t got = recvmsg(channel, &message, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return SMP_RECEIVED_END;
        done += (size_t)got;
        struct cmsghdr *head = descriptors ? CMSG_FIRSTHDR(&message) : NULL;
        if (head && head->cmsg_type == SCM_RIGHTS)
            *descriptors += (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    }
    return SMP_RECEIVED;
}
