/* Sounds that are cut short or damaged: what is said, and what there is of them. See sound.h. */
#include "io/audio/sound.h"

smp_code smp_sound_hint_saved(smp_error *err)
{
    return smp_hint(err, "copy or download it again; ffmpeg -i IN OUT.flac saves what can be read");
}

smp_code smp_sound_hint_cut(smp_code code, smp_error *err)
{
    return code == SMP_E_DECODE ? smp_hint_no_verify(err) : code;
}

smp_code smp_sound_take_cut(smp_reader *reader, uint64_t at, uint64_t *size, uint64_t frame, smp_error *err)
{
    const smp_source *source = &reader->source;
    const smp_code code = reader->options.no_verify ? smp_source_spool(&reader->source, err) : SMP_OK;
    if (code || !reader->options.no_verify)
        return code;
    const uint64_t have = source->size > at ? source->size - at : 0;
    if (have >= *size)
        return SMP_OK;
    smp_note(&reader->notes, "its header says %llu bytes of samples, and it has %llu: what there is of it is read",
             (unsigned long long)*size, (unsigned long long)have);
    *size = have - have % frame;
    return SMP_OK;
}

void smp_sound_note_anew(smp_notes *notes, bool within)
{
    smp_note(notes, within ? "the part lies within one coded frame, of which FFmpeg would play more: it is coded anew"
                           : "its coded frames cannot be copied: it is coded anew");
}
