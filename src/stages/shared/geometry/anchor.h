/* Nine places of a rectangle inside another one, by name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMP_ANCHOR_AUTO };

/* The words: auto, then the places in reading order. For SMP_T_ENUM. */
extern const char *const smp_anchors[];

/* Returns where a part begins: floor((whole - part) a), a = 0, 1/2 or 1 by the place. auto: the centre, or the top left
 * corner where the part is `moved` from there. A part larger than the whole begins outside. */
int64_t smp_anchored_x(int anchor, bool moved, int64_t whole, int64_t part);
int64_t smp_anchored_y(int anchor, bool moved, int64_t whole, int64_t part);

/* Rows of smp_hints.forms: `16:9` and `square` for a parameter aspect. */
#define SMP_FORMS_OF_RATIO SMP_MEANS("$W:$H", "aspect={$W/$H}"), SMP_MEANS("square", "aspect=1")
