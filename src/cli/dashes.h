/* Remembers where "--" stood on the command line, for commands whose last arguments are another program's. */
#pragma once

#include <stddef.h>

/* Returns the number of arguments before it, as smp_options_parse read them last; all of them where there was none. */
size_t smp_options_before_dashes(void);
