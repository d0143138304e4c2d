/* Texts in blocks: see texts.h. */
#include "base/text/texts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum { BLOCK = 1 << 16 }; /* bytes of texts in a block, unless one text is longer */

struct smp_text_block {
    struct smp_text_block *before;
    size_t used, room;
    char data[];
};

char *smp_texts_add(smp_texts *texts, const char *text, size_t length)
{
    struct smp_text_block *block = texts->last;
    size_t size, total;
    if (!smp_add_size(length, 1, &size))
        return NULL;
    if (!block || block->room - block->used < size) {
        const size_t room = size < BLOCK ? BLOCK : size;
        if (!smp_add_size(room, sizeof *block, &total) || !(block = smp_alloc_raw(total)))
            return NULL;
        block->before = texts->last;
        block->used = 0;
        block->room = room;
        texts->last = block;
    }
    char *copy = block->data + block->used;
    memcpy(copy, text, length);
    copy[length] = '\0';
    block->used += size;
    return copy;
}

void smp_texts_free(smp_texts *texts)
{
    for (struct smp_text_block *block = texts->last, *before; block; block = before) {
        before = block->before;
        smp_free(block);
    }
    texts->last = NULL;
}
