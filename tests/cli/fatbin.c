/* The device code of executables: plain and packed images, and what is damaged. */
#include <string.h>

#include "suite.h"

#include "base/alloc.h"
#include "commands/lab/kernel_elf.h"
#include "lab/stage/fatbin.h"

enum { FATBIN_HEAD = 16, IMAGE_HEAD = 64, MOST = 512 };

typedef struct made {
    unsigned char bytes[MOST];
    size_t size;
} made;

static void put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        at[i] = (unsigned char)value;
}

/* A fatbin of one image, whose bytes lie after 8 zeros that align it. */
static made make(int kind, int arch, uint64_t flags, const void *data, size_t size, size_t unpacked)
{
    made m = {.size = 8};
    unsigned char *head = m.bytes + m.size, *image = head + FATBIN_HEAD;
    put(head, 0xba55ed50, 4);
    put(head + 4, 1, 2);
    put(head + 6, FATBIN_HEAD, 2);
    put(head + 8, IMAGE_HEAD + size, 8);
    put(image, (uint64_t)kind, 2);
    put(image + 4, IMAGE_HEAD, 4);
    put(image + 8, size, 8);
    put(image + 16, flags & 0xa000 ? size : 0, 4);
    put(image + 28, (uint64_t)arch, 4);
    put(image + 40, flags, 8);
    put(image + 56, unpacked, 8);
    memcpy(image + IMAGE_HEAD, data, size);
    m.size += FATBIN_HEAD + IMAGE_HEAD + size;
    return m;
}

static smp_code read_one(const unsigned char *code, size_t code_size, smp_kernel_fatbin *fatbin, unsigned char **bytes,
                         size_t *size)
{
    size_t at = 0;
    bool found;
    *bytes = NULL;
    smp_code done = smp_kernel_next_fatbin(code, code_size, &at, fatbin, &found, NULL);
    if (!done && found && fatbin->count)
        done = smp_kernel_unpack(&fatbin->images[0], bytes, size, NULL);
    return done;
}

static const char text[] = "abcabcabcabcabcX";
static const unsigned char lz4[] = {0x38, 'a', 'b', 'c', 3, 0, 0x10, 'X'}; /* 3 literals, 12 copied, a literal */

SMP_TEST(images_are_read)
{
    const struct {
        uint64_t flags;
        const void *data;
        size_t size, unpacked;
    } cases[] = {{0x11, text, 16, 0}, {0x2011, lz4, sizeof lz4, 16}};
    smp_kernel_fatbin *fatbin = smp_alloc(sizeof *fatbin);
    for (size_t i = 0; i < 2; i++) {
        unsigned char *bytes;
        size_t size;
        const made m = make(1, 80, cases[i].flags, cases[i].data, cases[i].size, cases[i].unpacked);
        assert_int_equal(read_one(m.bytes, m.size, fatbin, &bytes, &size), SMP_OK);
        assert_int_equal(fatbin->count, 1);
        assert_true(fatbin->images[0].is_ptx && fatbin->images[0].arch == 80);
        assert_int_equal(size, 16);
        assert_memory_equal(bytes, text, 16);
        smp_free(bytes);
    }
    const made cubin = make(2, 90, 0x11, text, 16, 0);
    unsigned char *bytes;
    size_t size;
    assert_int_equal(read_one(cubin.bytes, cubin.size, fatbin, &bytes, &size), SMP_OK);
    assert_false(fatbin->images[0].is_ptx);
    smp_free(bytes);
    smp_free(fatbin);
}

/* Cut off anywhere, or with any byte another, it is refused or gives as many bytes as it says. */
SMP_TEST(damaged_ones_are_refused)
{
    const made whole = make(1, 80, 0x2011, lz4, sizeof lz4, 16);
    smp_kernel_fatbin *fatbin = smp_alloc(sizeof *fatbin);
    unsigned char *bytes;
    size_t size = 0;
    int refused = 0;
    for (size_t cut = 9; cut < whole.size; cut++) {
        unsigned char *part = smp_alloc(cut); /* so that a sanitizer sees its end */
        memcpy(part, whole.bytes, cut);
        assert_int_equal(read_one(part, cut, fatbin, &bytes, &size), SMP_E_DECODE);
        smp_free(part);
    }
    for (size_t at = 8; at < whole.size; at++)
        for (int bit = 0; bit < 8; bit++) {
            made m = whole;
            m.bytes[at] ^= (unsigned char)(1 << bit);
            const smp_code code = read_one(m.bytes, m.size, fatbin, &bytes, &size);
            assert_true(code == SMP_OK || code == SMP_E_DECODE || code == SMP_E_MEMORY);
            assert_true(code || !bytes || size);
            refused += code != SMP_OK;
            smp_free(bytes);
        }
    assert_true(refused > 200);
    smp_free(fatbin);
}

SMP_TEST(what_is_no_executable_is_refused)
{
    smp_kernel_elf elf;
    smp_error err = {0};
    assert_false(smp_kernel_is_elf("/dev/null"));
    assert_true(smp_kernel_is_elf("/proc/self/exe"));
    assert_int_equal(smp_kernel_elf_open("/dev/null", &elf, &err), SMP_E_DECODE);
    smp_kernel_elf_free(&elf);
    assert_int_equal(smp_kernel_elf_open("/proc/self/exe", &elf, NULL), SMP_OK);
    assert_true(!elf.code && !elf.runtime[0] && !elf.fixed_path); /* smempipe opens CUDA at run time */
    smp_kernel_elf_free(&elf);
}
