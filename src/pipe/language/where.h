/* For editors of a text: what the parser's places became. */
#pragma once

#include "pipe/program.h"

/* The parameter that the value at this place was taken for; null: none, or a stage's form spread it over several. */
const smp_param *smp_node_param_at(const smp_node *node, smp_span value);
