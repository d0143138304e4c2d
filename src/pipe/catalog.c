/* Finds stages by name. See catalog.h. */
#include "pipe/catalog.h"

#include <string.h>

const smp_catalog *smp_pipe_catalog;

size_t smp_catalog_count(void)
{
    return smp_pipe_catalog ? smp_pipe_catalog->count() : smp_stage_count();
}

const smp_stage *smp_catalog_at(size_t index)
{
    return smp_pipe_catalog ? smp_pipe_catalog->at(index) : smp_stage_at(index);
}

const smp_stage *smp_catalog_find(const char *name)
{
    for (size_t i = 0; i < smp_catalog_count(); i++)
        if (!strcmp(smp_catalog_at(i)->name, name))
            return smp_catalog_at(i);
    return NULL;
}

const char *smp_meant_for(smp_kind kind, const char *name)
{
    for (size_t i = 0; i < smp_stage_count(); i++)
        for (smp_other_name other = smp_other_names(smp_stage_at(i)); smp_next_name(&other);)
            if ((smp_stage_at(i)->domain & kind) && !strcmp(other.name, name))
                return other.say;
    return NULL;
}
