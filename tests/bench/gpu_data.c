/* Making inputs: see gpu_data.h. */
#include "gpu_data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

smp_code gpu_photo_read(const char *path, gpu_photo *photo, smp_error *err)
{
    enum { MOST = 64 << 20, HEAD = 10 };
    *photo = (gpu_photo){0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return smp_fail(err, SMP_E_READ, "cannot open %s: %s", path, strerror(errno));
    unsigned char *bytes = smp_alloc(MOST);
    size_t got = bytes ? fread(bytes, 1, MOST, file) : 0;
    fclose(file);
    /* NumPy's format 1.0: magic, version, two bytes of the header's length, the header */
    size_t head = got > HEAD ? HEAD + (size_t)bytes[8] + ((size_t)bytes[9] << 8) : 0;
    if (got <= head || !head || memcmp(bytes, "\x93NUMPY\x01", 7) != 0 || !strstr((char *)bytes + HEAD, "'|u1'")) {
        smp_free(bytes);
        return smp_fail(err, SMP_E_READ, "%s is no NPY array of bytes", path);
    }
    memmove(bytes, bytes + head, got - head);
    photo->bytes = bytes;
    photo->size = got - head;
    return SMP_OK;
}

/* A mixing of the bits (splitmix64): sample i has the same value wherever it is asked for. */
static uint64_t mixed(uint64_t i)
{
    i += UINT64_C(0x9e3779b97f4a7c15);
    i = (i ^ (i >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    i = (i ^ (i >> 27)) * UINT64_C(0x94d049bb133111eb);
    return i ^ (i >> 31);
}

/* A code value of 16 bits for sample `i`, which is one of pixel i / channels. */
static uint32_t code_of(gpu_fill fill, uint64_t i, int channels)
{
    enum { RUN = 64 };
    const uint64_t n = (uint64_t)channels, pixel = i / n, channel = i % n, chance = mixed(i);
    switch (fill) {
    case GPU_CONSTANT:
        return 77 * 257;
    case GPU_SKEWED:
        return chance % 10 ? (uint32_t)(40 * 257 + (chance >> 32) % 16 * 257) : (uint32_t)(chance >> 16 & 0xffff);
    case GPU_RUNS:
        return (uint32_t)(mixed(pixel / RUN * n + channel) & 0xffff);
    case GPU_PHOTO: {
        const double x = (double)(pixel % 1777), y = (double)(pixel / 1777 % 1181);
        const double v = 118 + 62 * sin(x / 97 + (double)channel) + 43 * cos(y / 131) + (double)(chance % 15);
        return (uint32_t)(v < 0 ? 0 : v > 255 ? 65535 : v * 257);
    }
    default:
        return (uint32_t)(chance & 0xffff);
    }
}

void gpu_data_fill(const gpu_row *row, const gpu_photo *photo, void *block, size_t size)
{
    if (row->fill == GPU_PHOTO && photo->size && row->format == SMP_U8) {
        for (size_t at = 0; at < size; at += photo->size)
            memcpy((char *)block + at, photo->bytes, size - at < photo->size ? size - at : photo->size);
        return;
    }
    const size_t count = size / (size_t)smp_sample_size((int)row->format);
    uint8_t *bytes = block;
    uint16_t *halves = block;
    float *reals = block;
    for (size_t i = 0; i < count; i++) {
        if (row->format == SMP_U8)
            bytes[i] = (uint8_t)(code_of(row->fill, i, row->channels) >> 8);
        else if (row->format == SMP_U16)
            halves[i] = (uint16_t)code_of(row->fill, i, row->channels);
        else if (row->fill == GPU_RANDOM) {
            const float v = (float)(mixed(i) >> 40) * 0x1p-24f;
            reals[i] = row->kind == SMP_AUDIO ? 2 * v - 1 : v;
        } else
            reals[i] = (float)code_of(row->fill, i, row->channels) / 65535.f;
    }
}
