/* Programs that name functions which are not here link all the same; calling one says what is missing. */
#include "lab/runtime/runtime.h"

#define M(name)                                                                                                        \
    LAB_API int name(void);                                                                                            \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        return lab_missing(#name);                                                                                     \
    }
#include "lab/runtime/missing_list.def"
#undef M
