/* Changes of a file's tags that were asked for: --tag, --untag, --cover. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/audio/tags.h"
#include "io/format.h"

/* Takes out the texts of a key; null: all. */
static void drop_texts(smp_meta *meta, const char *key)
{
    size_t kept = 0;
    for (size_t i = 0; i < meta->text_count; i++) {
        if (key && strcasecmp(smp_tag_any_key(meta->texts[i].key), key) != 0) {
            meta->texts[kept++] = meta->texts[i];
            continue;
        }
        smp_free_all(meta->texts[i].key, meta->texts[i].value);
    }
    meta->text_count = kept;
}

/* Takes out the pictures of a kind; below 0: all that is attached. */
static void drop_attached(smp_meta *meta, int kind)
{
    size_t kept = 0;
    for (size_t i = 0; i < meta->attached_count; i++) {
        smp_attached *one = &meta->attached[i];
        if (kind >= 0 && (one->frame[0] || one->kind != kind)) {
            meta->attached[kept++] = *one;
            continue;
        }
        smp_free_all(one->description, one->data.data);
    }
    meta->attached_count = kept;
}

bool smp_meta_edit(smp_meta *meta, const smp_meta_change *change)
{
    bool done = true;
    if (change->untag) {
        drop_texts(meta, NULL);
        drop_attached(meta, -1);
    }
    for (size_t i = 0; i < change->tag_count; i++) { /* all first, since a key may have several values */
        char key[SMP_TAG_KEY];
        smp_meta_change_key(change->tags[i], key);
        drop_texts(meta, smp_tag_any_key(key));
    }
    for (size_t i = 0; done && i < change->tag_count; i++) {
        char key[SMP_TAG_KEY];
        const char *value = smp_meta_change_key(change->tags[i], key);
        done = !value[0] || smp_meta_add_text(meta, smp_tag_any_key(key), value, strlen(value));
    }
    if (done && change->cover.size) {
        smp_attached cover = {.kind = SMP_FRONT_COVER, .data = change->cover};
        snprintf(cover.type, sizeof cover.type, "%s", smp_picture_type(change->cover.data, change->cover.size));
        drop_attached(meta, SMP_FRONT_COVER);
        done = smp_meta_attach(meta, &cover);
    }
    return done;
}

const char *smp_meta_change_key(const char *pair, char key[SMP_TAG_KEY])
{
    const size_t length = strcspn(pair, "=");
    snprintf(key, SMP_TAG_KEY, "%.*s", (int)length, pair);
    return pair + length + (pair[length] == '=');
}
