"""smempipe kernel on programs that end in unusual ways, or spoil what the lab's library writes down."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import PROGRAM, SANITIZED, CliCase

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
SOURCE = """#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
__global__ void race(int *x) { x[0] = threadIdx.x; }
static void launch() { int *x; cudaMalloc(&x, 128); race<<<1, 64>>>(x); cudaDeviceSynchronize(); }
static int results() { return open(getenv("SMEMPIPE_LAB_RESULTS"), O_WRONLY | O_APPEND); }
int main(int, char **words)
{
    const char *how = words[1];
    if (!strcmp(how, "none"))
        _exit(0);
    launch();
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "_Exit"))
        _Exit(0);
    if (!strcmp(how, "quick_exit"))
        quick_exit(0);
    if (!strcmp(how, "raw"))
        syscall(SYS_exit_group, 0);
    if (!strcmp(how, "exec"))
        execl("/bin/true", "true", nullptr);
    if (!strcmp(how, "fork") && !fork())
        _exit(0);
    if (!strcmp(how, "vfork") && !vfork())
        _exit(0);
    if (!strcmp(how, "both") && !fork()) {
        launch();
        _exit(0);
    }
    if (!strcmp(how, "closed"))
        for (int i = 3; i < 64; i++)
            close(i);
    if (!strcmp(how, "zeroes"))
        ftruncate(results(), 1L << 20);
    if (!strcmp(how, "large"))
        ftruncate(results(), 1L << 31);
    if (!strcmp(how, "claim"))
        write(results(), "mpresult", 8), ftruncate(results(), 1L << 20);
    if (!strcmp(how, "wait")) {
        puts("waits");
        fflush(stdout);
        sleep(60);
    }
    if (!strcmp(how, "line")) {
        puts("waits");
        fflush(stdout);
        getchar();
    }
    while (wait(nullptr) > 0)
        ;
}
"""


@unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer")
class Ends(CliCase):
    def setUp(self):
        super().setUp()
        self.write("a.cu", SOURCE)

    def ends(self, how, *options, status=0):
        return self.smp("kernel", "a.cu", *options, "--", how, status=status)

    def test_results_are_kept_however_the_program_ends(self):
        for how, launches in (("return", 1), ("_exit", 1), ("_Exit", 1), ("quick_exit", 1), ("fork", 1), ("vfork", 1),
                              ("both", 2), ("closed", 1)):
            with self.subTest(how):
                done = self.ends(how, "--json", "--fail-on", "races", status=7)
                self.assertEqual([k["launches"] for k in json.loads(done.stdout)["kernels"]], [1] * launches)

    def test_lost_results_are_an_error(self):
        for how in ("raw", "exec"):
            with self.subTest(how):
                self.assertIn("the program ended without leaving its results", self.ends(how, status=1).stderr)

    def test_no_kernel_passes_no_check(self):
        self.assertIn("warning: the program launched no kernel", self.ends("none").stderr)
        self.assertIn("the program launched no kernel", self.ends("none", "--fail-on", "races", status=1).stderr)
        self.assertEqual(json.loads(self.ends("none", "--json").stdout)["kernels"], [])

    def test_a_spoilt_file_of_results_is_told_at_once(self):
        for how in ("zeroes", "large", "claim"):
            with self.subTest(how):
                self.assertIn("the results that the program left cannot be read", self.ends(how, status=1).stderr)

    def test_a_signal_leaves_no_file(self):
        self.ends("return", "-q")  # compiled
        subprocess.run([NVCC, "-cudart", "shared", "-o", "a", "a.cu"], cwd=self.folder, check=True)
        for name, number, status in (("a.cu", signal.SIGTERM, 143), ("a.cu", signal.SIGINT, 130),
                                     ("./a", signal.SIGTERM, 143), ("./a", signal.SIGHUP, 143)):
            with self.subTest(name=name, number=number), tempfile.TemporaryDirectory() as folder:
                process = self.begin("kernel", name, "--", "wait", stdout=subprocess.PIPE, stderr=None, text=False,
                                     env={**os.environ, "TMPDIR": folder})
                self.assertEqual(process.stdout.readline(), b"waits\n")
                process.send_signal(number)
                process.communicate()
                self.assertEqual(process.returncode, status)
                self.assertEqual(os.listdir(folder), [])

    def test_an_ignored_signal_ends_nothing(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            with self.subTest(number=number):
                process = self.begin("kernel", "a.cu", "--", "line", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     text=False, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
                self.assertEqual(process.stdout.readline(), b"waits\n")
                process.send_signal(number)
                self.assertEqual((process.communicate(b"\n")[1], process.returncode), (b"", 0))

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_a_graphs_loop_without_end_ends_with_the_time_limit(self):
        self.write("a.cu", """#include <cstdio>
int main()
{
    cudaGraph_t g;
    cudaGraphExec_t run;
    cudaGraphNode_t node;
    cudaGraphNodeParams p = {};
    cudaGraphCreate(&g, 0);
    cudaGraphConditionalHandleCreate(&p.conditional.handle, g, 1, 1);
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.type = cudaGraphCondTypeWhile;
    p.conditional.size = 1;
    cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p);
    cudaGraphInstantiate(&run, g, 0);
    printf("%d\\n", cudaGraphLaunch(run, 0));
}
""")
        done = self.smp("kernel", "a.cu", "--time-limit", "1", status=(0, 1, 3), timeout=60)
        self.assertIn("702", done.stdout + done.stderr)

    @unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer, which needs more addresses")
    def test_what_a_limit_of_addresses_leaves_unnoticed_is_told_once(self):
        self.write("a.cu", """#include <cstdio>
int main()
{
    int *x, *y;
    cudaMalloc(&x, 128);
    cudaMalloc(&y, 128);
    puts("ends");
}
""")
        limited = "ulimit -v 60000000; exec \"$0\" kernel a.cu --code ptx"
        done = subprocess.run(["sh", "-c", limited, PROGRAM], cwd=self.folder, capture_output=True, text=True)
        self.assertIn("ends\n", done.stdout)
        self.assertEqual(done.stderr.count("accesses device memory is not noticed"), 1, done.stderr)

    @unittest.skipUnless(NVCC and not SANITIZED, "no nvcc, or a sanitizer, which takes memory of its own")
    def test_memory_that_a_kernel_leaves_alone_takes_none(self):
        self.write("a.cu", """
            #include <cstdio>
            #include <sys/resource.h>
            __global__ void k(char *p, size_t size) { p[size - 1] = 1; }
            int main()
            {
                const size_t size = 512 << 20;
                char *p;
                rusage before, after;
                cudaMalloc(&p, size);
                getrusage(RUSAGE_SELF, &before);
                k<<<1, 1>>>(p, size);
                cudaDeviceSynchronize();
                getrusage(RUSAGE_SELF, &after);
                printf("%d\\n", after.ru_maxrss - before.ru_maxrss < 256 << 10);
            }""")
        self.assertTrue(self.smp("kernel", "a.cu").stdout.startswith("1\n"))


if __name__ == "__main__":
    unittest.main()
