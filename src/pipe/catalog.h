/* The stages that the language knows. Only tests replace them, by a table of their own descriptors. */
#pragma once

#include "stages/stage.h"

typedef struct smp_catalog {
    size_t (*count)(void);
    const smp_stage *(*at)(size_t index);
} smp_catalog;

/* Null: the program's stages (smp_stage_count and smp_stage_at). */
extern const smp_catalog *smp_pipe_catalog;

size_t smp_catalog_count(void);
const smp_stage *smp_catalog_at(size_t index);
const smp_stage *smp_catalog_find(const char *name);

/* Returns the stage that does to this kind of data what `name` does to the other; null if there is none. */
const char *smp_meant_for(smp_kind kind, const char *name);
