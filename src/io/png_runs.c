/* Huffman codes and runs of zeros: see png_runs.h. */
#include "io/png_runs.h"

#include <stdbool.h>
#include <string.h>

enum {
    LITERALS = 256,
    END = 256,          /* of a block */
    FIRST_LENGTH = 257, /* codes of match lengths 3 .. 258 */
    SYMBOLS = 286,
    MOST_BITS = 14,     /* of a code: four, and 7 bits that wait, fit 64 bits */
    LONGEST_MATCH = 258,
    LEAST_MATCH = 3,
    STEP = 4,           /* bytes between two looks for zeros */
    RUN = 16,           /* zeros that are looked for: a match is shorter than so many codes of a bit each */
    SAMPLE_BYTES = 1 << 10,      /* codes are made for so many .. */
    SAMPLE_EVERY = 8 << 10,      /* .. of so many bytes */
    LENGTH_SYMBOLS = 19,         /* RFC 1951, 3.2.7: codes of code lengths */
    HEAD_BITS = 4,               /* that a symbol takes there, about */
    HEAD_BYTES = 3 * SYMBOLS,    /* more than any head takes */
    MOST_TOKENS = 64 + 16        /* bytes that one turn of the loop may write */
};

#define INLINE static inline __attribute__((always_inline))

typedef struct codes {
    uint32_t entry[SYMBOLS]; /* bits << 8 | how many */
} codes;

