/* The names of CUPTI's metrics that we ask for, against every chip that the installed CUPTI knows: its host half needs
 * no GPU. Skipped (77) where the toolkit is absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "suite.h"

#ifdef SMP_HAVE_CUPTI
#include "base/alloc.h"
#include "lab/counters/cupti.h"

/* Metrics above that a chip knows. Needs neither GPU nor driver. */
typedef struct cupti_names {
    const char *chip;
    bool supported;                /* CUPTI can measure on this chip */
    bool sass[CUPTI_SASS_METRICS]; /* none before Turing */
    bool range[CUPTI_RANGE_METRICS];
    size_t passes; /* for all range metrics together */
} cupti_names;

/* An unknown name spoils its host object, so each name gets its own. */
static void check_range(const cupti_api *api, cupti_names *names)
{
    cupti_config config;
    for (int m = 0; m < CUPTI_RANGE_METRICS; m++) {
        names->range[m] = cupti_config_open(api, names->chip, NULL, &cupti_range_names[m], 1, &config, NULL) == SMP_OK;
        if (names->range[m])
            cupti_config_close(api, &config);
    }
    if (cupti_config_open(api, names->chip, NULL, cupti_range_names, CUPTI_RANGE_METRICS, &config, NULL) == SMP_OK) {
        names->passes = config.passes;
        cupti_config_close(api, &config);
    }
}

static smp_code check_sass(const cupti_api *api, cupti_names *names, smp_error *err)
{
    CUpti_SassMetrics_GetNumOfMetrics_Params number = {
        .structSize = CUpti_SassMetrics_GetNumOfMetrics_Params_STRUCT_SIZE, .pChipName = names->chip};
    if (api->cuptiSassMetricsGetNumOfMetrics(&number) != CUPTI_SUCCESS || !number.numOfMetrics)
        return SMP_OK; /* a chip without them */
    CUpti_SassMetrics_MetricDetails *known = smp_alloc_array(number.numOfMetrics, sizeof *known);
    SMP_NEED(known, "a list of metrics", number.numOfMetrics * sizeof *known, err);
    CUpti_SassMetrics_GetMetrics_Params get = {.structSize = CUpti_SassMetrics_GetMetrics_Params_STRUCT_SIZE,
                                               .pChipName = names->chip,
                                               .numOfMetrics = number.numOfMetrics,
                                               .pMetricsList = known};
    smp_code code = SMP_OK;
    CUPTI_TRY(api, cuptiSassMetricsGetMetrics, (&get));
    for (size_t i = 0; i < number.numOfMetrics; i++)
        for (int m = 0; m < CUPTI_SASS_METRICS; m++)
            if (!strcmp(known[i].pMetricName, cupti_sass_names[m]))
                names->sass[m] = true;
fail:
    smp_free(known);
    return code;
}

static smp_code check_names(const cupti_api *api, cupti_names **out, size_t *count, smp_error *err)
{
    *out = NULL;
    *count = 0;
    smp_code code = SMP_OK;
    CUpti_Profiler_Host_GetSupportedChips_Params chips = {.structSize =
                                                              CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE};
    CUPTI_TRY(api, cuptiProfilerHostGetSupportedChips, (&chips));
    *out = smp_alloc_array(chips.numChips, sizeof **out);
    SMP_NEED(*out, "a list of chips", chips.numChips * sizeof **out, err);
    for (size_t i = 0; !code && i < chips.numChips; i++) {
        cupti_names *names = &(*out)[(*count)++];
        names->chip = chips.ppChipNames[i];
        check_range(api, names);
        code = check_sass(api, names, err);
        names->supported = names->passes > 0 || names->range[0] || names->sass[0];
    }
fail:
    if (code) {
        smp_free(*out);
        *out = NULL;
        *count = 0;
    }
    return code;
}

static const cupti_api *api;
static cupti_names *chips;
static size_t chip_count;

static int read_names(void **state)
{
    (void)state;
    smp_error err;
    smp_code code = check_names(api, &chips, &chip_count, &err);
    if (code)
        print_error("%s\n", err.message);
    return code ? -1 : 0;
}

static int free_names(void **state)
{
    (void)state;
    smp_free(chips);
    return 0;
}

static const cupti_names *find_chip(const char *chip)
{
    for (size_t i = 0; i < chip_count; i++)
        if (!strcmp(chips[i].chip, chip))
            return &chips[i];
    return NULL;
}

static void chips_of_five_generations_are_known(void **state)
{
    (void)state;
    static const char *const expected[] = {"TU102", "GA100", "AD102", "GH100", "GB202"};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const cupti_names *chip = find_chip(expected[i]);
        assert_non_null(chip);
        assert_true(chip->supported);
    }
}

static void every_chip_knows_the_hardware_metrics(void **state)
{
    (void)state;
    size_t supported = 0;
    for (size_t i = 0; i < chip_count; i++) {
        if (!chips[i].supported)
            continue;
        supported++;
        for (int m = 0; m < CUPTI_RANGE_METRICS; m++)
            if (!chips[i].range[m])
                fail_msg("%s does not know %s", chips[i].chip, cupti_range_names[m]);
        assert_in_range(chips[i].passes, 1, 2); /* loads and stores in one, atomics in one more */
    }
    assert_true(supported >= 20);
}

static void every_chip_since_turing_knows_the_sass_metrics(void **state)
{
    (void)state;
    for (size_t i = 0; i < chip_count; i++) {
        const char *chip = chips[i].chip;
        if (!chips[i].supported || !strncmp(chip, "GV", 2))
            continue;
        for (int m = 0; m < CUPTI_SASS_METRICS; m++) {
            bool async = m == CUPTI_SASS_ASYNC;
            if (!chips[i].sass[m] && !(async && !strncmp(chip, "TU", 2)))
                fail_msg("%s does not know %s", chip, cupti_sass_names[m]);
        }
    }
}

static void a_wrong_name_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"l1tex__data_bank_conflicts_of_nobody.sum"};
    cupti_config config;
    smp_error err;
    assert_int_equal(cupti_config_open(api, "GH100", NULL, wrong, 1, &config, &err), SMP_E_DEVICE);
    assert_non_null(strstr(err.message, "cuptiProfilerHostConfigAddMetrics"));
    assert_null(config.host);
}

static void a_refusal_says_how_to_get_the_right(void **state)
{
    (void)state;
    smp_error err;
    assert_int_equal(cupti_fail(api, "cuptiRangeProfilerStart", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, &err),
                     SMP_E_DEVICE);
    assert_string_equal(err.message, "counters cannot be read: cuptiRangeProfilerStart said "
                                     "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)");
    assert_non_null(strstr(err.hint, "CAP_PERFMON"));
    assert_non_null(strstr(err.hint, "NVreg_RestrictProfilingToAdminUsers=0"));
}

SMP_SUITE(cupti)
{
    smp_error err;
    if (cupti_load(&api, &err)) {
        printf("skipped: %s\n", err.message);
        return 77;
    }
    printf("%s\n", api->path);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chips_of_five_generations_are_known),
        cmocka_unit_test(every_chip_knows_the_hardware_metrics),
        cmocka_unit_test(every_chip_since_turing_knows_the_sass_metrics),
        cmocka_unit_test(a_wrong_name_is_refused),
        cmocka_unit_test(a_refusal_says_how_to_get_the_right),
    };
    return cmocka_run_group_tests_name("cupti", tests, read_names, free_names);
}
#else
SMP_SUITE(cupti)
{
    puts("skipped: this build has no CUPTI headers");
    return 77;
}
#endif
