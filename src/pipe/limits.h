/* What a pipeline text may cost: a stranger's file must exhaust neither the stack nor the memory. */
#ifndef SMP_PIPE_LIMITS_H
#define SMP_PIPE_LIMITS_H

enum {
    SMP_MAX_TEXT = 1 << 20,     /* bytes of one text */
    SMP_MAX_TEXTS = 8 << 20,    /* bytes of all texts that one pipeline includes */
    SMP_MAX_MEMORY = 256 << 20, /* bytes for all that is made of the texts */
    SMP_MAX_INCLUDES = 1000,    /* include statements carried out */
    SMP_MAX_INCLUDE_DEPTH = 16, /* includes inside includes */
    SMP_MAX_STATEMENTS = 10000, /* of one text */
    SMP_MAX_NODES = 10000,      /* stages of a whole pipeline */
    SMP_MAX_PARAMS = 1000,      /* `param` statements of one text */
    SMP_MAX_SAVES = 1000,       /* `save` statements: each has a file open */
    SMP_MAX_ELEMENTS = 1 << 16, /* of a matrix */
    SMP_MAX_DEPTH = 64,         /* parentheses in an expression */
    SMP_GIVE_UP = 200,          /* errors: reading on would only cost time */
    SMP_MAX_STACK = 256,        /* values an expression holds back at once */
    SMP_MAX_OPS = 4096          /* steps of an expression, those of its $parameters included */
};

#endif
