"""Pictures that people study (local contrast, thresholds by surroundings, components, quality, edges): the definitions'
vectors, NumPy and OpenCV."""
import unittest

import cv2
import numpy as np

from harness import EDGES, FORMATS, OracleCase, ProgramFailed, findings, pad, picture, run, run_many, white


def U(width, height, channels=1):
    y, x, k = np.mgrid[0:height, 0:width, 0:channels]
    out = ((7 * x * x + 13 * y * y + 5 * x * y + 71 * k + 11 * x + 3) % 256).astype(np.uint8)
    return out[..., 0] if channels == 1 else out


def V(width, height):
    y, x = np.mgrid[0:height, 0:width]
    return ((257 * U(width, height).astype(np.int64) + 37 * x + 101 * y) % 65536).astype(np.uint16)


def numbers(text):
    return [float(v) for v in text.split()]


def smooth(seed, shape, dtype=np.uint8):
    """Blobs on a slope, with some noise: flat parts, edges, few and many of one value."""
    rng = np.random.default_rng(seed)
    height, width = shape[:2]
    small = rng.random((height // 8 + 2, width // 8 + 2) + tuple(shape[2:])).astype(np.float32)
    big = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    values = np.clip(big * 0.8 + 0.1 + (rng.random(shape) - 0.5) * 0.05, 0, 1)
    top = white(np.zeros(1, dtype))
    return values.astype(np.float32) if dtype == np.float32 else np.rint(values * top).astype(dtype)


class Clahe(OracleCase):
    def test_vectors(self):
        got = run(U(16, 16) // 2 + 60, "clahe tiles=2 clip=2")
        self.assertEqual(list(got[0]), numbers("20 40 68 112 167 224 81 168 42 158 64 204 135 68 239 207"))
        self.assertEqual(list(got[15]), numbers("120 199 64 171 64 200 118 48 219 167 137 113 104 108 128 159"))
        got = run(U(15, 13), "clahe tiles=4 clip=3")
        self.assertEqual(list(got[0]), numbers("16 64 96 143 183 243 64 167 40 163 80 223 136 56 255"))
        self.assertEqual(list(got[12]), numbers("120 191 255 135 219 86 239 149 56 20 215 169 147 136 143"))
        got = run(V(24, 20), "clahe tiles=3 clip=40")
        self.assertEqual(list(got[0, :8]), numbers("1040 9362 17684 31207 44730 61432 19418 46233"))
        self.assertEqual(list(got[19, :4]), numbers("21845 49931 17684 56173"))

    def test_equals_opencv(self):
        cases = [(8, 2.0, (61, 145)), (4, 40.0, (64, 96)), (3, 0.0, (45, 33)), (16, 1.3, (130, 67)), (5, 3.0, (7, 9)),
                 (1, 2.0, (50, 61)), (2, 4.0, (64, 61))]
        for dtype in (np.uint8, np.uint16):
            for seed, (tiles, clip, shape) in enumerate(cases):
                array = smooth(seed, shape, dtype)
                want = cv2.createCLAHE(clip, (tiles, tiles)).apply(array)
                self.same(run(array, f"clahe {tiles} clip={clip}"), want, f"{tiles} {clip} {shape} {dtype}")

    def test_each_channel_by_itself(self):
        array = np.dstack([smooth(k, (40, 51)) for k in range(3)])
        got = run(array, "alpha opaque", "clahe 4 channel=each", options=("--strip-rows", 7))
        for c in range(3):
            self.same(got[..., c].copy(), cv2.createCLAHE(2, (4, 4)).apply(array[..., c].copy()), f"channel {c}")
        self.assertTrue((got[..., 3] == 255).all())

    def test_luma_moves_all_colours_alike(self):
        array = smooth(9, (40, 51, 3)) // 2 + 50
        y = np.rint(array.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)).astype(np.uint8)
        got = run(array, "clahe 4").astype(int) - array
        want = cv2.createCLAHE(2, (4, 4)).apply(y).astype(int) - y
        self.assertLessEqual(np.abs(got - want[..., None]).max(), 1)

    def test_floats_have_the_bins_of_16_bits(self):
        array = smooth(3, (33, 40), np.uint16)
        floats = ((array.astype(np.float64) + 0.5) / 65536).astype(np.float32)
        want = run(array, "clahe 4 clip=8").astype(np.float64) / 65535
        self.assertLessEqual(np.abs(run(floats, "clahe 4 clip=8") - want).max(), 0.51 / 65535)
        with self.assertRaisesRegex(ProgramFailed, "from 0 to 1"):
            run(floats * 2, "clahe")


def matched(array, other):
    """skimage.exposure.match_histograms of one channel, in double and in the first's code values."""
    values, where, counts = np.unique(array, return_inverse=True, return_counts=True)
    others, other_counts = np.unique(other, return_counts=True)
    scale = white(array) / white(other)
    return np.interp(np.cumsum(counts) / array.size, np.cumsum(other_counts) / other.size,
                     others.astype(np.float64) * scale)[where.reshape(array.shape)]


class Match(OracleCase):
    def both(self, array, other, stage, *options):
        return run_many(array, {"only": [stage]}, *options, beside={"other.npy": other})["only"]

    def test_equals_scikit_images_formula(self):
        for seed, (one, two) in enumerate(((np.uint8, np.uint8), (np.uint16, np.uint16), (np.uint8, np.uint16),
                                           (np.uint16, np.uint8))):
            array, other = smooth(seed, (61, 45), one), smooth(seed + 9, (33, 70), two) // 2
            got = self.both(array, other, 'match "other.npy"', "--strip-rows", 7).astype(np.float64)
            off = np.abs(got - matched(array, other))
            self.assertLessEqual(off.max(), 0.5 + 1e-4 * white(array) / 255, f"{one} {two}")

    def test_floats_and_colours(self):
        array, other = smooth(1, (40, 51, 3), np.float32), smooth(2, (30, 20, 3), np.float32) ** 2
        got = self.both(array, other, 'match "other.npy"')
        for c in range(3):
            bins = lambda a: np.minimum(np.floor(a[..., c].astype(np.float64) * 65536), 65535).astype(np.uint16)
            want = (matched(bins(array), bins(other)) + 0.5) / 65536
            self.assertLessEqual(np.abs(got[..., c] - want).max(), 1e-6)

    def test_itself_one_value_and_every_way(self):
        array = smooth(3, (61, 45, 3))
        self.same(self.both(array, array, 'match "other.npy"'), array, "itself")
        flat = np.full((5, 5, 3), 77, np.uint8)
        self.same(self.both(array, flat, 'match "other.npy"'), np.full_like(array, 77), "to one value")
        self.assertEqual(np.unique(self.both(flat, array, 'match "other.npy"')[..., 0]).tolist(), [array[..., 0].max()])
        other = smooth(4, (70, 131, 3))
        want = self.both(array, other, 'match "other.npy"')
        for way in (("--strip-rows", 5, "--threads", 2), ("--device", "simt", "--strip-rows", 16),
                    ("--device", "simt", "--variant", "naive"), ("--variant", "tiled")):
            self.same(self.both(array, other, 'match "other.npy"', *way), want, str(way))
        with self.assertRaisesRegex(ProgramFailed, "3 colours cannot get the histograms of one with 1"):
            self.both(array, other[..., 0].copy(), 'match "other.npy"')


def local_level(array, size, method, k, r=0.5, offset=0.02, edge="clamp"):
    """T in double."""
    top, wide = white(array), pad(array.astype(np.float64), size // 2, size // 2, edge)
    under = np.stack([wide[j:j + array.shape[0], i:i + array.shape[1]] for j in range(size) for i in range(size)])
    m = under.mean(0)
    s = np.sqrt(np.maximum((under * under).mean(0) - m * m, 0))
    return {"mean": m - offset * top, "bradley": m * (1 - k), "niblack": m - k * s,
            "sauvola": m * (1 + k * (s / (r * top) - 1))}[method]


class LocalThreshold(OracleCase):
    def test_vectors(self):
        for stage, rows in (
            ("5px", "000011010 000110011 001110101 111001010 110010101 001101010"),
            ("5px method=bradley", "000111010 000110111 011110101 111001010 110010101 001101010"),
            ("3px method=niblack k=-0.2 edge=mirror", "000011010 000010010 001110101 011001010 110010101 001101010"),
        ):
            want = np.array([[255 * int(v) for v in row] for row in rows.split()], np.uint8)
            self.same(run(U(9, 6), f"local-threshold {stage}"), want, stage)

    def test_every_method_and_border_equals_numpy(self):
        for dtype in FORMATS:
            for seed, shape in enumerate(((1, 1), (1, 67), (67, 1), (33, 129), (40, 37, 3), (21, 40, 4))):
                array = picture(seed + 80, shape, dtype)
                cases = [(m, (3, 9, 31)[(seed + n) % 3], list(EDGES)[(seed + n) % 5])
                         for n, m in enumerate(("sauvola", "niblack", "bradley", "mean"))]
                got = run_many(array, {str(c): [f"local-threshold {c[1]}px method={c[0]} edge={c[2]}"] for c in cases})
                for case in cases:
                    level = local_level(array, case[1], case[0], 0.15 if case[0] == "bradley" else 0.2, edge=case[2])
                    v = array.astype(np.float64)
                    want = np.where(v >= level, white(array), 0)
                    sure = np.abs(v - level) > 1e-9 * white(array)
                    self.assertTrue((got[str(case)] == want.astype(array.dtype))[sure].all(), f"{case} {dtype} {shape}")
                    self.assertTrue(sure.mean() > 0.4 or array.size < 100)

    def test_mean_is_opencvs(self):
        array = smooth(4, (61, 145))
        for size, offset in ((3, 2), (31, 10), (75, -5)):
            want = cv2.adaptiveThreshold(array, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, size, offset)
            got = run(array, f"local-threshold {size}px method=mean offset={offset / 255:.9f}")
            near = np.abs(array - local_level(array, size, "mean", 0, offset=offset / 255)) <= 1
            self.assertTrue((got == want)[~near].all(), "OpenCV rounds the mean first")
            self.assertLess(near.mean(), 0.2)


BITS = np.array([[int(v) for v in row] for row in "1101000 1001001 0010011 1000100 1011001".split()], np.uint8) * 255


def spiral(size):
    """A line one pixel wide that winds outwards; between its turns is one pixel."""
    out = np.zeros((size, size), np.uint8)
    y = x = size // 2
    for side in range(2, size, 2):
        for dy, dx in (((0, 1), (1, 0)) if side % 4 == 2 else ((0, -1), (-1, 0))):
            for _ in range(side):
                out[y, x] = 255
                y, x = y + dy, x + dx
    return out


def shapes():
    """Spirals, combs, diagonals, a checkerboard, noise: a picture of patches of 141 x 141 with a pixel between them."""
    size = 141
    rows, columns = np.indices((size, size))
    comb = np.where((columns % 2 == 0) | (rows == size - 1), 255, 0)
    rng = np.random.default_rng(33)
    patches = [spiral(size), 255 - spiral(size), comb, comb[::-1], comb.T, comb.T[:, ::-1],
               (rows + columns) % 5 // 4 * 255, (rows - columns) % 5 // 4 * 255, (rows + columns) % 2 * 255,
               np.full((size, size), 255)]
    patches += [(rng.random((size, size)) < share) * 255 for share in (.1, .3, .5, .6, .9)]
    bands = [np.hstack([np.pad(p, ((0, 1), (0, 1))) for p in patches[at:at + 5]]) for at in (0, 5, 10)]
    return np.vstack(bands).astype(np.uint8)


class Label(OracleCase):
    def test_vectors(self):
        for stage, rows in (
            ("label output=labels", "1101000 1001001 0010011 1000100 1011001"),
            ("label connectivity=4 output=labels", "1101000 1001001 0010011 1000100 1011001"),
            ("label min-area=3 output=labels", "1101000 1001001 0010011 0000100 0011000"),
        ):
            self.same((run(BITS, stage) > 0).astype(np.uint8), np.array([[int(v) for v in r] for r in rows.split()],
                                                                         np.uint8), stage)
        self.assertEqual(run(BITS, "label output=labels").tolist(), [
            [1, 1, 0, 2, 0, 0, 0], [1, 0, 0, 2, 0, 0, 3], [0, 0, 2, 0, 0, 3, 3], [4, 0, 0, 0, 3, 0, 0],
            [4, 0, 3, 3, 0, 0, 5]])
        self.assertEqual(run(BITS, "label connectivity=4 output=labels").tolist(), [
            [1, 1, 0, 2, 0, 0, 0], [1, 0, 0, 2, 0, 0, 3], [0, 0, 4, 0, 0, 3, 3], [5, 0, 0, 0, 6, 0, 0],
            [5, 0, 7, 7, 0, 0, 8]])
        self.assertEqual(run(BITS, "label min-area=3 output=labels").tolist(), [
            [1, 1, 0, 2, 0, 0, 0], [1, 0, 0, 2, 0, 0, 3], [0, 0, 2, 0, 0, 3, 3], [0, 0, 0, 0, 3, 0, 0],
            [0, 0, 3, 3, 0, 0, 0]])
        found = findings(BITS, "label")[0]
        self.assertEqual([found["count", -1], found["area", -1]], [5, [3, 3, 6, 2, 1]])
        self.assertEqual([found[k, -1] for k in ("left", "top", "width", "height")],
                         [[0, 2, 2, 0, 6], [0, 0, 1, 3, 4], [2, 2, 5, 1, 1], [2, 3, 4, 2, 1]])
        np.testing.assert_allclose(found["x", -1], [1 / 3, 8 / 3, 13 / 3, 0, 6], rtol=1e-15)
        np.testing.assert_allclose(found["y", -1], [1 / 3, 1, 8 / 3, 3.5, 4], rtol=1e-15)

    def test_equals_opencv(self):
        for seed, (shape, share) in enumerate((((61, 145), 0.5), ((64, 64), 0.3), ((1, 200), 0.6), ((200, 1), 0.6),
                                               ((97, 63), 0.62), ((40, 129), 0.04))):
            rng = np.random.default_rng(seed)
            array = (rng.random(shape) < share).astype(np.uint8) * 255
            for connectivity in (4, 8):
                count, labels, stats, centres = cv2.connectedComponentsWithStats(array, connectivity=connectivity)
                order = np.unique(labels[labels > 0], return_index=True)
                rank = np.zeros(count, int)
                rank[order[0][np.argsort(order[1])]] = np.arange(1, len(order[0]) + 1)
                stage = f"label connectivity={connectivity}"
                self.same(run(array, f"{stage} output=labels"), rank[labels].astype(np.uint16), f"{stage} {shape}")
                found = findings(array, stage)[0]
                by = np.argsort(rank[1:]) + 1
                self.assertEqual(found["count", -1], count - 1)
                for name, column in (("left", 0), ("top", 1), ("width", 2), ("height", 3), ("area", 4)):
                    self.assertEqual(found[name, -1], stats[by, column].tolist(), name)
                np.testing.assert_allclose(found["x", -1], centres[by, 0], rtol=1e-12)

    def test_areas_choose(self):
        array = (np.random.default_rng(8).random((61, 145)) < 0.4).astype(np.uint8) * 255
        count, labels, stats, _ = cv2.connectedComponentsWithStats(array, connectivity=4)
        keep = (stats[:, 4] >= 3) & (stats[:, 4] <= 20)
        keep[0] = False
        got = run(array, "label connectivity=4 min-area=3px max-area=20px")
        self.same(got, keep[labels].astype(np.uint8) * 255)
        self.assertEqual(findings(array, "label connectivity=4 min-area=3 max-area=20")[0]["count", -1], keep.sum())

    def test_formats_and_outputs(self):
        gray = smooth(5, (40, 61))
        for array in (gray, gray.astype(np.uint16) * 257, gray.astype(np.float32) / 255):
            want = (array >= 0.5 * white(array)) * array.dtype.type(white(array))
            self.same(run(array, "label"), want.astype(array.dtype))
            self.same(run(array, "label output=input"), array)
        got = run(gray, "alpha opaque", "label 30%")
        self.same(got, np.dstack([(gray >= 76.5) * np.uint8(255), np.full_like(gray, 255)]))
        self.same(run(gray, "alpha opaque", "label 30% output=labels") > 0, gray >= 76.5)

    def test_gpus_join_as_the_cpu_does(self):
        """Shapes that wind through many tiles of 128 x 32 pixels, and noise; strips of one row of tiles."""
        array = shapes()
        for connectivity in (4, 8):
            for choice in ("", " min-area=3 max-area=300"):
                stage = f"label connectivity={connectivity}{choice} output="
                want = {}
                pictures = run_many(array, {o: [stage + o] for o in ("labels", "mask")}, "--device=cpu", report=want)
                for variant, rows in (("naive", 0), ("tiled", 32)):
                    got = {}
                    options = ("--device=simt", f"--variant={variant}", f"--strip-rows={rows}")
                    self.assertEqual(
                        {o: a.tobytes() for o, a in run_many(array, {o: [stage + o] for o in pictures}, *options,
                                                             report=got).items()},
                        {o: a.tobytes() for o, a in pictures.items()}, f"{stage} {variant}")
                    self.assertEqual([s.get("findings") for s in got["steps"]],
                                     [s.get("findings") for s in want["steps"]], f"{stage} {variant}")

    def test_threads_share_rows(self):
        array = np.tile(shapes(), (4, 3))  # enough for three threads
        array[:, ::142] = 255  # lines from the top to the bottom
        array = np.vstack([array, array[::-1]])[:, :-1]
        results = []
        for threads in (1, 2, 3, 5):
            report = {}
            got = run(array, "label connectivity=4 min-area=40px output=labels", report=report,
                      options=("--device=cpu", f"--threads={threads}"))
            results.append((got.tobytes(), [s.get("findings") for s in report["steps"]]))
        self.assertTrue(all(result == results[0] for result in results[1:]))

    def test_more_components_than_a_gpu_keeps_are_the_hosts(self):
        dots = np.zeros((70, 90), np.uint8)
        dots[::2, ::2] = 255
        for options in (("--device=cpu",), ("--device=simt",)):
            self.assertEqual(run(dots, "label output=labels", options=options)[::2, ::2].ravel().tolist(),
                             list(range(1, 35 * 45 + 1)))

    def test_what_it_refuses(self):
        with self.assertRaisesRegex(ProgramFailed, "gray"):
            run(U(9, 8, 3), "label")
        with self.assertRaisesRegex(ProgramFailed, "nothing would be kept"):
            run(BITS, "label min-area=9 max-area=3")
        dots = np.zeros((600, 600), np.uint8)
        dots[::2, ::2] = 255
        with self.assertRaisesRegex(ProgramFailed, "90000 components"):
            run(dots, "label output=labels")
        self.assertEqual(findings(dots, "label")[0]["count", -1], 90000)


def gaussian_window():
    k = np.exp(-0.5 * (np.arange(-5, 6) / 1.5) ** 2)
    return k / k.sum()


def ssim(a, b, top):
    """Wang's index over the windows inside, in double."""
    def mean(v):
        k = gaussian_window()
        rows = np.stack([np.convolve(r, k, "valid") for r in v])
        return np.stack([np.convolve(c, k, "valid") for c in rows.T]).T

    a, b = a.astype(np.float64), b.astype(np.float64)
    ma, mb = mean(a), mean(b)
    va, vb, vab = mean(a * a) - ma * ma, mean(b * b) - mb * mb, mean(a * b) - ma * mb
    c1, c2 = (0.01 * top) ** 2, (0.03 * top) ** 2
    return ((2 * ma * mb + c1) * (2 * vab + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2))).mean()


class Quality(OracleCase):
    def compare(self, a, b, *options):
        with_file = {}
        got = run_many(a, {"b": ["quality by=\"by.npy\""]}, *options, report=with_file, beside={"by.npy": b})
        self.same(got["b"], a)
        step = [s for s in with_file["steps"] if s.get("findings")][0]
        return {(f["name"], f.get("channel", -1)): f["value"] for f in step["findings"]}

    def test_vectors(self):
        y, x = np.mgrid[0:16, 0:16]
        a = U(16, 16)
        found = self.compare(a, np.clip(a.astype(int) + (16 * y + x) * 7 % 23 - 11, 0, 255).astype(np.uint8))
        self.assertEqual([found[k, -1] for k in ("mse", "mae", "max")], [42.25, 5.609375, 11])
        self.assertAlmostEqual(found["psnr", -1], 31.87253624, 6)
        self.assertAlmostEqual(found["ssim", -1], 0.996413, 6)
        found = self.compare(V(12, 12), V(12, 12) // 2)
        self.assertAlmostEqual(found["mse", -1] / 317260257.8472222, 1, 14)
        self.assertAlmostEqual(found["psnr", -1], 11.31530934669433, 9)
        self.assertAlmostEqual(found["ssim", -1], 0.641434, 6)
        found = self.compare(a, a)
        self.assertEqual([found["mse", -1], found["max", -1], found["ssim", -1]], [0, 0, 1])

    def test_every_format_and_size_equals_numpy(self):
        for dtype in FORMATS:
            for seed, shape in enumerate(((11, 11), (10, 40), (61, 145), (40, 37, 3), (13, 4200))):
                a, b = smooth(seed, shape, dtype), smooth(seed + 1, shape, dtype)
                found, top = self.compare(a, b), white(a)
                d = a.astype(np.float64) - b.astype(np.float64)
                planes = [(a, b, d)] if a.ndim == 2 else [(a[..., c], b[..., c], d[..., c]) for c in range(3)]
                self.assertAlmostEqual(found["mse", -1] / (d * d).mean(), 1, 12)
                self.assertAlmostEqual(found["mae", -1] / np.abs(d).mean(), 1, 12)
                self.assertAlmostEqual(found["max", -1] / np.abs(d).max(), 1, 6)
                for c, (x, y, e) in enumerate(planes):
                    channel = -1 if a.ndim == 2 else c
                    self.assertAlmostEqual(found["psnr", channel], 10 * np.log10(top * top / (e * e).mean()), 9)
                    if min(shape[:2]) < 11:
                        self.assertNotIn(("ssim", channel), found)
                        continue
                    self.assertAlmostEqual(found["ssim", channel], ssim(x, y, top), 11)

    def test_strips_change_nothing(self):
        a, b = smooth(4, (150, 61)), smooth(5, (150, 61))
        whole = self.compare(a, b)
        for variant in ("naive", "tiled"):
            self.assertEqual(self.compare(a, b, "--strip-rows", 8, "--variant", variant), whole)

    def test_what_it_refuses(self):
        for other, message in ((U(8, 9), "differ in shape"), (U(9, 8, 3), "differ in shape")):
            with self.assertRaisesRegex(ProgramFailed, message):
                self.compare(U(9, 8), other)


class Integral(OracleCase):
    def test_vectors(self):
        rows = "3 24 77 176 19 79 208 434 74 217 471 878"
        self.same(run(U(4, 3), "integral"), (np.array(numbers(rows)).reshape(3, 4) / 255).astype(np.float32))
        rows = "3 24 77 176 16 55 131 258 55 138 263 444"
        self.same(run(U(4, 3), "integral rows"), (np.array(numbers(rows)).reshape(3, 4) / 255).astype(np.float32))
        rows = "771 6205 19900 4984 20579 53981"
        self.same(run(V(3, 2), "integral"), (np.array(numbers(rows)).reshape(2, 3) / 65535).astype(np.float32))

    def test_equals_numpy(self):
        for dtype in FORMATS:
            for seed, shape in enumerate(((1, 1), (1, 1100), (70, 1), (61, 145), (50, 37, 3))):
                array = picture(seed + 20, shape, dtype)
                exact = array.astype(np.float64)
                want = {"both": exact.cumsum(0).cumsum(1), "rows": exact.cumsum(1), "columns": exact.cumsum(0)}
                got = run_many(array, {k: [f"integral {k}"] for k in want})
                for k, sums in want.items():
                    if dtype == np.float32:
                        self.near(got[k], sums, f"{k} {shape}")
                    else:
                        self.same(got[k], (sums / white(array)).astype(np.float32), f"{k} {shape}")
                self.same(run(array, "integral", options=("--strip-rows", 7)), got["both"], "strips")

    def test_rows_that_are_cropped_or_read_by_neighbours_are_the_sums(self):
        array = smooth(7, (131, 53))
        sums = (np.cumsum(np.cumsum(array, axis=0, dtype=np.int64), axis=1) / 255).astype(np.float32)
        for way in (("--strip-rows", 7), ("--threads", 3, "--strip-rows", 16),
                    ("--device", "simt", "--strip-rows", 24)):
            chains = {"crop": ["integral", "crop top=100"], "pad": ["integral", "pad top=5 edge=clamp"]}
            got = run_many(array, chains, *way)
            self.same(got["crop"], sums[100:], f"crop {way}")
            self.same(got["pad"], np.vstack([sums[:1]] * 5 + [sums]), f"pad {way}")

    def test_sums_above_255_times_2_to_24_are_rounded_once(self):
        array = np.full((4112, 4112), 255, np.uint8)
        array[::7] -= 1
        exact = array.cumsum(0, dtype=np.float64).cumsum(1)
        self.same(run(array, "integral"), (exact / 255).astype(np.float32))

    def test_equals_opencv(self):
        array = smooth(6, (64, 97))
        self.same(run(array, "integral"), (cv2.integral(array)[1:, 1:] / 255.0).astype(np.float32))


class Distance(OracleCase):
    def shapes_of(self):
        for seed, (shape, share) in enumerate((((1, 1), 0.5), ((1, 300), 0.9), ((70, 1), 0.9), ((61, 145), 0.97),
                                               ((45, 400), 0.9995), ((33, 1100), 0.999))):
            yield (np.random.default_rng(seed + 5).random(shape) < share).astype(np.uint8) * 255

    def test_every_metric_equals_brute_force(self):
        for array in self.shapes_of():
            ground = np.argwhere(array < 128)
            y, x = np.mgrid[0:array.shape[0], 0:array.shape[1]]
            dy, dx = (np.abs(v[..., None] - ground[:, k]) for k, v in ((0, y), (1, x)))
            want = {"l2": np.sqrt((dy * dy + dx * dx).astype(np.float64)), "l1": dy + dx, "linf": np.maximum(dy, dx)}
            got = run_many(array, {k: [f"distance {k}"] for k in want})
            for k, all_of in want.items():
                least = all_of.min(-1) if len(ground) else np.full(array.shape, np.inf)
                self.same(got[k], least.astype(np.float32), f"{k} {array.shape}")

    def test_equals_opencv(self):
        array = (smooth(7, (61, 145)) > 90).astype(np.uint8) * 255
        want = cv2.distanceTransform(array, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
        self.near(run(array, "distance"), want.astype(np.float64))

    def test_floats_levels_and_refusals(self):
        array = np.array([[0.2, 0.7, np.nan, 0.9, 0.9]], np.float32)
        self.same(run(array, "distance"), np.array([[0, 1, 2, 3, 4]], np.float32))
        self.same(run(array, "distance level=80%"), np.array([[0, 0, 1, 2, 3]], np.float32))
        with self.assertRaisesRegex(ProgramFailed, "gray"):
            run(U(9, 8, 3), "distance")


class Canny(OracleCase):
    def test_equals_opencv(self):
        for seed, shape in enumerate(((1, 67), (67, 1), (61, 145), (70, 200))):
            noise = np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
            for array in (smooth(seed, shape), noise, cv2.GaussianBlur(noise, (5, 5), 1.5)):
                levels = ((30, 60), (100, 200), (0, 1), (250, 700))
                cases = [(low, high, gradient) for low, high in levels for gradient in ("l1", "l2")]
                got = run_many(array, {str(c): [f"canny {c[0]}cv high={c[1]}cv gradient={c[2]}"] for c in cases})
                for case in cases:
                    want = cv2.Canny(array, case[0], case[1], L2gradient=case[2] == "l2")
                    self.same(got[str(case)], want, f"{case} {shape}")

    def test_other_formats_are_the_same(self):
        array = smooth(3, (61, 145))
        want = run(array, "canny 20% high=50%") > 0
        self.assertTrue(want.any())
        for other, unit in ((array.astype(np.uint16) * 257, 255), (array.astype(np.float32) / 256, 256)):
            got = run(other, f"canny {51.2 / unit:.9f} high={127.2 / unit:.9f}") > 0
            self.same(got, want, str(other.dtype))
        self.same(run(array, "canny 20% high=50%", options=("--strip-rows", 7)) > 0, want, "strips")

    def test_gpus_join_as_the_cpu_does(self):
        """Edges that wind through many tiles of 128 x 32 pixels; those without a seed go."""
        noise = np.random.default_rng(5).integers(0, 256, (131, 301), dtype=np.uint8)
        for array, low, high in ((cv2.GaussianBlur(noise, (0, 0), 2), 8, 130), (noise, 200, 950)):
            stage = f"canny {low}cv high={high}cv"
            want = run(array, stage, options=("--device=cpu",))
            self.assertTrue(want.any() and (want < cv2.Canny(array, low, low)).any())
            for variant, rows in (("naive", 0), ("tiled", 32)):
                options = ("--device=simt", f"--variant={variant}", f"--strip-rows={rows}")
                self.same(run(array, stage, options=options), want, f"{stage} {variant}")

    def test_what_it_refuses(self):
        for array, stage, message in ((U(9, 8, 3), "canny", "gray"), (U(9, 8), "canny 40% high=20%", "below low"),
                                      (U(9, 8), "canny 50", "50cv"), (U(9, 8), "canny 50cv high=100", "100cv"),
                                      (U(9, 8), "canny 200", "200cv")):
            with self.assertRaisesRegex(ProgramFailed, message):
                run(array, stage)


def bilateral(array, sigma, reach, radius, edge="clamp"):
    """In double; reach in code values."""
    a = array.astype(np.float64).reshape(array.shape[0], array.shape[1], -1)
    wide, (height, width) = pad(a, radius, radius, edge), a.shape[:2]
    num, den = np.zeros_like(a), np.zeros((height, width, 1))
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if dx * dx + dy * dy > radius * radius:
                continue
            q = wide[radius + dy:radius + dy + height, radius + dx:radius + dx + width]
            d = np.abs(q - a).sum(2, keepdims=True)
            k = np.exp(-0.5 * (dx * dx + dy * dy) / sigma ** 2) * np.exp(-0.5 * d * d / reach ** 2)
            num += k * q
            den += k
    return (num / den).reshape(array.shape)


class Bilateral(OracleCase):
    def test_vectors(self):
        rows = ("99.352 103.890 111.849 122.984 135.257 146.702 103.704 108.464 117.166 125.632 135.675 112.449 "
                "112.569 118.275 125.551 132.179 138.678 121.392 124.074 129.092 134.442 111.967 122.035 131.445")
        got = run(U(6, 4) // 4 + 96, "bilateral 1.5px range=10%")
        self.near(got, np.array(numbers(rows)).reshape(4, 6), tie=1e-3)
        rows = "10.968 81.968 152.968 25.164 96.164 167.164 54.274 125.274 196.084 92.036 163.036 232.545"
        self.near(run(U(4, 3, 3), "bilateral 1px range=40%")[0], np.array(numbers(rows)).reshape(4, 3), tie=1e-3)
        got = run(U(5, 4).astype(np.float32) / 255, "bilateral 2px range=20% radius=1px edge=mirror")
        np.testing.assert_allclose(got[0], [0.05852, 0.11784, 0.24850, 0.43465, 0.61671], atol=6e-6)
        np.testing.assert_allclose(got[3], [0.46610, 0.54125, 0.65433, 0.08986, 0.20670], atol=6e-6)

    def test_equals_numpy(self):
        for dtype in FORMATS:
            for seed, shape in enumerate(((1, 1), (1, 67), (33, 129), (40, 37, 3), (21, 30, 2))):
                array, edge = smooth(seed, shape, dtype), list(EDGES)[seed]
                want = bilateral(array, 2.0, 0.15 * white(array), 3, edge)
                got = run(array, f"bilateral 2px range=15% edge={edge}", options=("--strip-rows", 7))
                self.near(got, want, f"{dtype} {shape} {edge}", relative=4e-6, tie=0.05 if dtype == np.uint16 else 1e-3)

    def test_is_opencvs_rounded(self):
        array = smooth(3, (61, 97))
        want = cv2.bilateralFilter(array, 9, 0.1 * 255, 3, borderType=cv2.BORDER_REPLICATE)
        got = run(array, "bilateral 3px range=10%")
        self.assertLess((got != want).mean(), 0.001)
        self.assertLessEqual(np.abs(got.astype(int) - want).max(), 1)


if __name__ == "__main__":
    unittest.main()
