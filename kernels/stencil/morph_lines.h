/* The tiled walk of morph.c for keys of one type, T; included once for each. Rows of a tile become lines of keys; a
 * rectangle takes the least of each row by doubling and of columns by van Herk and Gil-Werman (three minima a sample
 * for any size: of the rows of a block from its end backwards, of those of the next from its start on, and of the two);
 * other shapes take each chord as two overlapping runs of 2^k columns (Urbach and Wilkinson, 2008). */
#define MORPH_(name)     SMP_PASTE(name, T)
#define MORPH_LINE(walk) ((walk)->line / (int64_t)sizeof(T))

/* to = least of a and b; to may be a. */
SMP_INLINE void MORPH_(morph_least)(T *to, const T *a, const T *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = a[i] < b[i] ? a[i] : b[i];
}

/* Least of runs of 2 length columns from those of length. */
SMP_INLINE void MORPH_(morph_double)(T *restrict to, const T *restrict from, int64_t shift, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i] < from[i + shift] ? from[i] : from[i + shift];
}

/* Keys of the samples of picture row y from `x0 - rx` on, with those beyond the border. */
static void MORPH_(morph_load)(const morph_walk *walk, T *line, int64_t y)
{
    const smp_view *in = walk->from;
    const smp_morph *m = walk->m;
    const int64_t channels = in->channels, rx = walk->rx, a = walk->x0 - rx, b = walk->x0 + walk->pixels + rx;
    int64_t inside = smp_border(y, in->height, m->edge);
    const int64_t present = inside < in->y0 ? in->y0 : inside < in->y0 + in->rows ? inside : in->y0 + in->rows - 1;
    const char *row = inside < 0 ? NULL : smp_row(in, present);
    const int64_t lo = !row ? b : a < 0 ? 0 : a, hi = !row || b < in->width ? b : in->width;
    if (row)
        MORPH_(morph_keys)
    (line + (lo - a) * channels, row, in->format, lo * channels, (hi - lo) * channels, walk->pass.most);
    for (int64_t x = a < lo ? a : hi; x < b; x = x + 1 == lo ? hi : x + 1) {
        const int64_t at = smp_border(x, in->width, m->edge);
        for (int64_t c = 0; c < channels; c++)
            if (row && at >= 0)
                MORPH_(morph_keys)
        (line + (x - a) * channels + c, row, in->format, at * channels + c, 1, walk->pass.most);
        else line[(x - a) * channels + c] = MORPH_(morph_key_of)(walk->outside, walk->pass.most);
    }
}

/* The least of 2 rx + 1 columns, at each column of the tile. */
static void MORPH_(morph_across)(const morph_walk *walk, T *to, int64_t y)
{
    const int64_t channels = walk->from->channels, n = 2 * walk->rx + 1;
    T *from = (T *)(void *)walk->spare, *next = from + MORPH_LINE(walk);
    int64_t have = (walk->pixels + n - 1) * channels, length = 1;
    if (n == 1) {
        MORPH_(morph_load)(walk, to, y);
        return;
    }
    MORPH_(morph_load)(walk, from, y);
    for (; 2 * length < n; length *= 2) {
        have -= length * channels;
        MORPH_(morph_double)(next, from, length * channels, have);
        T *swap = from;
        from = next;
        next = swap;
    }
    MORPH_(morph_double)(to, from, (n - length) * channels, walk->pixels * channels);
}

