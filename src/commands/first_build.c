/* In place of the kernel lab in a first build (SMP_FIRST of CMakeLists.txt): see samples/quickstart.sh. */
#include "compare/input.h"

smp_code smp_count_run(const smp_run_request *, int, smp_run_report *, smp_error *err)
{
    return smp_fail(err, SMP_E_USAGE, "this build counts nothing"),
           smp_hint(err, "samples/quickstart.sh builds the rest");
}
