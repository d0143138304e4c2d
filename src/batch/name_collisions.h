/* Files of a list that have the name of another but for the extension, and so may become one output: found while the
 * list is written, since whoever works on one piece does not see the others. */
#ifndef SMP_BATCH_NAME_COLLISIONS_H
#define SMP_BATCH_NAME_COLLISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct smp_name_collision {
    uint64_t name; /* the hash of a name without its extension, */
    uint64_t line; /* and where the last line of a file so called begins; 0: none */
} smp_name_collision;

/* Those of one folder, where names of a folder follow each other; scattered: of all, 20 to 40 bytes a name, up to some
 * 50 million, whereupon they are forgotten. Zeroed at first. */
typedef struct smp_name_collisions {
    bool scattered;
    uint64_t folder; /* its hash */
    smp_name_collision *slots;
    size_t capacity, count;
} smp_name_collisions;

/* The file of this name has its line there. *before: the line of the last file before it that differs in the extension
 * alone; 0: there is none. False without memory. */
bool smp_name_collisions_meet(smp_name_collisions *collisions, const char *name, uint64_t line, uint64_t *before);
void smp_name_collisions_free(smp_name_collisions *collisions);

#endif
