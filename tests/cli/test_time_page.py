"""smempipe kernel --time --html: what the page tells of predicted times, and of launches that are not modelled."""
import os
import tempfile
import unittest

from harness import ROOT, CliCase
from pages import Page, check_page, data_of, drawn, needs_browser, with_data
from test_kernel import LAB, NO_SASS, NVCC, NVDISASM, PTXAS

SAMPLE = os.path.join(ROOT, "samples", "kernels", "transposes.cu")


def plain_of(page):
    """The part of a page that browsers without scripts show."""
    return page[page.index('<div id="plain">'):page.index("<footer")]


@unittest.skipUnless(NVCC and NVDISASM and PTXAS, NO_SASS)
class TimePage(CliCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made, cache = None, tempfile.TemporaryDirectory()
        cls.addClassCleanup(cache.cleanup)
        cls.environment = {**os.environ, "XDG_CACHE_HOME": cache.name}

    def page(self):
        """The page of three transposes, made once."""
        if not TimePage.made:
            self.smp("kernel", SAMPLE, "--time", "--what-if", "--compare", "--html", "page.html", "-q",
                     env=self.environment)
            TimePage.made = (self.folder / "page.html").read_text()
        return TimePage.made

    def test_data(self):
        page = self.page()
        check_page(self, page)
        data = data_of(page)
        self.assertEqual((data["time_model"]["title"], data["time_model"]["compared"]), ("an H100", True))
        for launch in data["launches"]:
            told, kernel = launch["predicted"], data["kernels"][launch["index"]]
            self.assertEqual(launch["kernel"], kernel["kernel"])
            self.assertAlmostEqual(sum(i["share"] for i in told["instructions"]), 1, 6)
            self.assertEqual([i["place"] for i in told["instructions"]],
                             sorted({i["place"] for i in told["instructions"]}))
            by_line = {}
            for i in told["instructions"]:
                by_line[i["line"]] = by_line.get(i["line"], 0) + i["share"]
            for line in told["lines"]:
                self.assertAlmostEqual(by_line[line["line"]], line["share"], 6)
                if line["line"]:
                    shown = kernel["sources"][line["file"]][str(line["line"])]
                    self.assertEqual(shown.strip(), line["text"].strip())

    def test_a_line_costs_what_mending_it_saves(self):
        told = {launch["kernel"]: launch["predicted"] for launch in data_of(self.page())["launches"]}
        self.assertNotIn("mended", told["padded"])
        (load,), (store,) = told["tiled"]["mended"], told["naive"]["mended"]
        self.assertEqual([load["access"], store["access"]], ["shared load", "global store"])
        saved = told["tiled"]["us"] - told["padded"]["us"]
        self.assertTrue(0.9 < load["us_saved"] / saved < 1.1, (load, saved))
        self.assertTrue(load["low_us_saved"] < load["us_saved"] < load["high_us_saved"] and load["differs"])
        self.assertAlmostEqual(load["us_saved"], told["tiled"]["what_if_us_saved"]["bank conflicts"], 6)
        self.assertGreater(store["us_saved"], 0.8 * told["naive"]["us"])

    def test_occupancies_need_registers_and_memory(self):
        for launch in data_of(self.page())["launches"]:
            told = launch["predicted"]
            rows = told["occupancies"]
            self.assertEqual([row["blocks"] for row in rows], [2, 4, 6, 8])  # of 8 warps; an SM has 64
            self.assertEqual([row["registers_at_most"] for row in rows[:3]], [128, 64, 40])
            (now,) = (row for row in rows if row["now"])
            self.assertEqual((now["us"], now["limit"], now["occupancy"]), (told["us"], "warps", told["occupancy"]))
        few = data_of(self.page())["launches"][2]["predicted"]["occupancies"][0]  # padded waits for DRAM
        self.assertTrue(few["differs"] and few["us"] > 1.2 * told["us"], few)

    def test_text(self):
        def table(kernel):
            return self.smp("kernel", SAMPLE, "--only", kernel, "--grid", "8x8", "--block", "32x8", "--args",
                            "out=f32[65536] in=f32[65536] size=256", "--time", "--what-if",
                            env=self.environment).stdout

        tiled = table("tiled")
        self.assertRegex(tiled,
                         r"to avoid it: tile\[TILE\]\[TILE \+ PAD\] -> tile\[TILE\]\[TILE \+ PAD \+ 1\] .*: the "
                         r"kernel's 67584 wavefronts become 4096; saves [\d.]+ us \([\d.]+ to [\d.]+\), \d+ %")
        self.assertRegex(tiled, r"\n +8 +64 +100 % +\d+ +4096 +[\d.]+ us: now, limited by warps\n")
        self.assertIn("--only NAME --compare --grid '..;..' --block '..;..'", tiled)
        self.assertRegex(table("naive"), r"to mend transposes.cu:11: (.|\n)*side by side; saves ")

    def test_plain_table(self):
        page = self.page()
        plain = plain_of(page)
        self.assertIn("predicted for an H100 at 1.98 GHz; times are predicted by a model, not measured", plain)
        for launch in data_of(page)["launches"]:
            self.assertIn(f"<td>{launch['kernel']}</td><td>{launch['predicted']['us']:.4g}</td>",
                          plain.replace("</td>\n<td>", "</td><td>"))

    @needs_browser
    def test_drawn(self):
        page = self.page()
        shown = drawn(self, page)
        text = Page(shown).text
        self.assertIn("predicted for an H100 at 1.98 GHz: times are predicted by a model", text)
        self.assertNotIn('<div id="plain"', shown)
        launches = data_of(page)["launches"]
        slowest = max(launches, key=lambda launch: launch["predicted"]["us"])
        self.assertRegex(text, rf"{slowest['kernel']} takes [\d.]+ µs \([\d.]+ µs to [\d.]+ µs\), bound by "
                               rf"{slowest['predicted']['bound']}\. Most at transposes\.cu:\d+")
        self.assertEqual((text.count(" the fastest"), text.count(" of the fastest")), (3, 2))
        for launch in launches:
            self.assertIn(f"Time of {launch['kernel']}", text)
        self.assertIn("without uncoalesced access", text)
        self.assertIn("long scoreboard", text)
        self.assertIn("now, limited by warps", text)
        self.assertRegex(text, r"Look at transposes.cu:11 of naive: .*; saves [\d.]+ µs \([\d.]+ µs to [\d.]+ µs\)")
        self.assertRegex(text, r"STG\.E desc")
        self.assertRegex(text, r"\d+ conflicts")
        rows = sum(len(launch["predicted"]["instructions"]) + len({(i["file"], i["line"])
                   for i in launch["predicted"]["instructions"] if i["line"]}) for launch in launches)
        self.assertEqual(shown.count('class="stalls"'), rows)

    @needs_browser
    def test_a_line_marks_its_instructions(self):
        probe = """const button = document.querySelector("table.timed button");
          button.click();
          document.body.dataset.line = button.textContent;"""
        page = self.page()
        shown = drawn(self, page, probe)
        line = int(shown.split('data-line="', 1)[1].split('"', 1)[0])
        marked = [i for i in data_of(page)["launches"][0]["predicted"]["instructions"] if i["line"] == line]
        self.assertGreater(len(marked), 0)
        self.assertEqual(shown.count('<tr class="on">'), len(marked))

    @needs_browser
    def test_what_is_not_modelled(self):
        """A reason and no number, in the plain table too."""
        self.smp("kernel", os.path.join(LAB, "runtime", "cluster.cu"), "--time", "--html", "refused.html", "-q", "--",
                 "sizes", env=self.environment)
        page = (self.folder / "refused.html").read_text()
        (told,) = {launch["predicted"]["not_modelled"] for launch in data_of(page)["launches"]}
        self.assertEqual(told, "clusters")
        self.assertEqual(set(data_of(page)["launches"][0]["predicted"]), {"gpu", "not_modelled"})
        self.assertIn("<td></td><td></td><td></td><td></td><td>not modelled: clusters</td>", plain_of(page))
        text = Page(drawn(self, page)).text
        self.assertIn("not modelled: clusters", text)
        self.assertNotRegex(text, "µs| ms|bound by|GHz")

    @needs_browser
    def test_what_is_left_out_and_waited_for(self):
        self.write("part.h", "__device__ void add(int *x)\n{\n    atomicAdd(x + threadIdx.x % 32, threadIdx.x);\n}\n")
        self.write("a.cu", '#include <cstdio>\n#include "part.h"\n__global__ void f(int *x)\n{\n    add(x);\n'
                   '    if (x[40]) printf("once");\n}\n'
                   "int main() { int *x; cudaMalloc(&x, 256); cudaMemset(x, 0, 256); f<<<1024, 256>>>(x);\n"
                   "cudaMemset(x + 40, 1, 1); f<<<1, 32>>>(x); }\n")  # fmt: skip
        self.smp("kernel", "a.cu", "--time", "--html", "page.html", "-q", env=self.environment)
        page = (self.folder / "page.html").read_text()
        self.assertEqual(plain_of(page).count("; left out of its time: what printf takes on a GPU</td>"), 1)
        text = Page(drawn(self, page)).text
        self.assertEqual(text.count("left out of its time: what printf takes on a GPU"), 1)
        self.assertRegex(text, r"drain \d+ %: for what part\.h:3 writes")

    @needs_browser
    def test_names_are_text(self):
        page = self.page()
        data = data_of(page)
        evil = "<img src=x onerror=alert(1)>"
        data["launches"][0]["predicted"]["instructions"][0]["instruction"] = evil
        data["launches"][1]["predicted"] = {"gpu": "h100", "not_modelled": evil}
        shown = drawn(self, with_data(page, "kernel", data))
        self.assertNotIn("<img", shown.split("<script", 1)[0])
        self.assertIn("not modelled: &lt;img", shown)


if __name__ == "__main__":
    unittest.main()
