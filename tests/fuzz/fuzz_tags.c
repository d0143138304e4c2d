/* libFuzzer entry: tags of sounds without a sound: ID3v2 at the beginning, APEv2 and ID3v1 at the end, MP4's, a Vorbis
 * comment. */
#include "fuzz_media.h"
#include "io/audio/tags.h"
#include "io/av/mp4_tags.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    smp_reader reader = {.media.meta.srgb_intent = -1};
    smp_error err = {0};
    smp_bytes out = {0};
    bool found;
    smp_alloc_limit(UINT64_C(1) << 28);
    smp_source_memory(&reader.source, data, size);
    (void)(smp_tail_tags_take(&reader, &err) || smp_id3_take(&reader, 0, "tail", &err) ||
           smp_id3v1_take(&reader, &err));
    (void)(smp_mp4_take_tags(&reader, &found) && smp_sound_take_comments(&reader, data, size));
    smp_id3_put(&out, &reader.media.meta, -1, NULL);
    smp_sound_put_comments(&out, &reader.media.meta, true);
    smp_free(out.data);
    smp_meta_free(&reader.media.meta);
    smp_source_close(&reader.source);
    if (smp_alloc_live() != 0)
        abort();
    return 0;
}
