/* How JPEGs are coded: as the input was, as the options ask, coarse at first. */
#include "suite.h"

#include "media_fixture.h"

#include "io/jpeg/jpeg_glue.h"

/* The first marker of that kind, behind its length; null: none. */
static const uint8_t *find_marker(const uint8_t *file, size_t size, int marker)
{
    for (size_t at = 2; at + 4 < size && file[at] == 0xFF && file[at + 1] != 0xDA;) {
        if (file[at + 1] == marker)
            return file + at + 4;
        at += 2 + (size_t)(file[at + 2] << 8 | file[at + 3]);
    }
    return NULL;
}

typedef struct coding {
    int components, sampling; /* of the first component, as 0x22 */
    uint8_t luma[64];
    bool progressive;
} coding;

static coding coding_of(const char *name)
{
    size_t size;
    uint8_t *file = load(in_folder(name), &size);
    const uint8_t *frame = find_marker(file, size, 0xC0), *coarse = find_marker(file, size, 0xC2);
    const uint8_t *table = find_marker(file, size, 0xDB);
    assert_true((frame != NULL) != (coarse != NULL) && table && table[0] == 0);
    coding found = {.progressive = coarse != NULL};
    frame = frame ? frame : coarse;
    found.components = frame[5];
    found.sampling = frame[7];
    memcpy(found.luma, table + 1, 64);
    free(file);
    return found;
}

static coding write_jpeg(const char *name, const picture *p, const smp_meta *meta, smp_write_options options)
{
    smp_error err = {0};
    options.output.force = true;
    assert_ok(write_with(in_folder(name), p, meta, &options, &err));
    return coding_of(name);
}

/* Reads a JPEG and writes it again, with what is known of its coding. */
static coding write_again(const char *from, const char *to, smp_write_options options)
{
    smp_error err = {0};
    smp_reader *reader;
    smp_read_options how = smp_read_defaults();
    picture p;
    assert_ok(smp_reader_open(in_folder(from), &how, &reader, &err));
    assert_ok(read_rest(reader, &p, &err));
    const coding found = write_jpeg(to, &p, &smp_reader_media(reader)->meta, options);
    smp_reader_close(reader);
    free_picture(&p);
    return found;
}

static void assert_same_coding(const coding *a, const coding *b)
{
    assert_int_equal(a->components, b->components);
    assert_int_equal(a->sampling, b->sampling);
    assert_memory_equal(a->luma, b->luma, 64);
}

static double difference(const char *a, const char *b)
{
    smp_error err = {0};
    picture p, q;
    double sum = 0;
    assert_ok(read_picture(in_folder(a), &p, &err));
    assert_ok(read_picture(in_folder(b), &q, &err));
    assert_int_equal(p.size, q.size);
    for (size_t i = 0; i < p.size; i++)
        sum += abs(p.data[i] - q.data[i]);
    sum /= (double)p.size;
    free_picture(&p);
    free_picture(&q);
    return sum;
}

SMP_TEST(a_jpeg_of_a_jpeg_is_coded_as_that_was)
{
    const smp_write_options plain = {0};
    static const int factors[] = {0, 0x11, 0x21, 0x22};
    picture p = make_picture(90, 70, 3, false, SMP_U8);
    for (int sampling = SMP_JPEG_444; sampling <= SMP_JPEG_420; sampling++) {
        smp_write_options options = plain;
        smp_write_set(&options.values, &smp_jpeg_quality, 60);
        smp_write_set(&options.values, &smp_jpeg_subsampling, sampling);
        const coding first = write_jpeg("a.jpg", &p, NULL, options);
        assert_int_equal(first.sampling, factors[sampling]);
        const coding second = write_again("a.jpg", "b.jpg", plain);
        assert_same_coding(&first, &second);
        options = plain;
        options.strip = true;
        const coding stripped = write_again("a.jpg", "c.jpg", options);
        assert_same_coding(&first, &stripped);
        smp_write_set(&options.values, &smp_jpeg_quality, 75);
        smp_write_set(&options.values, &smp_jpeg_subsampling, sampling);
        write_again("a.jpg", "d.jpg", options);
        assert_true(difference("a.jpg", "b.jpg") < difference("a.jpg", "d.jpg"));
    }
    free_picture(&p);
}

