"""smempipe edit: what it answers, whom it refuses, what it may read and write."""
import asyncio
import collections
import http.client
import json
import os
import re
import select
import shutil
import socket
import subprocess
import threading
import time
import unittest

import numpy

from edit_case import EditCase
from harness import FULL, PROGRAM, SAMPLES, SANITIZED


def pixels(data, width, height):
    return numpy.frombuffer(data, numpy.uint8).reshape(height, width, 4)


class Answers(EditCase):
    def setUp(self):
        super().setUp()
        shutil.copy(SAMPLES / "chelsea.png", self.folder / "cat.png")

    def shown(self, width, height, which="after"):
        status, _, data = self.ask("show", {"which": which, "x": 0, "y": 0, "width": width, "height": height,
                                            "outWidth": width, "outHeight": height})
        self.assertEqual(status, 200)
        return pixels(data, width, height)

    def test_pixels_are_those_of_run(self):
        self.serve("cat.png")
        number = 1
        for stages in (["gaussian 2px", "levels white=80%"], ["gray"], ["crop 40x30+5+7"], ["warp angle=10deg"],
                       ["depth 16", "sharpen"], ["resize 50%", "transpose"], []):
            number += 1
            told = self.told("run", text="\n".join(stages), number=number, step=-1)["told"]
            self.assertTrue(told["done"], told)
            got = self.shown(told["width"], told["height"])
            self.smp("convert", "cat.png", "out.png", *[word for s in stages for word in ("-e", s)], "--force")
            self.smp("convert", "out.png", "out.npy", "--force")
            want = numpy.load(self.folder / "out.npy")
            want = (want.astype(numpy.uint64) * 255 + 32767) // 65535 if want.dtype == numpy.uint16 else want
            want = want.reshape(*want.shape[:2], -1)
            colours = numpy.repeat(want[..., :1], 3, 2) if want.shape[2] < 3 else want[..., :3]
            self.assertTrue((got[..., :3] == colours).all(), stages)

    def test_a_reduced_part_is_the_mean_of_its_boxes(self):
        self.serve("cat.png")
        status, _, data = self.ask("show", {"which": "before", "x": 10, "y": 20, "width": 40, "height": 30,
                                            "outWidth": 20, "outHeight": 10})
        self.assertEqual(status, 200)
        self.smp("convert", "cat.png", "cat.npy")
        cut = numpy.load(self.folder / "cat.npy")[20:50, 10:50].astype(float)
        want = numpy.floor(cut.reshape(10, 3, 20, 2, 3).mean((1, 3)) + 0.5)
        self.assertTrue((pixels(data, 20, 10)[..., :3] == want).all())

    def test_the_output_of_a_step_before_the_last(self):
        self.serve("cat.png")
        told = self.told("run", text="kind image\nresize 50%\ngray\n", number=2, step=1)["told"]
        self.assertEqual((told["width"], told["channels"]), (226, 3))
        told = self.told("run", text="kind image\nresize 50%\ngray\n", number=3, step=0)["told"]
        self.assertEqual((told["width"], told["channels"]), (451, 3))

    def test_places_of_statements_and_values(self):
        self.serve("cat.png")
        text = "# ä note\nparam s = 2px\ngaussian $s edge=mirror # soft\ncrop 40x30+5+7\ngray\n"
        told = self.told("check", text=text)
        raw = text.encode()
        cut = lambda place, a="start", b="end": raw[place[a]:place[b]].decode()
        self.assertEqual([cut(s) for s in told["statements"]],
                         ["param s = 2px", "gaussian $s edge=mirror", "crop 40x30+5+7", "gray"])
        gaussian, crop = told["statements"][1:3]
        self.assertEqual([(a["param"], a["kind"], cut(a)) for a in gaussian["args"]],
                         [("sigma", "param", "$s"), ("edge", "word", "mirror")])
        self.assertIsNone(crop["args"][0]["param"])
        self.assertIn("width=40px height=30px", crop["values"])
        self.assertEqual(told["diagnostics"], "")

    def test_mistakes_have_their_places(self):
        self.serve("cat.png")
        text = "gray\ngaussian sigam=2px\n"
        mistake = json.loads(self.told("check", text=text)["diagnostics"])
        self.assertEqual([mistake[key] for key in ("line", "column", "end_column")], [2, 10, 15])
        self.assertIn("sigma", mistake["fix"])
        told = self.told("run", text="crop 4000x30+5+7", number=2, step=-1)["told"]
        self.assertFalse(told["done"])
        self.assertTrue(told["message"] or told["diagnostics"])

    def test_an_overtaken_run_stops(self):
        self.serve("cat.png")
        self.told("run", text="gray", number=9, step=-1)
        self.assertTrue(self.told("run", text="invert", number=3, step=-1)["told"]["overtaken"])

    def test_a_step_that_follows_may_read_another_in_front_of_it(self):
        self.serve("cat.png")
        seen = []
        for number, (more, held) in enumerate((("", 2), ("from @g\nsobel\n", 2), ("from @g\nsobel\n", -1)), 2):
            told = self.told("run", text="gray -> @g\ninvert\ngamma 2\n" + more, number=number, step=-1, held=held)
            self.assertTrue(told["told"]["done"], told)
            seen.append(self.shown(told["told"]["width"], told["told"]["height"]).tobytes())
        self.assertEqual(seen[1], seen[2])

    def test_the_picture_behind_a_step_is_not_that_of_an_include_behind_it(self):
        self.write("half.pipe", "resize 50%\n")
        self.serve("cat.png")
        told = self.told("run", text='kind image\ngray\ninclude "half.pipe"\n', number=2, step=1)["told"]
        self.assertEqual(told["width"], 451)

    def test_a_run_from_a_kept_picture_gives_the_same(self):
        """Whatever is kept in front of a step: floats, light, alpha, a picture of another size, a reduction's, joined
        steps."""
        self.smp("convert", "cat.png", "clear.png", "-e", "key #a08070 tolerance=20%")
        cases = [("clear.png", "gaussian 2px\nlevels white=80%\n", "gamma {}"),
                 ("clear.png", "light linear\nresize 70%\nstats\n", "gaussian {}px"),
                 ("cat.png", "gray\nequalize\n", "levels white={}0%"),
                 ("cat.png", "invert\ngamma 2\n", "gamma {}\ninvert"),
                 ("cat.png", "transpose\nstats\n", "stats\nsharpen\nlevels black={}%"),
                 ("cat.png", "gray -> @g\ninvert\n", "blend @g opacity=0.{}"), ("cat.png", "depth 16\n", "gamma {}"),
                 ("cat.png", "crop 300x200+5+7\nequalize\n", "crop {}0x50+3+4\ntranspose")]
        for picture, before, step in cases:
            self.serve(picture)
            number = 1
            for value in (2, 3, 4, 5):
                seen = []
                text = before + step.format(value)
                for held in (before.count("\n"), -1):
                    number += 1
                    told = self.told("run", text=text, number=number, step=-1, held=held)
                    self.assertTrue(told["told"]["done"], told)
                    size = told["told"]["width"], told["told"]["height"]
                    seen.append((size, self.shown(*size).tobytes(), len(told["report"]["steps"])))
                    if held < 0:
                        number += 1  # it is kept again
                        self.told("run", text=text, number=number, step=-1, held=before.count("\n"))
                self.assertEqual(seen[0][:2], seen[1][:2], text)
                if value > 2 and "@" not in text and not text.startswith("invert"):  # a later one; not joined to one
                    self.assertLess(seen[0][2], seen[1][2], text)
            self.stop()

    def preview(self, text, number, scale, **part):
        """(pixels, size of the whole) of a preview; None: a run alone can tell."""
        status, _, data = self.ask("preview", {"text": text, "number": number, "step": -1, "scale": scale} | part)
        if status == 204:
            return None
        self.assertEqual(status, 200)
        width, height, *whole = map(int, numpy.frombuffer(data[:16], numpy.uint32))
        return pixels(data[16:], width, height), whole

    def test_a_preview_is_about_a_smaller_result_for_every_stage(self):
        self.serve("cat.png")
        stages = [s for s in self.told_stages() if s["domain"] != "audio" and not re.search('[@"]', s["example"])]
        seen, number = set(), 1
        for stage in stages:
            number += 2
            shown = self.preview(stage["example"], number, 0.5)
            if not shown:
                continue
            seen.add(stage["name"])
            small, whole = shown
            told = self.told("run", text=stage["example"], number=number + 1, step=-1)["told"]
            self.assertLessEqual(abs(whole[0] - told["width"]) + abs(whole[1] - told["height"]), 3, stage["name"])
            _, _, data = self.ask("show", {"which": "after", "x": 0, "y": 0, "width": told["width"],
                                           "height": told["height"], "outWidth": small.shape[1],
                                           "outHeight": small.shape[0]})
            want = pixels(data, small.shape[1], small.shape[0]).astype(float)
            self.assertLess(abs(small - want).mean(), 15, stage["name"])  # black and white by a threshold: 10.5
        self.assertGreaterEqual(seen, {"gamma", "levels", "gaussian", "crop", "equalize", "median", "warp", "resize"})
        self.assertFalse(seen & {"sobel", "noise", "fft", "canny", "distance", "label"})

    def test_a_preview_of_single_pixels_is_exact(self):
        self.serve("cat.png")
        part = {"x": 50, "y": 60, "width": 100, "height": 80}
        texts = "gamma 2", "levels white=80%\nsaturate 150%", "matrix [0 1 0; 1 0 0; 0 0 1]", ""
        for number, text in enumerate(texts, 2):
            shown, whole = self.preview(text, 2 * number, 2, **part)
            self.assertEqual(whole, [451, 300])
            self.told("run", text=text, number=2 * number + 1, step=-1)
            self.assertTrue((shown == self.shown(451, 300)[60:140, 50:150]).all(), text)
        texts = "gaussian 2px", "equalize", "draw ellipse 9x9 x=60", "crop 100x100", "sobel"
        for number, text in enumerate(texts, 9):
            self.assertIsNone(self.preview(text, 2 * number, 2, **part), text)

    def test_previews_that_cannot_be(self):
        self.serve("cat.png")
        good = {"x": 0, "y": 0, "width": 10, "height": 10}
        wrong = [(2, {"x": -1}), (2, {"x": 442}), (2, {"width": 0}), (1e300, {"y": 1e300}), (2, {"height": 1e15}),
                 (0, {}), (-5, {}), (.9, {}), (1e-300, {"x": 9e99})]
        for number, (scale, change) in enumerate(wrong, 2):
            shown = self.preview("gamma 2", number, scale, **good | change)
            self.assertTrue(shown is None or shown[0].size == 4, (scale, change))
        texts = ("gamma", "resize 6400%", 'overlay by="/etc/passwd"', "crop {width-5}x9", "\x00",
                 "warp corners=[0 0; 400 9; 400 280; 0 299]")
        for number, text in enumerate(texts, 20):
            self.assertIsNone(self.preview(text, number, .5), text)
        self.assertIsNone(self.preview("gamma 2", 1, .4))  # overtaken, before the smaller copy was made
        self.assertTrue(self.told("run", text="gray", number=99, step=-1)["told"]["done"])

    def test_upright_as_exif_says(self):
        self.smp("convert", "cat.png", "turned.jpg")
        data = (self.folder / "turned.jpg").read_bytes()
        exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
        self.write("turned.jpg", data[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + data[2:])
        self.serve("turned.jpg")
        state = self.told("state")
        self.assertEqual((state["width"], state["height"]), (300, 451))
        for number, scale, shape in ((2, .5, (226, 150)), (3, 1, (20, 10))):
            shown, whole = self.preview("gamma 2", number, scale, x=290, y=431, width=10, height=20)
            self.assertEqual((shown.shape[:2], whole), (shape, [300, 451]))

    def test_too_large_an_output_is_refused(self):
        self.serve("cat.png", "--max-pixels", "1000000")
        told = self.told("run", text="resize 1000%", number=2, step=-1)["told"]
        self.assertIn("limit", told["message"])

    def told_stages(self):
        return self.told("stages")["stages"]


class Files(EditCase):
    def setUp(self):
        super().setUp()
        self.small_png("in.png")

    def test_save_writes_the_named_file(self):
        self.write("p.pipe", "# mine\ngray\n")
        self.serve("in.png", "p.pipe")
        self.assertEqual(self.told("state")["text"], "# mine\ngray\n")
        self.assertTrue(self.told("save", text="# mine\ngray\ninvert\n", was="# mine\ngray\n")["saved"])
        self.assertEqual(self.reads("p.pipe"), "# mine\ngray\ninvert\n")
        self.assertEqual(self.files(), ["in.png", "p.pipe"])

    def test_save_asks_before_it_replaces_what_cannot_be_read(self):
        self.write("p.pipe", "gray\n")
        self.serve("in.png", "p.pipe")
        self.write("p.pipe", "#" * 1100000)
        self.assertFalse(self.told("save", text="invert\n", was="gray\n", force=False)["saved"])
        self.assertEqual((self.folder / "p.pipe").stat().st_size, 1100000)

    def test_save_makes_a_new_file_beside_the_picture(self):
        self.write("in.pipe", "gray\n")
        self.serve("in.png")
        self.assertTrue(self.told("save", text="invert\n")["saved"])
        self.assertEqual((self.reads("in.pipe"), self.reads("in-2.pipe")), ("gray\n", "invert\n"))

    def test_a_shipped_pipeline_is_not_written(self):
        self.serve("in.png", "blur")
        self.assertIn("gaussian", self.told("state")["text"])
        self.assertTrue(self.told("save", text="invert\n")["saved"])
        self.assertEqual(self.reads("blur.pipe"), "invert\n")

    def test_what_somebody_else_wrote_is_not_lost(self):
        self.write("p.pipe", "gray\n")
        self.serve("in.png", "p.pipe")
        self.write("p.pipe", "sobel\n")
        told = self.told("save", text="invert\n", was="gray\n")
        self.assertFalse(told["saved"])
        self.assertIn("somebody else", told["message"])
        self.assertEqual(self.reads("p.pipe"), "sobel\n")
        self.assertTrue(self.told("save", text="invert\n", force=True)["saved"])
        self.assertEqual(self.reads("p.pipe"), "invert\n")

    def test_what_another_tab_saved_is_not_lost(self):
        self.write("p.pipe", "gray\n")
        self.serve("in.png", "p.pipe")
        self.assertTrue(self.told("save", text="invert\n", was="gray\n")["saved"])
        self.assertFalse(self.told("save", text="gray\nsobel\n", was="gray\n")["saved"])
        self.assertEqual(self.told("state")["text"], "invert\n")  # of a tab that is loaded now
        self.assertTrue(self.told("save", text="sobel\n", was="invert\n")["saved"])
        self.assertFalse(self.told("save")["saved"])  # nothing instead of it
        self.assertEqual(self.reads("p.pipe"), "sobel\n")

    def test_files_of_a_text_lie_beside_it(self):
        (self.folder / "sub").mkdir()
        self.small_png("sub/logo.png", 5, 4)
        self.small_png("other.png", 5, 4)
        self.serve("in.png", "sub/p.pipe")
        run = lambda text, number: self.told("run", text=text, number=number, step=-1)["told"]
        self.assertTrue(run('overlay by="logo.png"', 2)["done"])
        for number, path in enumerate(("../other.png", "/etc/passwd", str(self.folder / "in.png")), 3):
            told = run(f'overlay by="{path}"', number)
            self.assertFalse(told["done"])
            self.assertIn("outside the pipe file's folder", json.dumps(told))
        self.assertFalse(run('include "/etc/passwd"', 9)["done"])

    @unittest.skipUnless(shutil.which("nvcc"), "no nvcc here")
    def test_kernels_of_the_pipeline_run(self):
        self.write("k.cu", "__global__ void k(const float *in, float *out, int w, int h) {\n"
                           "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                           "  if (x < w && y < h) out[y * w + x] = 1 - in[y * w + x];\n}\n")
        text = 'gray\ndepth float\nkernel "k.cu"\n'
        self.write("k.pipe", text)
        self.serve("in.png", "k.pipe")
        self.assertTrue(self.told("run", text=text, number=2, step=-1)["told"]["done"])

    @unittest.skipUnless(shutil.which("nvcc"), "no nvcc here")
    @unittest.skipIf(SANITIZED, "a sanitized program is not confined as a whole")
    def test_kernels_that_come_later_are_refused(self):
        self.write("k.cu", "__global__ void k(const float *in, float *out, int w, int h) {}\n")
        self.serve("in.png")
        told = self.told("run", text='gray\ndepth float\nkernel "k.cu"\n', number=2, step=-1)["told"]
        self.assertFalse(told["done"])
        self.assertIn("compiles no kernels", told["message"])

    def test_letters_of_fonts(self):
        self.serve("in.png", env={**os.environ, "TMPDIR": "/nowhere"})
        for number, font in enumerate(("sans", "serif"), 2):
            told = self.told("run", text=f'text "a" font={font}\n', number=number, step=-1)["told"]
            if re.search("without FreeType|no fonts", told.get("message", "")):
                self.skipTest(told["message"])
            self.assertTrue(told["done"], told)

    def test_a_run_writes_nothing(self):
        self.serve("in.png")
        self.assertTrue(self.told("run", text='gray\nsave "out.png"\n', number=2, step=-1)["told"]["done"])
        self.assertEqual(self.files(), ["in.png"])

    def test_mistakes_on_the_command_line(self):
        self.assertIn("cannot open", self.smp("edit", "no.png", "--no-open", status=range(1, 9)).stderr)
        self.assertIn("in.png", self.smp("edit", "p.pipe", "in.png", "--no-open", status=range(1, 9)).stderr)
        told = self.smp("edit", "in.png", "capton", "--no-open", status=range(1, 9)).stderr
        self.assertIn("did you mean the pipeline 'caption'?", told)
        self.assertIn("takes a file", self.smp("edit", "-", "--no-open", status=2).stderr)


class Hostile(EditCase):
    def setUp(self):
        super().setUp()
        self.small_png("in.png")
        self.serve("in.png")

    def status(self, *arguments, **options):
        return self.ask(*arguments, **options)[0]

    def alive(self):
        self.assertEqual(self.status("check", {"text": "gray"}), 200)
        self.assertIsNone(self.process.poll())

    def test_only_this_machine_by_its_number(self):
        for host in ("localhost", f"localhost:{self.port}", "evil.example", f"evil.example:{self.port}", "127.0.0.1",
                     f"127.0.0.1:{self.port}.evil.example", None):
            self.assertIn(self.status("", method="GET", Host=host), (400, 403), host)
            self.assertIn(self.status("check", {"text": ""}, Host=host), (400, 403), host)
        with open(f"/proc/{self.process.pid}/net/tcp") as table:
            listening = [line.split()[1] for line in table if line.split()[3] == "0A"]
        self.assertIn(f"0100007F:{self.port:04X}", listening)
        self.assertNotIn(f"00000000:{self.port:04X}", listening)

    def test_only_the_page_itself(self):
        self.assertEqual(self.status("state"), 200)
        for origin in ("http://evil.example", "null", self.origin + ".evil.example", self.origin + "/",
                       self.origin.replace("http", "https"), None):
            self.assertEqual(self.status("state", Origin=origin), 403, origin)
        self.assertEqual(self.status("", method="GET", Origin="http://evil.example"), 403)
        self.assertEqual(self.status("state", X_Smempipe=None), 403)
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None):
            self.assertEqual(self.status("state", Content_Type=kind), 403, kind)
        self.assertEqual(self.status("state", Sec_Fetch_Site="cross-site"), 403)
        self.assertEqual(self.status("main.js", method="GET", Sec_Fetch_Site="same-site"), 403)

    def test_only_with_the_secret(self):
        secret = self.path.strip("/")
        wrong = secret[:-1] + ("0" if secret[-1] != "0" else "1")
        for path in ("/", "", "/once/", "/once/" + secret + "/", f"/{wrong}/", f"/{secret[:-1]}/", f"/{secret}0/",
                     f"/{secret.upper()}/" if secret.upper() != secret else "/x/", f"/x/../{secret}/", f"//{secret}/"):
            self.assertIn(self.status("", method="GET", path=path or "/"), (400, 403), path)
            self.assertIn(self.status("state", path=path or "/"), (400, 403), path)

    def test_only_its_own_files(self):
        for name in ("../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "in.png", "/etc/passwd",
                     "page.css/..", "main.js/", "." * 5000, "state", "run"):
            status, _, data = self.ask(name, method="GET")
            self.assertIn(status, (400, 403, 404, 414, 431), name)
            self.assertNotIn(b"root:", data)

    def test_only_get_and_post(self):
        for method in ("PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "CONNECT", "PATCH", "get"):
            answer = self.raw(f"{method} {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            self.assertRegex(answer.split(b"\r\n")[0], rb"HTTP/1.1 4\d\d", method)
            self.assertNotIn(b"Access-Control", answer)

    def test_headers_of_all_answers(self):
        for status, headers, _ in (self.ask("", method="GET"), self.ask("state"),
                                   self.ask("x", method="GET", path="/")):
            policy = headers["Content-Security-Policy"].split("; ")
            self.assertIn("default-src 'none'", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe", headers["Content-Security-Policy"])
            self.assertEqual((headers["X-Content-Type-Options"], headers["Referrer-Policy"], headers["Cache-Control"]),
                             ("nosniff", "no-referrer", "no-store"), status)
            self.assertFalse([h for h in headers if h.startswith("Access-Control")])

    def test_bodies(self):
        for body in (b"", b"[]", b"1", b"{", b"null", b"\xff\xfe", b'{"text": 5}', b"[" * 100000,
                     b'{"text":"' + b"\\u0000" * 9, b'{"text": "\\u0000gray"}',
                     b'{"number": 1e300, "step": -1e300, "text": "gray"}'):
            for name in ("check", "run", "show", "save", "nothing"):
                self.assertIn(self.ask(name, body)[0], (200, 400, 404), body[:20])
        self.assertEqual(self.status("check", b"x", Content_Length="100000000"), 413)
        self.assertEqual(self.status("check", b"x", Content_Length="9" * 40), 413)
        self.assertIn(self.status("check", b"x", Content_Length="-1"), (400, 413))
        chunked = (f"POST {self.path}check HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: {self.origin}\r\n"
                   "Content-Type: application/json\r\nX-Smempipe: edit\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
        self.assertIn(b" 411 ", self.raw(chunked + b"5\r\nabcde\r\n").split(b"\r\n")[0])
        text = "# " + "ä" * 600000
        self.assertEqual(self.status("check", {"text": text}), 200)
        self.alive()

    def test_parts_that_are_not_there(self):
        good = {"which": "before", "x": 0, "y": 0, "width": 10, "height": 10, "outWidth": 10, "outHeight": 10}
        self.assertEqual(self.status("show", good), 200)
        for change in ({"x": -1}, {"y": 20}, {"width": 0}, {"width": 1e18}, {"outWidth": 0}, {"outWidth": 11},
                       {"outHeight": -5}, {"width": 34, "outWidth": 34}, {"x": 9e15, "width": 9e15}, {"x": 1e308},
                       {"which": "after"}):
            self.assertEqual(self.status("show", good | change), 400, change)

    def test_heads(self):
        said = self.raw(b"GET " + b"/" * 100000 + b" HTTP/1.1\r\n\r\n")[:12]
        self.assertRegex(said, rb"^(HTTP/1.1 4\d\d)?$")  # or nothing
        self.raw(b"\x16\x03\x01" + bytes(range(256)) * 20, 1)
        self.raw(b"GET / HTTP/9.9\r\n\r\n", 1)
        many = b"".join(b"X-%d: %s\r\n" % (i, b"y" * 500) for i in range(500))
        self.raw(b"GET / HTTP/1.1\r\nHost: x\r\n" + many + b"\r\n", 1)
        self.alive()

    def test_a_thousand_requests(self):
        bad, connection = 0, http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Origin": self.origin, "Content-Type": "application/json", "X-Smempipe": "edit"}
        for i in range(1000):
            connection.request("POST", self.path + ("check" if i % 2 else "state"), '{"text": "gaussian 2px"}', headers)
            answer = connection.getresponse()
            answer.read()
            bad += answer.status != 200
        self.assertEqual(bad, 0)
        threads = [threading.Thread(target=lambda: self.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        connection.close()
        self.alive()

    def test_hundreds_at_once_wait(self):
        """None is reset or lost; SMP_FULL: 10,000 requests, a third of them hostile."""
        body = b'{"text": "gaussian 2px"}'
        good = (f"POST {self.path}check HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: {self.origin}\r\n"
                f"Content-Type: application/json\r\nX-Smempipe: edit\r\nContent-Length: {len(body)}\r\n"
                "Connection: close\r\n\r\n").encode() + body
        bad = [good.replace(b"Host: 127.0.0.1", b"Host: evil.example"), good.replace(b"Origin: http", b"Origin: https"),
               f"GET {self.path}../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: close\r\n\r\n"
               .encode()]
        seen = collections.Counter()

        async def one(request, room):
            async with room:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(request)
                seen[request == good, (await asyncio.wait_for(reader.read(), 60))[9:12]] += 1
                writer.close()

        async def all_of_them(number):
            room = asyncio.Semaphore(300)
            await asyncio.gather(*[one(bad[i // 3 % 3] if i % 3 == 2 else good, room) for i in range(number)])

        number = 10000 if FULL else 600
        asyncio.run(all_of_them(number))
        self.assertEqual(seen.pop((True, b"200")), number - number // 3)
        self.assertLessEqual(set(seen), {(False, b"403"), (False, b"404"), (False, b"400")})
        self.assertEqual(sum(seen.values()), number // 3)
        self.alive()

    def test_slow_requests_leave_room_and_are_cut_off(self):
        head = (f"POST {self.path}check HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: {self.origin}\r\n"
                "Content-Type: application/json\r\nX-Smempipe: edit\r\nContent-Length: 1000\r\n\r\n{").encode()
        silent, slow = [[socket.create_connection(("127.0.0.1", self.port)) for _ in range(4)] for _ in range(2)]
        for connection in silent:
            connection.sendall(b"GET / HT")
        for connection in slow:
            connection.sendall(head)
        self.alive()
        end = time.monotonic() + 60
        while silent + slow and time.monotonic() < end:  # a byte of a body now and then does not help
            for connections in silent, slow:
                for connection in list(connections):
                    try:
                        if connections is slow:
                            connection.sendall(b" ")
                        ended = select.select([connection], [], [], 0)[0] and not connection.recv(99)
                    except OSError:
                        ended = True
                    if ended:
                        connection.close()
                        connections.remove(connection)
            time.sleep(1)
        self.assertEqual(silent + slow, [])
        self.alive()

    def test_ctrl_c_ends_it(self):
        """With the status of all commands."""
        status, said = self.stop()
        self.assertEqual((status, said), (130, ""))

    def test_silent_connections_make_room(self):
        """More than are served at once: those of others end, the page's stays."""
        page = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        headers = {"Origin": self.origin, "Content-Type": "application/json", "X-Smempipe": "edit"}

        def check():
            page.request("POST", self.path + "check", '{"text": "gray"}', headers)
            self.assertEqual(page.getresponse().read()[:1], b"{")
        check()
        own = page.sock
        silent = []
        for _ in range(64):
            silent.append(socket.create_connection(("127.0.0.1", self.port)))
            time.sleep(.005)
        began = time.monotonic()
        self.assertEqual(self.ask("check", {"text": "gray"}, timeout=10)[0], 200)
        self.assertLess(time.monotonic() - began, 10)
        check()
        self.assertIs(page.sock, own)
        page.close()
        for connection in silent:
            connection.close()

    def test_it_ends_with_the_last_page(self):
        self.told("state")
        self.told("state")
        self.told("leave")
        time.sleep(4)
        self.assertIsNone(self.process.poll())
        self.told("leave")
        self.assertEqual(self.process.wait(20), 0)


class Opening(EditCase):
    """Instead of --no-open: what is given to the desktop."""

    def test_the_address_on_a_command_line_leads_there_once(self):
        self.small_png("in.png")
        script = self.write("xdg-open", f'#!/bin/sh\necho "$1" > {self.folder}/asked.part; mv {self.folder}/asked.part '
                            f'{self.folder}/asked\n'.replace(str(self.folder), "'" + str(self.folder) + "'"))
        script.chmod(0o755)
        self.process = subprocess.Popen([PROGRAM, "edit", "in.png"], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE,
                                        env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.addCleanup(self.stop)
        end = time.monotonic() + 30
        while not (self.folder / "asked").exists() and time.monotonic() < end:
            time.sleep(0.05)
        address = self.reads("asked").strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/once/[0-9a-f]{32})", address)
        self.port = int(found[1])
        status, headers, _ = self.ask("", method="GET", path=found[2])
        self.assertEqual(status, 303)
        self.assertRegex(headers["Location"], rf"^http://127\.0\.0\.1:{self.port}/[0-9a-f]{{32}}/$")
        self.assertNotIn(found[2][-32:], headers["Location"])
        self.assertEqual(self.ask("", method="GET", path=headers["Location"][-34:])[0], 200)
        self.assertEqual(self.ask("", method="GET", path=found[2])[0], 403)


if __name__ == "__main__":
    unittest.main()
