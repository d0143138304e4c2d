/* The stage reference in its three forms, all made from the descriptors. */
#pragma once

#include "cli/cli.h"

/* An array with an object a stage; one: only that stage; all: internal stages too. */
void smp_stages_json(FILE *to, const smp_stage *one, bool all);

/* Writes stages as a page in Markdown (`smempipe stages --markdown`). */
void smp_stages_markdown(FILE *to, const smp_stage *one, bool all);

/* image, audio, both. */
const char *smp_domain_name(smp_kind domain);
/* point, stencil, whole, reduce, adjust. */
const char *smp_access_name(smp_access access);
