/* The header of a tar file's member, a block: offsets of its fields, and bytes of those that have several sizes (POSIX,
 * pax, "ustar Interchange Format"). Internal to tar.c and tar_write.c. */
#pragma once

enum {
    BLOCK = 512,
    NAME = 0,
    NAMES = 100,
    MODE = 100,
    OWNER = 108,
    SIZE = 124,
    NUMBERS = 12,
    TIME = 136,
    SUM = 148,
    SUMS = 8,
    TYPE = 156,
    MAGIC = 257,
    PREFIX = 345
};