SMP_TEST(a_quality_that_is_asked_for_counts)
{
    const smp_write_options plain = {0};
    picture p = make_picture(40, 30, 3, false, SMP_U8);
    smp_write_options options = plain;
    const coding usual = write_jpeg("a.jpg", &p, NULL, plain);
    assert_int_equal(usual.sampling, 0x11);
    smp_write_set(&options.values, &smp_write_quality, 30);
    const coding low = write_again("a.jpg", "b.jpg", options);
    assert_int_equal(low.sampling, 0x22);
    assert_true(low.luma[0] > usual.luma[0]);
    smp_write_set(&options.values, &smp_jpeg_quality, 90);
    const coding own = write_again("b.jpg", "c.jpg", options);
    assert_same_coding(&own, &usual);
    options = plain;
    smp_write_set(&options.values, &smp_jpeg_subsampling, SMP_JPEG_422);
    const coding mixed = write_again("b.jpg", "c.jpg", options);
    assert_memory_equal(mixed.luma, low.luma, 64);
    assert_int_equal(mixed.sampling, 0x21);
    free_picture(&p);
}

SMP_TEST(gray_and_colour_are_coded_for_what_they_are)
{
    smp_error err = {0};
    smp_reader *reader;
    smp_read_options how = smp_read_defaults();
    const smp_write_options plain = {0};
    smp_write_options low = plain;
    smp_write_set(&low.values, &smp_jpeg_quality, 30);
    picture gray = make_picture(40, 30, 1, false, SMP_U8), colour = make_picture(40, 30, 3, false, SMP_U8);
    const coding usual = write_jpeg("a.jpg", &colour, NULL, plain);
    const coding low_colour = write_jpeg("colour.jpg", &colour, NULL, low);
    const coding low_gray = write_jpeg("gray.jpg", &gray, NULL, low);
    assert_ok(smp_reader_open(in_folder("colour.jpg"), &how, &reader, &err));
    coding made = write_jpeg("b.jpg", &gray, &smp_reader_media(reader)->meta, plain);
    assert_int_equal(made.components, 1);
    assert_int_equal(made.sampling, 0x11);
    assert_memory_equal(made.luma, low_colour.luma, 64);
    smp_reader_close(reader);
    assert_ok(smp_reader_open(in_folder("gray.jpg"), &how, &reader, &err));
    made = write_jpeg("b.jpg", &gray, &smp_reader_media(reader)->meta, plain);
    assert_same_coding(&made, &low_gray);
    made = write_jpeg("b.jpg", &colour, &smp_reader_media(reader)->meta, plain); /* gray says nothing of chroma */
    assert_same_coding(&made, &usual);
    smp_reader_close(reader);
    free_picture(&gray);
    free_picture(&colour);
}

SMP_TEST(progressive_files_have_the_same_samples)
{
    smp_write_options options = {0};
    picture p = make_picture(77, 65, 3, false, SMP_U8);
    assert_false(write_jpeg("a.jpg", &p, NULL, options).progressive);
    smp_write_set(&options.values, &smp_jpeg_progressive, true);
    assert_true(write_jpeg("b.jpg", &p, NULL, options).progressive);
    assert_true(difference("a.jpg", "b.jpg") == 0);
    const uint64_t live = smp_alloc_live();
    smp_error err = {0};
    for (uint64_t n = 1; n < 200; n++) { /* memory for the whole picture is asked for by parts */
        smp_alloc_fail_at(n);
        const uint64_t before = smp_alloc_count();
        options.output.force = true;
        const smp_code code = write_with(in_folder("b.jpg"), &p, NULL, &options, &err);
        const uint64_t made = smp_alloc_count() - before;
        smp_alloc_fail_at(0);
        assert_int_equal(smp_alloc_live(), live);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY);
        if (made < n)
            break;
    }
    free_picture(&p);
}

