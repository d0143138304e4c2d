/* "Did you mean": the nearest word by edit distance. Swapped neighbours count as one edit (optimal string alignment
 * distance; Damerau 1964), and case is ignored. */
#include <string.h>

#include "base/text/diag.h"
#include "base/text/text.h"

enum { LONGEST = 40 }; /* bytes: no name is longer */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t smp_edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *smp_nearest(const char *word, size_t length, const char *const *words, size_t count)
{
    if (!length || length > LONGEST)
        return NULL;
    /* One edit is a typing mistake, two are one in eight letters; more is another word ("reverb" is not "reverse"). */
    size_t allowed = length <= 4 ? 1 : length <= 8 ? 2 : 3;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(words[i]);
        if (other > LONGEST || other > length + allowed || length > other + allowed)
            continue;
        size_t d = smp_edit_distance(word, length, words[i], other);
        if (d <= allowed && (d < 2 || 4 * d <= least(length, other)) && d < length && d < other) {
            nearest = words[i];
            if (d == 0)
                break;
            allowed = d - 1;
        }
    }
    return nearest;
}
