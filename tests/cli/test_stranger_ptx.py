"""PTX of a stranger runs in the program's own process: whatever it says, it reads and writes its own memory, ends, and
controls no terminal."""
import time
import unittest

import numpy as np
from harness import CliCase

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\nld.param.u64 %d1, [a];\nld.param.u64 %d2, [b];\n"
MALLOC = ".extern .func (.param .b64 r) malloc(.param .b64 x);\n"
FREE = ".extern .func free(.param .b64 x);\n"
PRINT = ".extern .func (.param .b32 r) vprintf(.param .b64 x, .param .b64 y);\n"


def kernel(body, before=""):
    return (HEAD + before + ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n" + REGISTERS + body +
            "\nret;\n}\n")  # fmt: skip


def function(body, result="", parameters=""):
    return f".func {result} f({parameters})\n{{\n.reg .b32 %r<9>;\n{body}\nret;\n}}\n"


def text(name, value):
    data = ", ".join(str(byte) for byte in value + b"\0")
    return f".global .align 1 .b8 {name}[{len(value) + 1}] = {{{data}}};\n"


class StrangersPtx(CliCase):
    def setUp(self):
        super().setUp()
        np.save(self.folder / "in.npy", np.arange(64, dtype=np.uint8).reshape(4, 16))

    def run_it(self, source, *more, status=(1, 2, 6)):
        (self.folder / "x.ptx").write_text(source)
        (self.folder / "x.pipe").write_text('kernel "x.ptx" name=k block=32 args="(in, out, samples)"\n')
        began = time.monotonic()
        done = self.smp("run", "x.pipe", "in.npy", "out.npy", "--force", *more, status=status)
        self.assertLess(time.monotonic() - began, 20)
        return done.stderr

    def test_a_call_passes_what_the_function_takes(self):
        large = ".param .align 4 .b8 r[1000000]"
        write = "mov.u32 %r1, 0x41414141;\nst.param.b32 [r+999000], %r1;"
        for name, source in {
            "result": kernel("{ .param .b32 x; call (x), f, (); }", function(write, f"({large})")),
            "argument": kernel("{ .param .b32 x; call f, (x); }", function("", "", large)),
            "by a pointer": kernel("mov.u64 %d3, f;\n{ .param .b32 x; call (x), %d3, (), p; }\n"
                                   "p: .callprototype (.param .b8 _[1000000]) _ ();",
                                   function(write, f"({large})")),
        }.items():  # fmt: skip
            with self.subTest(name):
                self.assertRegex(self.run_it(source), "with parameters of other sizes|not supported")

    def test_a_function_of_the_machine_is_passed_what_it_takes(self):
        for body, before in (("call malloc, ();", MALLOC),
                             ("{ .param .b32 x; .param .b32 y; call (x), malloc, (y); }", MALLOC),
                             ("{ .param .b32 x; call free, (x); }", FREE),
                             ("{ .param .b32 x; .param .b32 y; call (x), vprintf, (x, y); }", PRINT),
                             ("call __assertfail, ();", ".extern .func __assertfail();\n")):  # fmt: skip
            with self.subTest(body):
                self.assertIn("which is not there", self.run_it(kernel(body, before)))

    def test_pictures_and_variables_cannot_be_freed(self):
        free = "{ .param .b64 x; st.param.b64 [x], %d; call free, (x); }"
        for address in ("%d2", "%d1"):
            self.assertIn("which malloc did not give", self.run_it(kernel(free.replace("%d", address), FREE)))
        variable = ".global .align 4 .b32 malloc[8];\n"
        body = "mov.u64 %d3, malloc;\n" + free.replace("%d", "%d3")
        self.assertIn("which malloc did not give", self.run_it(kernel(body, FREE + variable)))

    def test_what_malloc_gave_can_be_freed(self):
        body = ("{ .param .b64 x; .param .b64 y; st.param.b64 [x], 64; call (y), malloc, (x);\n"
                "ld.param.b64 %d3, [y]; }\nst.global.u32 [%d3], 1;\n"
                "{ .param .b64 x; st.param.b64 [x], %d3; call free, (x); }")  # fmt: skip
        self.assertIn("writes nothing of its output", self.run_it(kernel(body, MALLOC + FREE)))

    def test_registers_are_as_wide_as_what_is_moved(self):
        for body in ("ld.global.v2.u32 {%r1, %d3}, [%d1];", "st.global.v2.u32 [%d2], {%d3, %r1};"):
            self.assertIn("a register of this width", self.run_it(kernel(body)))
        for body in ("st.global.v2.u32 [%d2], {_, %r1};", "mov.b64 %d3, {_, %r1};",
                     "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {_, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
                     "[%d1], %r8;"):  # fmt: skip
            self.assertIn("'_' stands for a register", self.run_it(kernel(body)))

    def test_operands_are_as_many_as_an_instruction_takes(self):
        four, six = "{%r1, %r2, %r3, %r4}", "{%r1, %r2, %r3, %r4, %r5, %r6}"
        for body in (f"tex.level.2d.v4.f32.f32 {four}, [%d1, {{%r1, %r2}}];",
                     f"tex.grad.2d.v4.f32.f32 {four}, [%d1, {{%r1, %r2}}], {{%r1, %r2}};",
                     f"tex.2d.v4.f32.f32 {four}, [%d1, {{%r1, %r2}}], %r1;"):
            self.assertIn("this form of", self.run_it(kernel(body)), body)
        for body in (f"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {six}, [%d1], %r8;",
                     f"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {four}, {six}, {six}, {four};"):
            self.assertIn("is not supported", self.run_it(kernel(body)), body)

    def test_sizes_do_not_wrap(self):
        huge = ".param .align 4 .b8 x[2147483640], .param .align 4 .b8 y[2147483640], .param .align 4 .b8 z[64]"
        write = "st.param.u32 [y+400000], %r1;"
        error = self.run_it(kernel("{ .param .b32 p; call f, (p); }", function(write, "", huge)))
        self.assertIn("more than 1 MiB of parameters", error)
        self.run_it(HEAD + ".global .u32 x] = {;\n" + kernel("")[len(HEAD):])

    def test_recursion_and_loops_have_an_end(self):
        chain = "".join(f".func f{i}()\n{{\n{f'call f{i + 1}, ();' * 2 if i < 60 else ''}\nret;\n}}\n"
                        for i in range(61))  # fmt: skip
        for source in (kernel("call f0, ();", chain), kernel("again:\nadd.u32 %r1, %r1, 1;\nbra again;")):
            error = self.run_it(source, "--time-limit", "1")
            self.assertIn("a block still runs here after 1 s", error)

    def test_large_files_are_read_in_time(self):
        count = 100000
        lines = {"constants": "add.u32 %r2, %r1, {};\n", "updates": "atom.global.add.u32 %r2, [%d1], 1;\n",
                 "loads": "ld.global.u32 %r2, [%d1];\n"}  # fmt: skip
        for name, line in lines.items():
            with self.subTest(name):
                body = "bra end;\n" + "".join(line.format(i) for i in range(count)) + "end:"
                self.assertIn("writes nothing of its output", self.run_it(kernel(body)))
        functions = "".join(f".func f{i}()\n{{\nret;\n}}\n" for i in range(9000))
        self.assertIn("more than 8192 functions", self.run_it(kernel("", functions)))
        self.assertIn("more than 8 MiB of PTX", self.run_it(kernel("", "// long\n" * (1 << 20))))

    def test_what_it_prints_controls_no_terminal_and_has_an_end(self):
        body = ("again:\n{ .param .b64 x; .param .b64 y; .param .b32 z; mov.u64 %d3, t; st.param.b64 [x], %d3;\n"
                "st.param.b64 [y], %d3; call (z), vprintf, (x, y); }\nbra again;")  # fmt: skip
        error = self.run_it(kernel(body, PRINT + text("t", b"%99999999999d\x1b[31m\xe2\x80\xaered\n")), "--time-limit",
                            "2")  # fmt: skip
        self.assertIn("?[31m?red", error)
        self.assertNotIn("\x1b", error)
        self.assertIn("prints more than 1 MiB", error)
        self.assertLess(len(error), 2 << 20)


if __name__ == "__main__":
    unittest.main()