SMP_TEST(a_jpeg_of_a_progressive_one_is_progressive)
{
    const smp_write_options plain = {0};
    smp_write_options progressive = plain, baseline = plain, other = plain;
    smp_write_set(&progressive.values, &smp_jpeg_progressive, SMP_JPEG_PROGRESSIVE);
    smp_write_set(&baseline.values, &smp_jpeg_progressive, SMP_JPEG_BASELINE);
    smp_write_set(&other.values, &smp_write_quality, 40); /* other tables: no reason to change the scans */
    other.strip = true;
    for (int channels = 1; channels <= 3; channels += 2) {
        picture p = make_picture(77, 65, channels, false, SMP_U8);
        assert_true(write_jpeg("a.jpg", &p, NULL, progressive).progressive);
        assert_true(write_again("a.jpg", "b.jpg", plain).progressive);
        assert_true(write_again("a.jpg", "b.jpg", other).progressive);
        assert_false(write_again("a.jpg", "c.jpg", baseline).progressive);
        assert_false(write_again("c.jpg", "b.jpg", plain).progressive);
        assert_true(write_again("c.jpg", "b.jpg", progressive).progressive);
        free_picture(&p);
    }
}

SMP_TEST(a_jpeg_refuses_to_be_lossless)
{
    smp_error err = {0};
    smp_write_options options = {0};
    smp_write_set(&options.values, &smp_write_lossless, true);
    picture p = make_picture(7, 6, 3, false, SMP_U8);
    clear_folder();
    assert_int_equal(write_with(in_folder("l.jpg"), &p, NULL, &options, &err), SMP_E_WRITE);
    assert_non_null(strstr(err.message, "always loses some"));
    assert_int_equal(count_files(), 0);
    free_picture(&p);
}

/* Bytes of the first code tables, which say how many codes have 1 to 16 bits, and their symbols. */
static void codes_of(const char *name, uint8_t *counts)
{
    size_t size;
    uint8_t *file = load(in_folder(name), &size);
    const uint8_t *table = find_marker(file, size, 0xC4);
    assert_non_null(table);
    memcpy(counts, table + 1, 16);
    free(file);
}

/* Tables of its own, here one that gives every class of differences 4 bits, count when the next file is made; the usual
 * ones stay the usual ones. A quality that is asked for is another picture. */
SMP_TEST(a_jpeg_of_one_with_codes_of_its_own_has_similar_ones)
{
    smp_write_options plain = {0}, asked = plain;
    static const uint8_t usual[16] = {0, 1, 5, 1, 1, 1, 1, 1, 1};
    uint8_t counts[16];
    smp_meta meta = {0};
    picture p = make_picture(77, 65, 3, false, SMP_U8);
    smp_write_set(&asked.values, &smp_jpeg_quality, 50);
    write_jpeg("a.jpg", &p, NULL, plain);
    write_again("a.jpg", "b.jpg", plain);
    codes_of("b.jpg", counts);
    assert_memory_equal(counts, usual, sizeof counts);
    smp_coding_begin(&meta.coding, SMP_CODING_JPEG);
    smp_jpeg_coding *jpeg = &meta.coding.jpeg;
    *jpeg = (smp_jpeg_coding){.components = 3, .across = {1, 1, 1}, .down = {1, 1, 1}, .codes = 1};
    memset(jpeg->steps, 3, sizeof jpeg->steps);
    memset(jpeg->dc_bits, 4, sizeof jpeg->dc_bits);
    jpeg->ac_bits[0][0] = jpeg->ac_bits[1][0] = 1; /* all other symbols are missing */
    write_jpeg("c.jpg", &p, &meta, plain);
    codes_of("c.jpg", counts);
    assert_memory_not_equal(counts, usual, sizeof counts);
    assert_int_equal(counts[0], 0);
    jpeg->codes = 0;
    write_jpeg("d.jpg", &p, &meta, plain);
    assert_true(difference("c.jpg", "d.jpg") == 0);
    write_again("c.jpg", "b.jpg", asked);
    codes_of("b.jpg", counts);
    assert_memory_equal(counts, usual, sizeof counts);
    free_picture(&p);
}

SMP_TESTS_AROUND(make_folder, remove_folder)
