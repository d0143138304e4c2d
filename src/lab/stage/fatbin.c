/* See fatbin.h. The form of fatbins is not documented by NVIDIA; what is read here is what nvcc 11 to 13 write, and
 * what else is met is refused. */
#include "lab/stage/fatbin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef SMP_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/alloc.h"
#include "base/hash/sha256.h"
#include "lab/machine/fatbin.h"
#include "lab/stage/toolkit.h"

enum { MOST_UNPACKED = 1 << 28 };

static uint64_t number_at(const unsigned char *p, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes; i--;)
        value = value << 8 | p[i];
    return value;
}

/* Header of an image: its kind in 2 bytes, 2 more, the size of this header in 4, of what follows in 8, of that what is
 * packed in 4; the architecture, flags and the unpacked size at: */
enum { IMAGE_HEAD = 64, IMAGE_PACKED = 16, IMAGE_ARCH = 28, IMAGE_FLAGS = 40, IMAGE_UNPACKED = 56 };
enum { KIND_PTX = 1, KIND_CUBIN = 2, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

static smp_code damaged(smp_error *err)
{
    return smp_fail(err, SMP_E_DECODE, "the device code in it is damaged, or of a form that is not known");
}

static smp_code read_images(const unsigned char *at, size_t size, smp_kernel_fatbin *out, smp_error *err)
{
    while (size) {
        if (size < IMAGE_HEAD)
            return damaged(err);
        const uint64_t kind = number_at(at, 2), head = number_at(at + 4, 4), follows = number_at(at + 8, 8);
        const uint64_t flags = number_at(at + IMAGE_FLAGS, 8), packed = number_at(at + IMAGE_PACKED, 4);
        if (head < IMAGE_HEAD || head > size || follows > size - head || packed > follows)
            return damaged(err);
        if ((kind == KIND_PTX || kind == KIND_CUBIN) && out->count < SMP_KERNEL_MOST_IMAGES) {
            const bool is_packed = flags & (FLAG_LZ4 | FLAG_ZSTD);
            const uint64_t unpacked = number_at(at + IMAGE_UNPACKED, 8);
            if (is_packed && (!unpacked || unpacked > MOST_UNPACKED))
                return damaged(err);
            out->images[out->count++] = (smp_kernel_image){.is_ptx = kind == KIND_PTX,
                                                           .arch = (int)number_at(at + IMAGE_ARCH, 4),
                                                           .bytes = at + head,
                                                           .size = is_packed ? (size_t)packed : (size_t)follows,
                                                           .unpacked_size = is_packed ? (size_t)unpacked : 0,
                                                           .zstd = flags & FLAG_ZSTD};
        }
        at += head + follows;
        size -= (size_t)(head + follows);
    }
    return SMP_OK;
}

smp_code smp_kernel_next_fatbin(const unsigned char *code, size_t size, size_t *at, smp_kernel_fatbin *out, bool *found,
                                smp_error *err)
{
    size_t all;
    out->count = 0;
    *found = false;
    while (*at < size && !code[*at]) /* they are aligned */
        ++*at;
    if (*at == size)
        return SMP_OK;
    if (!smp_fatbin_size(code + *at, size - *at, &all))
        return damaged(err);
    const size_t head = (size_t)number_at(code + *at + 6, 2);
    out->key = smp_fatbin_key(code + *at, all);
    *found = true;
    const smp_code done = read_images(code + *at + head, all - head, out, err);
    *at += all;
    return done;
}

/* A length that 15 begins: bytes are added until one is not 255. */
static bool more_of(const unsigned char **at, const unsigned char *end, size_t *length)
{
    unsigned char byte;
    do {
        if (*at == end || *length > MOST_UNPACKED)
            return false;
        byte = *(*at)++;
        *length += byte;
    } while (byte == 255);
    return true;
}

/* A block of LZ4: literals, then a copy of what came before, until literals end it. */
static bool unpack_lz4(const unsigned char *at, size_t size, unsigned char *to, size_t wanted)
{
    enum { LEAST_COPY = 4, MORE = 15 };
    const unsigned char *const end = at + size;
    size_t done = 0;
    while (at < end) {
        size_t literals = *at >> 4, copied = *at & MORE;
        at++;
        if ((literals == MORE && !more_of(&at, end, &literals)) || literals > (size_t)(end - at) ||
            literals > wanted - done)
            return false;
        memcpy(to + done, at, literals);
        at += literals;
        done += literals;
        if (at == end)
            break;
        if (end - at < 2)
            return false;
        const size_t back = (size_t)number_at(at, 2);
        at += 2;
        if ((copied == MORE && !more_of(&at, end, &copied)) || !back || back > done ||
            copied + LEAST_COPY > wanted - done)
            return false;
        for (size_t i = 0; i < copied + LEAST_COPY; i++, done++) /* what it copies may be of its own */
            to[done] = to[done - back];
    }
    return done == wanted;
}

smp_code smp_kernel_unpack(const smp_kernel_image *image, unsigned char **bytes, size_t *size, smp_error *err)
{
    const size_t wanted = image->unpacked_size ? image->unpacked_size : image->size;
    *size = wanted;
    *bytes = smp_alloc(wanted + 1);
    SMP_NEED(*bytes, "device code", wanted, err);
    bool done = true;
    if (!image->unpacked_size)
        memcpy(*bytes, image->bytes, wanted);
    else if (!image->zstd)
        done = unpack_lz4(image->bytes, image->size, *bytes, wanted);
    else {
#ifdef SMP_HAVE_ZSTD
        done = ZSTD_decompress(*bytes, wanted, image->bytes, image->size) == wanted;
#else
        smp_free(*bytes);
        *bytes = NULL;
        smp_fail(err, SMP_E_DECODE, "its device code is packed by Zstandard, which this build of smempipe lacks");
        return smp_hint(err, "compile it with nvcc --no-compress");
#endif
    }
    (*bytes)[wanted] = 0;
    if (done)
        return SMP_OK;
    smp_free(*bytes);
    *bytes = NULL;
    return damaged(err);
}

const smp_kernel_image *smp_kernel_choose_image(const smp_kernel_fatbin *fatbin, int arch)
{
    const smp_kernel_image *ptx = NULL, *cubin = NULL;
    for (size_t i = 0; i < fatbin->count; i++) {
        const smp_kernel_image *image = &fatbin->images[i];
        if (!image->is_ptx) {
            if (!cubin || (cubin->arch != arch && (image->arch == arch || image->arch > cubin->arch)))
                cubin = image;
            continue;
        }
        const bool fits = image->arch <= arch;
        if (!ptx || (fits && (ptx->arch > arch || image->arch > ptx->arch)) || (!fits && image->arch < ptx->arch))
            ptx = image;
    }
    return ptx ? ptx : cubin;
}

smp_code smp_kernel_keep_image(const unsigned char *bytes, size_t size, const char *ending, char **path, smp_error *err)
{
    smp_sha256 hash;
    char text[65];
    smp_sha256_begin(&hash);
    smp_sha256_add(&hash, bytes, size);
    smp_sha256_end(&hash, text);
    char *cache = smp_toolkit_cache();
    char *folder = cache ? smp_asprintf("%s/images", cache) : NULL;
    char *work = folder ? smp_asprintf("%s/%.32s.%d", folder, text, (int)getpid()) : NULL;
    *path = folder ? smp_asprintf("%s/%.32s.%s", folder, text, ending) : NULL;
    smp_code code = work && *path ? SMP_OK : smp_fail_memory(err, "a path", PATH_MAX);
    if (!code && access(*path, R_OK)) {
        FILE *to = smp_toolkit_make_folders(folder) ? fopen(work, "wb") : NULL;
        const bool wrote = to && fwrite(bytes, 1, size, to) == size;
        if ((to && fclose(to)) || !wrote || rename(work, *path)) {
            smp_fail(err, SMP_E_WRITE, "cannot write %s: %s", *path, strerror(errno));
            code = smp_hint(err, "set XDG_CACHE_HOME to a folder that you may write");
            unlink(work);
        }
    }
    smp_free_all(work, folder, cache);
    return code;
}
