#include "gpu_case.h"
static void x(void **s) { (void)s; gpu_matrix("rotate 90"); }
int main(void) { const struct CMUnitTest t[] = {cmocka_unit_test(x)}; return cmocka_run_group_tests(t, NULL, NULL); }
