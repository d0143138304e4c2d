/* Identifies a program's fatbin: to `smempipe kernel`, which reads the program's file, and to the runtime library,
 * which the program tells where it lies in memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* All of its bytes, header included. room: those that may be read; false: no fatbin of that size begins there. */
static inline bool smp_fatbin_size(const void *fatbin, size_t room, size_t *size)
{
    struct {
        uint32_t magic;
        uint16_t version, head;
        uint64_t size;
    } begin;
    if (room < sizeof begin)
        return false;
    memcpy(&begin, fatbin, sizeof begin);
    *size = begin.head + (size_t)begin.size;
    return begin.magic == 0xba55ed50 && begin.head >= sizeof begin && begin.head <= room &&
           begin.size <= room - begin.head;
}

static inline uint64_t smp_fatbin_key(const void *fatbin, size_t size)
{
    const unsigned char *bytes = fatbin;
    uint64_t key = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        key = (key ^ bytes[i]) * UINT64_C(1099511628211);
    return key;
}
