/* PNG in and out: every colour type and depth that libpng can write, damage, bombs, and what is kept beside the
 * samples. */
#include "media_fixture.h"

#include <png.h>

static void every_channel_count_and_depth_comes_back(void **context)
{
    (void)context;
    smp_error err = {0};
    for (int format = SMP_U8; format <= SMP_U16; format++)
        for (int channels = 1; channels <= 4; channels++) {
            picture p = make_picture(13, 7, channels, channels % 2 == 0, (smp_format)format), q;
            assert_ok(write_picture(in_folder("a.png"), &p, &err));
            assert_ok(read_picture(in_folder("a.png"), &q, &err));
            assert_same_picture(&p, &q);
            free_picture(&p);
            free_picture(&q);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_channel_count_and_depth_comes_back),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
