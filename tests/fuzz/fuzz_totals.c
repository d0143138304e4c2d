/* libFuzzer target for totals of a measurement, as parts hold them: any bytes must give an error or a group that can be
 * told, merged with itself, and has these bytes. The hashes of parts would keep a fuzzer out; tests/report/parts.c has
 * the records round them. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/measure/totals.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    smp_unpacker from = {.data = data, .size = size};
    smp_measurements measurements = {0};
    smp_packer bytes = {0};
    smp_total total;
    smp_error err;
    if (smp_total_unpack(&from, &total, &err) || from.failed)
        return 0;
    smp_total_pack(&total, &bytes);
    if (bytes.failed || bytes.size != from.at || memcmp(bytes.data, data, bytes.size) != 0)
        abort();
    bool alike;
    from.at = 0;
    smp_total more;
    if (!smp_total_unpack(&from, &more, &err) && total.partial && more.partial &&
        smp_stage_partials(total.stage)->merge(&total.partial, more.partial, &alike, &err))
        abort();
    if (smp_total_measurements(&total, &measurements, &err))
        abort();
    smp_measurements_free(&measurements);
    smp_free(more.partial);
    smp_free(total.partial);
    smp_free(bytes.data);
    return 0;
}