static inline uint64_t load8(const uint8_t *from)
{
    uint64_t v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline bool run_begins(const uint8_t *at)
{
    return (load8(at) | load8(at + RUN / 2)) == 0;
}

/* Zeros from at on. */
static inline size_t run_at(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *p = at;
    while (end - p >= 8 && load8(p) == 0)
        p += 8;
    while (p < end && *p == 0)
        p++;
    return (size_t)(p - at);
}

/* The code of a match length, and what follows it: RFC 1951, 3.2.5. */
static void split_length(size_t length, int *symbol, int *extra_bits, unsigned *extra)
{
    unsigned rest = (unsigned)length - LEAST_MATCH;
    *extra_bits = 0;
    *extra = 0;
    if (length == LONGEST_MATCH) {
        *symbol = SYMBOLS - 1;
        return;
    }
    if (rest >= 8) {
        *extra_bits = 29 - __builtin_clz(rest);
        *extra = rest & ((1u << *extra_bits) - 1);
        *symbol = FIRST_LENGTH + 4 * *extra_bits + (int)(rest >> *extra_bits);
        return;
    }
    *symbol = FIRST_LENGTH + (int)rest;
}

/* The next match of a run of `left` zeros. */
static inline size_t match_of(size_t left)
{
    return left < LONGEST_MATCH ? left : LONGEST_MATCH;
}

/* ---------------------------------------------------------------------------------------------- counts */

/* Adds up how often each symbol comes; gives the bits that follow symbols. */
static size_t count_symbols(const uint8_t *from, size_t size, uint32_t *counts)
{
    const uint8_t *at = from, *end = from + size;
    uint32_t by_place[STEP][LITERALS] = {{0}}; /* so that a byte that comes often does not wait for itself */
    size_t extra = 0;
    while (end - at >= RUN) {
        if (run_begins(at)) {
            size_t left = run_at(at, end) - 1;
            at += left + 1;
            counts[0]++;
            for (; left >= LEAST_MATCH; left -= match_of(left)) {
                int symbol, bits;
                unsigned value;
                split_length(match_of(left), &symbol, &bits, &value);
                counts[symbol]++;
                extra += (size_t)bits + 1;
            }
            counts[0] += (uint32_t)left;
            continue;
        }
        for (int i = 0; i < STEP; i++)
            by_place[i][at[i]]++;
        at += STEP;
    }
    for (; at < end; at++)
        counts[*at]++;
    for (int i = 0; i < LITERALS; i++)
        for (int k = 0; k < STEP; k++)
            counts[i] += by_place[k][i];
    return extra;
}

/* ---------------------------------------------------------------------------------------------- Huffman */

/* In place, from counts in rising order to code lengths in falling order. A. Moffat, J. Katajainen, "In-Place Calculation of
 * Minimum-Redundancy Codes", WADS 1995. n: at least 2. */
static void code_lengths(uint32_t *a, int n)
{
    int root = 0, leaf = 2, next;
    a[0] += a[1];
    for (next = 1; next < n - 1; next++) {
        if (leaf >= n || a[root] < a[leaf]) {
            a[next] = a[root];
            a[root++] = (uint32_t)next;
        } else
            a[next] = a[leaf++];
        if (leaf >= n || (root < next && a[root] < a[leaf])) {
            a[next] += a[root];
            a[root++] = (uint32_t)next;
        } else
            a[next] += a[leaf++];
    }
    a[n - 2] = 0;
    for (next = n - 3; next >= 0; next--)
        a[next] = a[a[next]] + 1;
    int free_codes = 1, used = 0;
    uint32_t depth = 0;
    root = n - 2;
    next = n - 1;
    while (free_codes > 0) {
        while (root >= 0 && a[root] == depth) {
            used++;
            root--;
        }
        for (; free_codes > used; free_codes--)
            a[next--] = depth;
        free_codes = 2 * used;
        depth++;
        used = 0;
    }
}

/* Lengths of at most `most` bits for the symbols that occur; 0 for the others. At least two must occur. */
static void limited_lengths(const uint32_t *counts, int symbols, int most, uint8_t *lengths)
{
    uint64_t sorted[SYMBOLS]; /* count, symbol */
    uint32_t work[SYMBOLS] = {0}, with[32] = {0};
    int n = 0;
    for (int i = 0; i < symbols; i++) {
        lengths[i] = 0;
        if (counts[i])
            sorted[n++] = (uint64_t)counts[i] << 16 | (uint64_t)i;
    }
    for (int gap = 132; gap; gap = gap == 4 ? 1 : gap / 3) /* Shell's sort: 132, 44, 14, 4, 1 */
        for (int i = gap; i < n; i++) {
            const uint64_t v = sorted[i];
            int k = i;
            for (; k >= gap && sorted[k - gap] > v; k -= gap)
                sorted[k] = sorted[k - gap];
            sorted[k] = v;
        }
    for (int i = 0; i < n; i++)
        work[i] = (uint32_t)(sorted[i] >> 16);
    code_lengths(work, n);
    for (int i = 0; i < n; i++)
        with[work[i] < (uint32_t)most ? work[i] : (uint32_t)most]++;
    /* Codes that were cut short take room from shorter ones until all fit (Kraft's sum is 1). */
    uint32_t sum = 0;
    for (int i = 1; i <= most; i++)
        sum += with[i] << (most - i);
    for (; sum > 1u << most; sum--) {
        int i = most - 1;
        while (!with[i])
            i--;
        with[most]--;
        with[i]--;
        with[i + 1] += 2;
    }
    for (int bits = 1, i = n; bits <= most; bits++)
        for (uint32_t k = 0; k < with[bits]; k++)
            lengths[sorted[--i] & 0xffff] = (uint8_t)bits;
}

static void make_codes(const uint8_t *lengths, int symbols, uint32_t *entry)
{
    uint32_t next[16] = {0}, with[16] = {0};
    for (int i = 0; i < symbols; i++)
        with[lengths[i]]++;
    with[0] = 0;
    for (int i = 1; i < 16; i++)
        next[i] = (next[i - 1] + with[i - 1]) << 1;
    for (int i = 0; i < symbols; i++) {
        uint32_t code = lengths[i] ? next[lengths[i]]++ : 0, turned = 0; /* codes are stored from their first bit on */
        for (int k = 0; k < lengths[i]; k++)
            turned |= (code >> k & 1) << (lengths[i] - 1 - k);
        entry[i] = turned << 8 | lengths[i];
    }
}

/* Symbols that did not come may come outside the sample: each is given a place. */
static void lengths_for(uint32_t *counts, uint8_t *lengths)
{
    for (int i = 0; i < SYMBOLS; i++)
        counts[i] += counts[i] == 0;
    limited_lengths(counts, SYMBOLS, MOST_BITS, lengths);
}

size_t smp_png_runs_cost(const uint8_t *from, size_t size)
{
    uint32_t counts[SYMBOLS] = {0};
    uint8_t lengths[SYMBOLS];
    size_t bits = count_symbols(from, size, counts);
    counts[END]++;
    limited_lengths(counts, SYMBOLS, MOST_BITS, lengths);
    for (int i = 0; i < SYMBOLS; i++)
        bits += counts[i] ? (size_t)counts[i] * lengths[i] + HEAD_BITS : 0;
    return (bits + 7) / 8;
}

/* ---------------------------------------------------------------------------------------------- bits */

typedef struct writer {
    uint8_t *to;
    uint64_t bits; /* that wait, from the lowest on */
    unsigned n;    /* fewer than 8 after flush */
} writer;

INLINE void put(writer *w, uint64_t bits, unsigned n)
{
    w->bits |= bits << w->n;
    w->n += n;
}

/* Writes 8 bytes, of which the whole ones count. */
INLINE void flush(writer *w)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(w->to, &w->bits, sizeof w->bits);
#else
    const uint64_t bits = __builtin_bswap64(w->bits);
    memcpy(w->to, &bits, sizeof bits);
#endif
    w->to += w->n >> 3;
    w->bits >>= w->n & ~7u;
    w->n &= 7;
}

INLINE void put_code(writer *w, uint32_t entry)
{
    put(w, entry >> 8, entry & 255);
}

