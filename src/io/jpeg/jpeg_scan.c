/* The entropy-coded scan of a baseline JPEG as rows of bytes, for GPUs, which decode it (kernels/jpeg/jpeg_decode.h
 * says how it is laid out). Files that are not plain are left to libjpeg: several scans, arithmetic coding, other
 * samplings, markers in places where none belongs, data that end early. Source: ITU-T T.81, annexes B, C and F. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/jpeg/jpeg_glue.h"
#include "jpeg/jpeg_decode.h"
#include "media/jpeg_params.h"

enum { EOI = 0xD9, RST_0 = 0xD0, LARGEST = 1 << 28, WIDE_FROM = 1 << 20 /* bytes */ };

typedef struct interval { /* between restart markers: bytes of the data without stuffing */
    size_t start, end;
} interval;

typedef struct scan {
    uint8_t *rows;         /* what is made: head, words, subsequences */
    size_t words_at, size; /* size: bytes of the data without stuffing, so far */
    interval *intervals;
    size_t interval_count, capacity, most; /* most: as many as the header says */
    size_t start;                          /* of the interval */
    uint64_t tail;                         /* in the file's bytes: behind EOI */
} scan;

/* ------------------------------------------------------------------------------------------------ which files */

static bool is_plain(const struct jpeg_decompress_struct *jpeg)
{
    const int components = jpeg->num_components;
    bool plain = !jpeg->progressive_mode && !jpeg->arith_code && jpeg->data_precision == 8 &&
                 jpeg->comps_in_scan == components && jpeg->Ss == 0 && jpeg->Se == DCTSIZE2 - 1 && !jpeg->Ah &&
                 !jpeg->Al &&
                 ((components == 1 && jpeg->jpeg_color_space == JCS_GRAYSCALE) ||
                  (components == 3 && jpeg->jpeg_color_space == JCS_YCbCr));
    for (int i = 0; plain && i < components; i++) {
        const jpeg_component_info *c = &jpeg->comp_info[i];
        const int most = components == 3 && i == 0 ? 2 : 1;
        plain = jpeg->cur_comp_info[i] == c && c->h_samp_factor <= most && c->v_samp_factor <= most &&
                c->dc_tbl_no < 2 && c->ac_tbl_no < 2 && c->quant_tbl_no >= 0 && c->quant_tbl_no < NUM_QUANT_TBLS &&
                jpeg->quant_tbl_ptrs[c->quant_tbl_no] && jpeg->dc_huff_tbl_ptrs[c->dc_tbl_no] &&
                jpeg->ac_huff_tbl_ptrs[c->ac_tbl_no];
    }
    return plain;
}

/* ------------------------------------------------------------------------------------------------ bits */

static bool add_interval(scan *s, size_t start, size_t end)
{
    if (s->interval_count >= s->most ||
        !smp_grow(&s->intervals, &s->capacity, s->interval_count + 1, sizeof *s->intervals))
        return false;
    s->intervals[s->interval_count++] = (interval){start, end};
    return true;
}

/* Appends bytes of the data to the words, whose first byte is the highest. */
static void put_bytes(scan *s, const uint8_t *from, size_t count)
{
    uint8_t *words = s->rows + s->words_at;
    size_t at = s->size;
    s->size += count;
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
        memcpy(words + at, from, count);
        return;
    }
    for (; count && at % 4; count--)
        words[at++ ^ 3] = *from++;
    for (; count >= 8; count -= 8, at += 8, from += 8) {
        uint64_t two;
        memcpy(&two, from, 8);
        two = __builtin_bswap64(two);
        two = two << 32 | two >> 32;
        memcpy(words + at, &two, 8);
    }
    for (; count; count--)
        words[at++ ^ 3] = *from++;
}

typedef enum found { MORE, DONE, NOT_PLAIN } found;

/* Takes the byte behind FF: a stuffed zero, a restart marker, EOI. */
static found take_marker(scan *s, int marker)
{
    const uint8_t stuffed = 0xFF;
    if (marker == 0) {
        put_bytes(s, &stuffed, 1);
        return MORE;
    }
    if (!add_interval(s, s->start, s->size))
        return NOT_PLAIN;
    s->start = s->size;
    if (marker == EOI)
        return DONE;
    return marker == RST_0 + (int)((s->interval_count - 1) % 8) ? MORE : NOT_PLAIN;
}

/* Copies the data without stuffed zeros and restart markers, up to EOI, a piece after the other: what is read stays in
 * the processor's own cache until it is written. False: it is not plain. */
static bool take_out(scan *s, const smp_source *source, uint64_t at)
{
    enum { PIECE = 64 << 10 };
    uint8_t *piece = smp_alloc_raw(PIECE);
    bool marker = false; /* the last piece ended between FF and what follows */
    found what = piece ? MORE : NOT_PLAIN;
    while (what == MORE) {
        const size_t size = (size_t)smp_min_u64(PIECE, source->size - at);
        if (!size || !smp_source_look(source, at, piece, size))
            break;
        size_t from = 0;
        while (what == MORE && from < size) {
            if (marker) {
                what = take_marker(s, piece[from++]);
                marker = false;
                continue;
            }
            const uint8_t *mark = memchr(piece + from, 0xFF, size - from);
            const size_t plain = mark ? (size_t)(mark - piece) - from : size - from;
            put_bytes(s, piece + from, plain);
            marker = mark != NULL;
            from += plain + marker;
        }
        at += from;
    }
    s->tail = at;
    smp_free(piece);
    return what == DONE;
}