static void MORPH_(morph_rectangle)(const morph_walk *walk, int64_t y0, int64_t y1)
{
    const int64_t ry = walk->ry, n = 2 * ry + 1, pitch = MORPH_LINE(walk),
                  samples = walk->pixels * walk->from->channels;
    T *block = (T *)(void *)walk->lines, *next = block + n * pitch;
    T *ahead = (T *)(void *)(walk->spare + 2 * walk->line), *least = ahead + pitch;
    if (n == 1) {
        for (int64_t y = y0; y < y1; y++) {
            MORPH_(morph_across)(walk, block, y);
            MORPH_(morph_store)(walk, block, y);
        }
        return;
    }
    for (int64_t i = 0; i < n; i++)
        MORPH_(morph_across)(walk, block + i * pitch, y0 - ry + i);
    for (int64_t y = y0; y < y1; y += n) {
        for (int64_t i = n - 2; i >= 0; i--)
            MORPH_(morph_least)(block + i * pitch, block + i * pitch, block + (i + 1) * pitch, samples);
        MORPH_(morph_store)(walk, block, y);
        for (int64_t i = 1; i <= n && (i < n ? y + i < y1 : y + n < y1); i++) {
            T *row = next + (i - 1) * pitch;
            MORPH_(morph_across)(walk, row, y - ry + n + i - 1);
            if (i == n)
                break;
            MORPH_(morph_least)(ahead, i > 1 ? ahead : row, row, samples);
            MORPH_(morph_least)(least, block + i * pitch, ahead, samples);
            MORPH_(morph_store)(walk, least, y + i);
        }
        T *swap = block;
        block = next;
        next = swap;
    }
}

/* Picture row y, and the least of its runs of 2, 4 .. columns. */
static void MORPH_(morph_runs)(const morph_walk *walk, T *level, int64_t y)
{
    const int64_t channels = walk->from->channels, pitch = MORPH_LINE(walk);
    int64_t have = (walk->pixels + 2 * walk->rx) * channels;
    MORPH_(morph_load)(walk, level, y);
    for (int k = 1; k < walk->levels; k++) {
        have -= ((int64_t)1 << (k - 1)) * channels;
        MORPH_(morph_double)(level + k * pitch, level + (k - 1) * pitch, ((int64_t)1 << (k - 1)) * channels, have);
    }
}

static void MORPH_(morph_chords)(const morph_walk *walk, int64_t y0, int64_t y1)
{
    const int64_t ry = walk->ry, n = 2 * ry + 1, channels = walk->from->channels, pitch = MORPH_LINE(walk);
    const int64_t samples = walk->pixels * channels, rows = walk->levels * pitch;
    T *lines = (T *)(void *)walk->lines, *least = (T *)(void *)walk->spare;
    for (int64_t i = 0; i < n - 1; i++)
        MORPH_(morph_runs)(walk, lines + i * rows, y0 - ry + i);
    for (int64_t y = y0; y < y1; y++) {
        MORPH_(morph_runs)(walk, lines + (y - y0 + n - 1) % n * rows, y + ry);
        for (int64_t dy = -ry; dy <= ry; dy++) {
            const int64_t r = walk->rx ? smp_morph_chord(walk->m, (int32_t)dy) : 0;
            int k = 0;
            while ((int64_t)2 << k <= 2 * r + 1)
                k++;
            const T *run = lines + (y - y0 + dy + ry) % n * rows + k * pitch;
            const T *left = run + (walk->rx - r) * channels;
            const T *right = run + (walk->rx + r + 1 - ((int64_t)1 << k)) * channels;
            if (dy == -ry)
                MORPH_(morph_least)(least, left, right, samples);
            else
                for (int64_t i = 0; i < samples; i++) {
                    const T both = left[i] < right[i] ? left[i] : right[i];
                    least[i] = both < least[i] ? both : least[i];
                }
        }
        MORPH_(morph_store)(walk, least, y);
    }
}

/* Output rows y0 .. y1-1, tile by tile. */
static void MORPH_(morph_tiles)(morph_walk *walk, int64_t y0, int64_t y1)
{
    const int rectangle = walk->m->shape == SMP_SHAPE_SQUARE || !walk->pass.moves;
    const int64_t bytes = walk->m->shape == SMP_SHAPE_SQUARE ? SMP_MORPH_TILE : SMP_MORPH_SMALL;
    const int64_t across = bytes / (int64_t)sizeof(T) / walk->from->channels;
    for (walk->x0 = 0; walk->x0 < walk->from->width; walk->x0 += across) {
        walk->pixels = walk->from->width - walk->x0 < across ? walk->from->width - walk->x0 : across;
        if (rectangle)
            MORPH_(morph_rectangle)(walk, y0, y1);
        else
            MORPH_(morph_chords)(walk, y0, y1);
    }
}

#undef MORPH_
#undef MORPH_LINE
