/* Places of a text and what they became: see where.h. */
#include "pipe/language/where.h"

#include "pipe/language/build.h"

const smp_param *smp_node_param_at(const smp_node *node, smp_span value)
{
    const smp_param *found = NULL;
    for (size_t i = 0; i < node->argument_count; i++) {
        const smp_span span = node->arguments[i].value.span;
        if (span.source != value.source || span.start != value.start)
            continue;
        if (found)
            return NULL;
        found = node->arguments[i].param;
    }
    return found;
}