/* ------------------------------------------------------------------------------------------------ tables */

/* False: these are no codes, by libjpeg's rules: none is all ones (T.81, annex C), and a DC difference has at most 15
 * bits, whether the picture has such a code or not. */
static bool make_table(const JHUFF_TBL *from, bool dc, smp_jpeg_table *to)
{
    enum { MOST_DC = 15 };
    uint32_t code = 0, index = 0;
    *to = (smp_jpeg_table){.look = {0}};
    for (uint32_t length = 1; length <= 16; length++) {
        const uint32_t count = from->bits[length], room = 1u << length;
        if (index + count > 256 || code + count >= room)
            return false;
        to->first[length] = (int32_t)index - (int32_t)code;
        for (uint32_t i = 0; i < count; i++, index++, code++) {
            if (dc && from->huffval[index] > MOST_DC)
                return false;
            to->symbols[index] = from->huffval[index];
            if (length > SMP_JPEG_LOOK)
                continue;
            const uint32_t spare = SMP_JPEG_LOOK - length;
            for (uint32_t k = 0; k < 1u << spare; k++)
                to->look[(code << spare) + k] = (uint16_t)(length << 8 | from->huffval[index]);
        }
        to->end[length] = code << (16 - length);
        code *= 2;
    }
    return true;
}

static bool make_head(const struct jpeg_decompress_struct *jpeg, smp_jpeg_scan *head)
{
    uint8_t place[SMP_JPEG_BLOCK];
    *head = (smp_jpeg_scan){.magic = SMP_SCAN_MAGIC};
    smp_jpeg_fill_places(place);
    for (uint8_t i = 0; i < SMP_JPEG_BLOCK; i++)
        head->natural[place[i]] = i;
    for (int i = 0; i < jpeg->num_components; i++) {
        const jpeg_component_info *c = &jpeg->comp_info[i];
        head->chosen |= (uint32_t)(c->dc_tbl_no << i | c->ac_tbl_no << (4 + i));
        memcpy(head->steps[i], jpeg->quant_tbl_ptrs[c->quant_tbl_no]->quantval, sizeof head->steps[i]);
    }
    bool good = true;
    for (int i = 0; i < 2; i++) {
        if (jpeg->dc_huff_tbl_ptrs[i])
            good &= make_table(jpeg->dc_huff_tbl_ptrs[i], true, &head->tables[i]);
        if (jpeg->ac_huff_tbl_ptrs[i])
            good &= make_table(jpeg->ac_huff_tbl_ptrs[i], false, &head->tables[2 + i]);
    }
    return good;
}

/* ------------------------------------------------------------------------------------------------ rows */

static uint32_t subs_of(const interval *part)
{
    const uint64_t bits = (uint64_t)(part->end - part->start) * 8;
    return (uint32_t)smp_max_i64(1, (int64_t)((bits + SMP_JPEG_SUB_BITS - 1) / SMP_JPEG_SUB_BITS));
}

static void put_subs(const scan *s, uint32_t blocks, uint32_t interval_blocks, smp_jpeg_sub *sub)
{
    for (size_t i = 0; i < s->interval_count; i++) {
        const interval *part = &s->intervals[i];
        const uint32_t count = subs_of(part), first = (uint32_t)i * interval_blocks;
        const uint32_t begin = (uint32_t)part->start * 8, end = (uint32_t)part->end * 8;
        for (uint32_t k = 0; k < count; k++)
            *sub++ = (smp_jpeg_sub){
                .start = begin + k * SMP_JPEG_SUB_BITS,
                .end = k + 1 < count ? begin + (k + 1) * SMP_JPEG_SUB_BITS : end,
                .block = first,
                .block_end = blocks - first < interval_blocks ? blocks : first + interval_blocks,
                .place = (k == 0 ? SMP_JPEG_FIRST : 0u) | (k + 1 == count ? SMP_JPEG_LAST : 0u),
            };
    }
}

/* Heights are few, so that plans and memory serve many files: eighths between powers of two. */
static int64_t round_rows(int64_t rows)
{
    int64_t step = 1;
    while (step * 16 <= rows)
        step *= 2;
    return (rows + step - 1) / step * step;
}

static int64_t row_of(size_t bytes)
{
    return bytes >= WIDE_FROM ? SMP_JPEG_ROW : SMP_JPEG_SMALL_ROW;
}

static uint64_t count_mcus(const struct jpeg_decompress_struct *jpeg)
{
    const bool colour = jpeg->num_components == 3;
    const uint32_t across = colour ? 8 * (uint32_t)jpeg->comp_info[0].h_samp_factor : 8;
    const uint32_t down = colour ? 8 * (uint32_t)jpeg->comp_info[0].v_samp_factor : 8;
    return (uint64_t)((jpeg->image_width + across - 1) / across) * ((jpeg->image_height + down - 1) / down);
}

