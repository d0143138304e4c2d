/* Programs that name functions which are not here link all the same; calling one says what is missing. */
#include "cudart/runtime.h"

#define M(name)                                                                                                        \
    LAB_API int name(void);                                                                                            \
    int name(void)                                                                                                     \
    {                                                                                                                  \
        return lab_missing(#name);                                                                                     \
    }
#include "cudart/missing_list.def"
#undef M
