/* A whole file in memory. */
#include "suite.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/whole_file.h"

enum { LENGTH = 200000 }; /* more than one portion */

/* Removed when it is closed. */
static FILE *file_of(size_t length)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    for (size_t i = 0; i < length; i++)
        assert_int_not_equal(fputc((int)(i % 251), file), EOF);
    rewind(file);
    return file;
}

SMP_TEST(all_bytes_and_a_zero)
{
    static const size_t lengths[] = {0, 1, 65535, 65536, 65537, LENGTH};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        smp_error err;
        char *text;
        size_t size;
        FILE *file = file_of(lengths[k]);
        assert_int_equal(smp_read_stream(file, LENGTH, &text, &size, &err), SMP_OK);
        assert_int_equal(size, lengths[k]);
        for (size_t i = 0; i < size; i++)
            assert_int_equal((unsigned char)text[i], i % 251);
        assert_int_equal(text[size], 0);
        smp_free(text);
        fclose(file);
    }
}

SMP_TEST(too_long_is_a_limit)
{
    smp_error err;
    char *text;
    size_t size;
    FILE *file = file_of(LENGTH);
    assert_int_equal(smp_read_stream(file, LENGTH - 1, &text, &size, &err), SMP_E_LIMIT);
    assert_true(size > 0 && text[1] == 1 && text[size] == 0);
    smp_free(text);
    fclose(file);
}

SMP_TEST(no_file_and_a_folder)
{
    smp_error err;
    char *text;
    size_t size;
    assert_int_equal(smp_read_file("/nowhere/x", LENGTH, &text, &size, &err), SMP_E_READ);
    assert_string_equal(err.message, "cannot open: No such file or directory");
    assert_null(text);
    assert_int_equal(smp_read_file("/", LENGTH, &text, &size, &err), SMP_E_READ);
    assert_string_equal(err.message, "cannot read: Is a directory");
    smp_free(text);
}
