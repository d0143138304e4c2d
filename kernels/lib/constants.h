/* Numbers of the run time as constants of the compiler: a switch with a case for each, all of which run one statement.
 * N is the number in it, so that loops over N unroll and vectorise. */
#pragma once

#define SMP_CASE_OF(value, statement)                                                                                  \
    case value: {                                                                                                      \
        enum { N = value };                                                                                            \
        statement;                                                                                                     \
        break;                                                                                                         \
    }
#define SMP_CASES_TO_4(statement)                                                                                      \
    SMP_CASE_OF(1, statement) SMP_CASE_OF(2, statement) SMP_CASE_OF(3, statement) SMP_CASE_OF(4, statement)

/* A count from 1 to 8. */
#define SMP_BY_COUNT(count, statement)                                                                                 \
    switch (count) {                                                                                                   \
        SMP_CASES_TO_4(statement)                                                                                      \
        SMP_CASE_OF(5, statement)                                                                                      \
        SMP_CASE_OF(6, statement)                                                                                      \
        SMP_CASE_OF(7, statement)                                                                                      \
    default: {                                                                                                         \
        enum { N = 8 };                                                                                                \
        statement;                                                                                                     \
    }                                                                                                                  \
    }

/* A number of channels, an int: a constant up to 4. */
#define SMP_BY_CHANNELS(channels, statement)                                                                           \
    switch (channels) {                                                                                                \
        SMP_CASES_TO_4(statement)                                                                                      \
    default: {                                                                                                         \
        const int N = channels;                                                                                        \
        statement;                                                                                                     \
    }                                                                                                                  \
    }
