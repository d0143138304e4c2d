/* --samples: the kind of sample in the sounds that are written. */
#include "cli/cli.h"
#include "io/media.h"

const char *const smp_cli_sample_words[] = {"keep", "8", "16", "24", "32", "float", "double", NULL};

int smp_cli_sample_type(int word)
{
    static const int types[] = {SMP_SOUND_NONE, SMP_SOUND_U8,  SMP_SOUND_S16, SMP_SOUND_S24,
                                SMP_SOUND_S32,  SMP_SOUND_F32, SMP_SOUND_F64};
    return types[word];
}
