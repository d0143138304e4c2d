/* Huffman codes of a JPEG that has tables of its own (jpegtran -optimize, Photoshop, some phones): kept from the input,
 * so that a JPEG made of it does not grow by what the usual tables cost. Tables made for a picture may lack symbols
 * that another needs, and may suit a part of it badly; counting its symbols would take a pass over a whole picture. So
 * new codes are made of the mean of the frequencies that the input's and the usual codes stand for. */
#include <string.h>

#include "io/jpeg/jpeg_glue.h"

enum {
    LONGEST = 16,       /* bits of a code */
    SYMBOLS = 256,      /* and one more that takes the code of ones alone, which JPEG does not use */
    MOST_BITS = 4 * 16, /* of a code before it is shortened; more than sums of 32 bits can make */
};

/* Lengths of a table's codes by symbol; 0: it has none. */
static void lengths_of(const JHUFF_TBL *table, int symbols, uint8_t *lengths)
{
    memset(lengths, 0, (size_t)symbols);
    for (int length = 1, at = 0; length <= LONGEST; length++)
        for (int i = 0; i < table->bits[length] && at < SYMBOLS; i++, at++)
            if (table->huffval[at] < symbols)
                lengths[table->huffval[at]] = (uint8_t)length;
}

void smp_jpeg_keep_codes(const struct jpeg_decompress_struct *jpeg, smp_jpeg_coding *coding)
{
    if (!coding->components || jpeg->progressive_mode || jpeg->arith_code ||
        jpeg->comps_in_scan != jpeg->num_components)
        return;
    for (int chroma = 0; chroma < (coding->components > 1 ? 2 : 1); chroma++) {
        const jpeg_component_info *component = &jpeg->comp_info[chroma];
        const int dc_number = component->dc_tbl_no, ac_number = component->ac_tbl_no;
        const JHUFF_TBL *dc = dc_number >= 0 && dc_number < NUM_HUFF_TBLS ? jpeg->dc_huff_tbl_ptrs[dc_number] : NULL;
        const JHUFF_TBL *ac = ac_number >= 0 && ac_number < NUM_HUFF_TBLS ? jpeg->ac_huff_tbl_ptrs[ac_number] : NULL;
        if (!dc || !ac)
            return;
        lengths_of(dc, SMP_JPEG_DC_CODES, coding->dc_bits[chroma]);
        lengths_of(ac, SYMBOLS, coding->ac_bits[chroma]);
    }
    coding->codes = 1;
}

/* Lengths of an optimal prefix code (Huffman), of at most 16 bits: T.81, figures K.1 to K.3. counts: by length, from 1
 * on. */
static void code_lengths(uint32_t weights[SYMBOLS + 1], int counts[MOST_BITS + 1], int bits[SYMBOLS + 1])
{
    int next[SYMBOLS + 1];
    memset(counts, 0, (MOST_BITS + 1) * sizeof *counts);
    for (int i = 0; i <= SYMBOLS; i++) {
        next[i] = -1;
        bits[i] = 0;
    }
    for (;;) {
        int least = -1, second = -1; /* of equal weights the last symbol */
        for (int i = 0; i <= SYMBOLS; i++)
            if (weights[i] && (least < 0 || weights[i] <= weights[least]))
                least = i;
        for (int i = 0; i <= SYMBOLS; i++)
            if (weights[i] && i != least && (second < 0 || weights[i] <= weights[second]))
                second = i;
        if (second < 0)
            break;
        weights[second] += weights[least];
        weights[least] = 0;
        int last = second;
        for (; next[last] >= 0; last = next[last])
            bits[last]++;
        bits[last]++;
        next[last] = least;
        for (last = least; last >= 0; last = next[last])
            bits[last]++;
    }
    for (int i = 0; i <= SYMBOLS; i++)
        if (bits[i])
            counts[bits[i]]++;
    for (int length = MOST_BITS; length > LONGEST; length--)
        while (counts[length] > 0) { /* two codes of this length become one shorter; another is split for the other */
            int split = length - 2;
            while (!counts[split])
                split--;
            counts[length] -= 2;
            counts[length - 1]++;
            counts[split + 1] += 2;
            counts[split]--;
        }
    int longest = LONGEST;
    while (!counts[longest])
        longest--;
    counts[longest]--; /* the code of ones alone */
}

/* Replaces a usual table by what it and the input's lengths make. */
static void make_table(JHUFF_TBL *table, const uint8_t *own, int symbols)
{
    uint8_t usual[SYMBOLS];
    uint32_t weights[SYMBOLS + 1] = {0};
    int counts[MOST_BITS + 1], bits[SYMBOLS + 1], at = 0;
    lengths_of(table, symbols, usual);
    for (int i = 0; i < symbols; i++)
        if (usual[i])
            weights[i] = (own[i] ? 1u << (LONGEST - own[i]) : 0) + (1u << (LONGEST - usual[i]));
    weights[SYMBOLS] = 1;
    code_lengths(weights, counts, bits);
    for (int length = 1; length <= LONGEST; length++)
        table->bits[length] = (UINT8)counts[length];
    for (int length = 1; length <= MOST_BITS; length++)
        for (int i = 0; i < symbols; i++)
            if (bits[i] == length)
                table->huffval[at++] = (UINT8)i;
    table->sent_table = FALSE;
}

/* Whether the input's codes are the usual ones (T.81, annex K), as libjpeg has them. */
static bool are_usual(const struct jpeg_compress_struct *jpeg, int chroma, const smp_jpeg_coding *coding)
{
    uint8_t dc[SMP_JPEG_DC_CODES], ac[SYMBOLS];
    lengths_of(jpeg->dc_huff_tbl_ptrs[chroma], SMP_JPEG_DC_CODES, dc);
    lengths_of(jpeg->ac_huff_tbl_ptrs[chroma], SYMBOLS, ac);
    return !memcmp(dc, coding->dc_bits[chroma], sizeof dc) && !memcmp(ac, coding->ac_bits[chroma], sizeof ac);
}

void smp_jpeg_put_codes(struct jpeg_compress_struct *jpeg, const smp_jpeg_coding *coding)
{
    const int tables = jpeg->num_components > 1 ? 2 : 1;
    bool usual = true;
    for (int chroma = 0; chroma < tables; chroma++)
        usual = usual && are_usual(jpeg, chroma, coding);
    for (int chroma = 0; chroma < tables && coding->codes && !usual; chroma++) {
        make_table(jpeg->dc_huff_tbl_ptrs[chroma], coding->dc_bits[chroma], SMP_JPEG_DC_CODES);
        make_table(jpeg->ac_huff_tbl_ptrs[chroma], coding->ac_bits[chroma], SYMBOLS);
    }
}
