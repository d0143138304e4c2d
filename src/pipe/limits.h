/* Limits of a pipeline text: a hostile file must exhaust neither the stack nor the memory. */
#pragma once

enum {
    SMP_MAX_TEXT = 1 << 20,     /* bytes of one text */
    SMP_MAX_TEXTS = 8 << 20,    /* bytes of all texts that one pipeline includes */
    SMP_MAX_MEMORY = 256 << 20, /* bytes for everything built from the texts */
    SMP_MAX_INCLUDES = 1000,    /* include statements carried out */
    SMP_MAX_INCLUDE_DEPTH = 16, /* includes inside includes */
    SMP_MAX_STATEMENTS = 10000, /* of one text */
    SMP_MAX_NODES = 10000,      /* stages of a whole pipeline */
    SMP_MAX_PARAMS = 1000,      /* `param` statements of one text */
    SMP_MAX_SAVES = 1000,       /* `save` statements: each has a file open */
    SMP_MAX_ELEMENTS = 1 << 16, /* of a matrix */
    SMP_MAX_DEPTH = 64,         /* parentheses in an expression */
    SMP_GIVE_UP = 200,          /* errors: after so many, reading on is a waste of time */
    SMP_MAX_STACK = 256,        /* values on an expression's stack */
    SMP_MAX_OPS = 4096          /* operations of an expression, with those of its $parameters */
};
