#pragma once
#include <cstdio>
#define CHECK(holds)                                                                                                   \
    do {                                                                                                               \
        if (!(holds)) {                                                                                                \
            printf("line %d: %s\n", __LINE__, #holds);                                                                 \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)
