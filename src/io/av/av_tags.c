/* Tags, covers and chapters of files that FFmpeg reads: see mp4_tags.h. */
#include "io/av/mp4_tags.h"

#ifdef SMP_HAVE_AV

#include <string.h>
#include <strings.h>

#include "io/audio/chapters.h"
#include "io/audio/tags.h"

static const smp_av *const av = &smp_av_functions;

static bool take_cover(smp_reader *reader, const AVStream *stream)
{
    const AVPacket *packet = &stream->attached_pic;
    if (packet->size <= 0)
        return true;
    smp_attached one = {.kind = SMP_FRONT_COVER, .data = {packet->data, (size_t)packet->size}};
    snprintf(one.type, sizeof one.type, "%s", smp_picture_type(packet->data, (size_t)packet->size));
    return smp_tag_attach(reader, &one);
}

/* The key of a text by FFmpeg's name for it; null: it is about the file, and not about the sound. */
static const char *key_of(const char *name)
{
    static const char *const others[] = {"encoder",       "major_brand",      "minor_version", "compatible_brands",
                                         "creation_time", "duration",         "handler_name",  "vendor_id",
                                         "iTunSMPB",      "gapless_playback", "media_type"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strcasecmp(name, others[i]))
            return NULL;
    const char *key = smp_tag_key(SMP_TAG(caf), name);
    return key != name ? key : smp_tag_any_key(name);
}

/* Tags of formats that are read here, since FFmpeg gives one value of several. */
static smp_code take_own_tags(smp_reader *reader, const char *kind, bool *found, smp_error *err)
{
    static const char *const tailed[] = {"wv", "ape", "tta", "aac", "ac3"};
    const smp_meta *meta = &reader->media.meta;
    const uint64_t position = reader->source.position;
    smp_code code = SMP_OK;
    *found = false;
    if (!strcmp(kind, "ogg"))
        code = smp_sound_take_ogg(reader, 0, reader->source.size, err);
    else if (!strncmp(kind, "mov,", 4) && !smp_mp4_take_tags(reader, found))
        code = smp_fail_memory(err, "a tag", SMP_MOST_TAG_BYTES);
    for (size_t i = 0; !code && i < sizeof tailed / sizeof tailed[0]; i++)
        if (!strcmp(kind, tailed[i]) && !(code = smp_tail_tags_take(reader, err)))
            code = smp_id3v1_take(reader, err);
    *found = *found || meta->text_count || meta->attached_count;
    return code || smp_source_seek(&reader->source, position) ? code : smp_source_ended(&reader->source, err);
}

static bool take_chapters(smp_reader *reader, const AVFormatContext *file)
{
    smp_chapters list = {0};
    bool memory = true;
    for (unsigned i = 0; memory && i < file->nb_chapters; i++) {
        const AVChapter *one = file->chapters[i];
        const AVDictionaryEntry *title = av->av_dict_get(one->metadata, "title", NULL, 0);
        const double start = (double)one->start * one->time_base.num / one->time_base.den;
        if (start >= 0)
            memory = smp_chapters_add(&list, start, title ? title->value : NULL, title ? strlen(title->value) : 0);
    }
    memory = memory && smp_chapters_take(reader, &list);
    smp_chapters_free(&list);
    return memory;
}

/* Of another stream than the sound. */
static void note_other(smp_names *more, enum AVMediaType type)
{
    if (type == AVMEDIA_TYPE_AUDIO)
        smp_names_add(more, "other sounds (to choose one: ffmpeg -i IN -map 0:a:1 -f wav - | smempipe ... -)");
    else if (type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_SUBTITLE)
        smp_names_add(more, type == AVMEDIA_TYPE_VIDEO ? "video" : "subtitles");
}

smp_code smp_av_take_tags(smp_reader *reader, const AVFormatContext *file, int sound, const char *kind, smp_error *err)
{
    bool ok = true, found;
    smp_names more = {.count = 0};
    SMP_TRY(take_own_tags(reader, kind, &found, err));
    ok = !strcmp(kind, "ogg") || take_chapters(reader, file); /* which has them as texts */
    for (const AVDictionaryEntry *entry = NULL;
         ok && !found && (entry = av->av_dict_get(file->metadata, "", entry, AV_DICT_IGNORE_SUFFIX));) {
        const char *key = key_of(entry->key);
        ok = !key || smp_tag_add(reader, key, entry->value, strlen(entry->value), NULL);
    }
    for (unsigned i = 0; i < file->nb_streams; i++) {
        const AVStream *stream = file->streams[i];
        if (stream->disposition & AV_DISPOSITION_ATTACHED_PIC)
            ok = ok && (found || take_cover(reader, stream));
        else if ((int)i != sound)
            note_other(&more, stream->codecpar->codec_type);
    }
    if (more.count)
        smp_note(&reader->notes, "it has %s; " SMP_SOUND_ALONE, smp_names_end(&more));
    return ok ? SMP_OK : smp_fail_memory(err, "a tag", SMP_MOST_TAG_BYTES);
}

#endif
