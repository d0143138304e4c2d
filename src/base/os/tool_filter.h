/* The calls that a tool in a cage is refused (seccomp): see tool.h. */
#pragma once

#include <stdbool.h>

/* Whether this system has filters for calls. */
bool smp_tool_filter_works(void);

/* From now on the calling thread and what it starts open no connection, change no rights, owners, times of files, send
 * no signal outside their group, and leave it not. Needs PR_SET_NO_NEW_PRIVS; allocates nothing. */
bool smp_tool_filter(void);
