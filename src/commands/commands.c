/* The list of subcommands, made from command_list.def. */
#include <string.h>

#include "cli/options.h"

#ifdef SMP_FIRST /* the first build of samples/quickstart.sh */
#define LAB(name)
#else
#define LAB(name) C(name)
#endif

#define C(name) extern const smp_command smp_command_##name;
#include "commands/command_list.def"
#undef C

static const smp_command *const commands[] = {
#define C(name) &smp_command_##name,
#include "commands/command_list.def"
#undef C
};

size_t smp_command_count(void)
{
    return sizeof commands / sizeof commands[0];
}

const smp_command *smp_command_at(size_t index)
{
    return index < smp_command_count() ? commands[index] : NULL;
}

const smp_command *smp_command_find(const char *name)
{
    for (size_t i = 0; i < smp_command_count(); i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

bool smp_command_is_later(const char *name)
{
#undef LAB
#define LAB(name) #name,
#define C(name)
    static const char *const lab[] = {
#include "commands/command_list.def"
    };
    for (size_t i = 0; i < sizeof lab / sizeof lab[0]; i++)
        if (!strcmp(lab[i], name))
            return !smp_command_find(name);
    return false;
}