static size_t aligned(size_t offset)
{
    enum { ALIGN = 16 };
    return (offset + ALIGN - 1) / ALIGN * ALIGN;
}

/* Room for rows made of so many bytes of a file, whatever they are: each interval may have one short subsequence. An
 * interval takes two bytes of the file at least; the header bounds them too. */
static size_t most_bytes(const scan *s, size_t size)
{
    enum { SUB_BYTES = SMP_JPEG_SUB_BITS / 8 };
    const size_t intervals = (size_t)smp_min_u64(s->most, size / 2 + 1);
    const size_t bytes = aligned(s->words_at + size + 8) + (size / SUB_BYTES + intervals + 1) * sizeof(smp_jpeg_sub);
    const int64_t width = row_of(bytes);
    const int64_t most = width * round_rows(((int64_t)bytes + width - 1) / width);
    return (size_t)smp_max_i64(most, (int64_t)bytes + SMP_JPEG_ROW);
}

/* Completes what take_out() began. False: the scan is not plain. */
static bool put_rows(const struct jpeg_decompress_struct *jpeg, scan *s, smp_scan *as)
{
    const int across = jpeg->comp_info[0].h_samp_factor, down = jpeg->comp_info[0].v_samp_factor;
    const bool colour = jpeg->num_components == 3;
    as->across = colour ? across : 1;
    as->down = colour ? down : 1;
    const uint32_t mcu_blocks = colour ? (uint32_t)(as->across * as->down) + 2 : 1;
    const uint64_t mcus = count_mcus(jpeg), every = jpeg->restart_interval ? jpeg->restart_interval : mcus;
    if (mcus * mcu_blocks > INT32_MAX || s->interval_count != s->most)
        return false;
    uint64_t subs = 0;
    for (size_t i = 0; i < s->interval_count; i++)
        subs += subs_of(&s->intervals[i]);

    const size_t words = (s->size + 3) / 4, words_end = s->words_at + (words + 1) * 4, subs_at = aligned(words_end);
    const size_t bytes = subs_at + (size_t)subs * sizeof(smp_jpeg_sub);
    if (!words || bytes > LARGEST || subs > bytes / SMP_JPEG_LEAST_BYTES)
        return false;
    const int64_t width = row_of(bytes), height = round_rows(((int64_t)bytes + width - 1) / width);
    smp_jpeg_scan *head = (smp_jpeg_scan *)(void *)s->rows;
    if (!make_head(jpeg, head))
        return false;
    head->subs = (uint32_t)subs;
    head->subs_at = (uint32_t)subs_at;
    head->words = (uint32_t)words;
    head->words_at = (uint32_t)s->words_at;
    memset(s->rows + sizeof *head, 0, s->words_at - sizeof *head);
    const uint8_t none[8] = {0};
    put_bytes(s, none, words_end - s->words_at - s->size);
    memset(s->rows + words_end, 0, subs_at - words_end);
    put_subs(s, (uint32_t)mcus * mcu_blocks, (uint32_t)every * mcu_blocks, (smp_jpeg_sub *)(void *)(s->rows + subs_at));
    memset(s->rows + bytes, 0, (size_t)(width * height) - bytes);
    as->shape = (smp_shape){.kind = SMP_IMAGE, .width = width, .height = height, .channels = 1, .format = SMP_U8};
    return true;
}

void smp_jpeg_read_scan(const struct jpeg_decompress_struct *jpeg, const smp_source *source, uint64_t at,
                        const smp_limits *limits, smp_scan *as, uint8_t **rows, const char **followed)
{
    *rows = NULL;
    *followed = NULL;
    if (!is_plain(jpeg) || source->size == UINT64_MAX || source->size <= at || source->size - at > LARGEST)
        return;
    const size_t size = (size_t)(source->size - at);
    const uint64_t mcus = count_mcus(jpeg), every = jpeg->restart_interval ? jpeg->restart_interval : mcus;
    scan s = {.words_at = aligned(sizeof(smp_jpeg_scan)), .most = (size_t)((mcus + every - 1) / every)};
    smp_error unsaid = {0}; /* libjpeg may get along with less memory */
    if (smp_check_picture(limits, jpeg->image_width, jpeg->image_height, 3 * (uint64_t)size, &unsaid) ||
        !(s.rows = smp_alloc_raw(most_bytes(&s, size))))
        return;
    uint8_t behind[SMP_JPEG_FOLLOWER];
    bool good = take_out(&s, source, at);
    const size_t rest = good ? (size_t)smp_min_u64(source->size - s.tail, sizeof behind) : 0;
    if (rest && smp_source_look(source, s.tail, behind, rest))
        *followed = smp_jpeg_follower(behind, rest);
    good = good && put_rows(jpeg, &s, as);
    if (good)
        *rows = s.rows;
    else
        smp_free(s.rows);
    smp_free(s.intervals);
}