/* A block's head: that it has codes of its own, and their lengths (RFC 1951, 3.2.7). */
static void put_head(writer *w, const uint8_t *lengths)
{
    static const uint8_t order[LENGTH_SYMBOLS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint32_t counts[LENGTH_SYMBOLS] = {0}, entry[LENGTH_SYMBOLS];
    uint8_t own[LENGTH_SYMBOLS];
    for (int i = 0; i < SYMBOLS; i++)
        counts[lengths[i]]++;
    counts[1]++; /* of distances there is one: 1, in a bit */
    counts[0] += counts[0] == 0; /* two different ones, at least */
    limited_lengths(counts, LENGTH_SYMBOLS, 7, own);
    make_codes(own, LENGTH_SYMBOLS, entry);
    put(w, 4, 3); /* not the last; codes of its own */
    put(w, SYMBOLS - 257, 5);
    put(w, 1 - 1, 5);
    put(w, LENGTH_SYMBOLS - 4, 4);
    for (int i = 0; i < LENGTH_SYMBOLS; i++) {
        put(w, own[order[i]], 3);
        flush(w);
    }
    for (int i = 0; i < SYMBOLS; i++) {
        put_code(w, entry[lengths[i]]);
        flush(w);
    }
    put_code(w, entry[1]);
    flush(w);
}

INLINE void put_match(writer *w, const codes *c, size_t length)
{
    int symbol, bits;
    unsigned extra;
    split_length(length, &symbol, &bits, &extra);
    put_code(w, c->entry[symbol]);
    put(w, extra, (unsigned)bits + 1); /* and the distance's bit, 0 */
    flush(w);
}

INLINE void put_four(writer *w, const codes *c, const uint8_t *at)
{
    const uint32_t a = c->entry[at[0]], b = c->entry[at[1]], d = c->entry[at[2]], e = c->entry[at[3]];
    const uint64_t first = a >> 8 | (uint64_t)(b >> 8) << (a & 255), second = d >> 8 | (uint64_t)(e >> 8) << (d & 255);
    const unsigned n = (a & 255) + (b & 255);
    put(w, first | second << n, n + (d & 255) + (e & 255));
    flush(w);
}

/* False when there is no more room. */
INLINE bool put_data_by(writer *w, const codes *c, const uint8_t *at, const uint8_t *end, const uint8_t *most)
{
    while (end - at >= RUN) {
        if (most - w->to < MOST_TOKENS)
            return false;
        if (!run_begins(at)) {
            put_four(w, c, at);
            at += STEP;
            continue;
        }
        size_t left = run_at(at, end) - 1;
        at += left + 1;
        put_code(w, c->entry[0]);
        flush(w);
        for (; left >= LEAST_MATCH; left -= match_of(left)) {
            if (most - w->to < MOST_TOKENS)
                return false;
            put_match(w, c, match_of(left));
        }
        for (; left; left--) /* one or two */
            put_code(w, c->entry[0]);
        flush(w);
    }
    if (most - w->to < MOST_TOKENS)
        return false;
    for (; at < end; at++) {
        put_code(w, c->entry[*at]);
        flush(w);
    }
    return true;
}

#if defined(__x86_64__)
/* Shifts by amounts that are not constant are what takes the time, and quicker with BMI2. */
__attribute__((target("bmi2"))) static bool put_data_bmi2(writer *w, const codes *c, const uint8_t *at, const uint8_t *end, const uint8_t *most)
{
    return put_data_by(w, c, at, end, most);
}
#endif

static bool put_data(writer *w, const codes *c, const uint8_t *at, const uint8_t *end, const uint8_t *most)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("bmi2"))
        return put_data_bmi2(w, c, at, end, most);
#endif
    return put_data_by(w, c, at, end, most);
}

size_t smp_png_runs_pack(uint8_t *to, size_t room, const uint8_t *from, size_t size)
{
    uint32_t counts[SYMBOLS] = {0};
    uint8_t lengths[SYMBOLS];
    codes c;
    writer w = {.to = to};
    const uint8_t *most = to + room;
    if (room < HEAD_BYTES)
        return 0;
    for (size_t i = 0; i < size; i += SAMPLE_EVERY)
        count_symbols(from + i, size - i < SAMPLE_BYTES ? size - i : SAMPLE_BYTES, counts);
    lengths_for(counts, lengths);
    make_codes(lengths, SYMBOLS, c.entry);
    put_head(&w, lengths);
    if (!put_data(&w, &c, from, from + size, most) || most - w.to < MOST_TOKENS)
        return 0;
    put_code(&w, c.entry[END]);
    put(&w, 0, 3); /* an empty stored block goes to the next byte */
    flush(&w);
    if (w.n) {
        w.n = 8;
        flush(&w);
    }
    memcpy(w.to, "\0\0\xff\xff", 4);
    return (size_t)(w.to + 4 - to);
}
