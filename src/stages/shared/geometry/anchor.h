/* Nine places of a rectangle inside another one, by name. */
#ifndef SMP_STAGES_SHARED_GEOMETRY_ANCHOR_H
#define SMP_STAGES_SHARED_GEOMETRY_ANCHOR_H

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

/* `16:9` and `square`, as other programs write a ratio: what to write here. False: it is none. */
bool smp_ratio_instead(const char *value, char *text, size_t size);

#endif
