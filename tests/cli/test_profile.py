"""profile: colours of ICC profiles to sRGB, as NumPy has them; what becomes of the profile; profiles of strangers."""
import io
import struct
import unittest

import numpy as np
from PIL import Image, ImageCms

from harness import CliCase, png_chunks

P3 = np.array([(0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407)])
ADOBE = np.array([(0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457)])
SRGB = np.array([(0.43604, 0.22249, 0.01392), (0.38512, 0.71690, 0.09706), (0.14305, 0.06061, 0.71393)])


def fixed(*values):
    return b"".join(struct.pack(">i", round(v * 65536)) for v in values)


PARAMETRIC = b"para\0\0\0\0" + struct.pack(">HH", 3, 0) + fixed(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
GAMMA = b"curv\0\0\0\0" + struct.pack(">IH", 1, 0x0233)  # 2.19921875
POINTS = b"curv\0\0\0\0" + struct.pack(">I", 5) + struct.pack(">5H", 0, 4096, 16384, 36864, 65535)


def icc(colorants=P3, curve=PARAMETRIC, space=b"RGB ", connection=b"XYZ ", tables=(), version=4):
    curves = [b"kTRC"] if space == b"GRAY" else [b"%cTRC" % c for c in b"rgb"]
    tags = list(tables) if tables else [(name, curve) for name in curves]
    for c, v in zip(b"rgb", () if colorants is None or tables else colorants):
        tags.append((b"%cXYZ" % c, b"XYZ \0\0\0\0" + fixed(*v)))
    tags.append((b"cprt", b"text\0\0\0\0" + bytes(33 + i * 7919 % 90 for i in range(99)) + b"\0"))  # libpng wants more
    table, data = b"", b""
    for name, body in tags:
        body += bytes(-len(body) % 4)
        table += name + struct.pack(">II", 132 + 12 * len(tags) + len(data), len(body))
        data += body
    body = struct.pack(">I", len(tags)) + table + data
    kind = b"scnr" if tables else b"mntr"
    head = struct.pack(">I4sI", 128 + len(body), b"none", version << 24) + kind + space + connection + bytes(12)
    return (head + b"acsp" + bytes(28) + fixed(0.9642, 1, 0.8249)).ljust(128, b"\0") + body


def grid_of(points, contrast=1.0):
    """XYZ of a wide gamut with a raised black, at the points of a grid."""
    v = np.stack(np.meshgrid(*[np.linspace(0, 1, points)] * 3, indexing="ij"), -1)
    return (v ** 1.1 @ ADOBE) * (1 - 0.02) * contrast + 0.02 * np.array([0.9642, 1, 0.8249])


def lab_of(xyz):
    t = xyz / np.array([0.9642, 1, 0.8249])
    f = np.where(t > (24 / 116) ** 3, np.cbrt(t), 841 / 108 * t + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def coded(lab, full):
    return np.rint(np.stack([lab[..., 0] / 100, (lab[..., 1] + 128) / 255, (lab[..., 2] + 128) / 255], -1) * full)


def lut(kind, contrast=1.0):
    """Tables from a gamma of 2 to XYZ or Lab: lut8, lut16 or lutAToB."""
    points, ramp = 17, np.linspace(0, 1, 256) ** 2
    xyz = grid_of(points, contrast)
    head = struct.pack(">4sI4B", kind, 0, 3, 3, points, 0)
    if kind == b"mft1":
        grid = coded(lab_of(xyz), 255).clip(0, 255).astype(np.uint8)
        curves = (np.rint(ramp * 255).astype(np.uint8), np.arange(256, dtype=np.uint8))
        return (head + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1) + curves[0].tobytes() * 3 + grid.tobytes() +
                curves[1].tobytes() * 3)
    if kind == b"mft2":
        grid = coded(lab_of(xyz), 65280).clip(0, 65535).astype(">u2")
        curves = (np.rint(ramp * 65535).astype(">u2"), np.array([0, 65535], ">u2"))
        return (head + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1) + struct.pack(">2H", 256, 2) + curves[0].tobytes() * 3 +
                grid.tobytes() + curves[1].tobytes() * 3)
    grid = np.rint(xyz / (1 + 32767 / 32768) * 65535).astype(">u2").tobytes()
    grid = bytes([points] * 3 + [0] * 13 + [2, 0, 0, 0]) + grid + bytes(-len(grid) % 4)
    line, bent = b"curv" + bytes(8), b"para\0\0\0\0" + struct.pack(">HH", 0, 0) + fixed(2)
    matrix = fixed(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
    at = [32, 32 + 36, 32 + 36 + 48, 32 + 36 + 48 + 36, 32 + 36 + 48 + 36 + len(grid)]
    return struct.pack(">4sI4B5I", kind, 0, 3, 3, 0, 0, *at) + line * 3 + matrix + line * 3 + grid + bent * 3


def light(v, curve):
    if curve is PARAMETRIC:
        g, a, b, c, d = np.rint(np.array([2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]) * 65536) / 65536
        return np.where(v >= d, (a * v + b) ** g, c * v)
    points = np.array([0, 4096, 16384, 36864, 65535]) / 65535
    return v ** 2.19921875 if curve is GAMMA else np.interp(v * 4, range(5), points)


def encoded(v):
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.maximum(v, 0) ** (1 / 2.4) - 0.055)


def exact(array, colorants, curve):
    """Code values before rounding."""
    white = 255.0 if array.dtype == np.uint8 else 65535.0
    v = light(array / white, curve)
    if colorants is not None:
        v = v @ (np.linalg.inv(SRGB.T) @ (np.rint(colorants * 65536) / 65536).T).T  # as the profile holds them
    return encoded(np.clip(v, 0, 1)) * white


class Profile(CliCase):
    def put(self, name, array, profile):
        Image.fromarray(array).save(self.folder / name, icc_profile=profile)

    def made(self, name, *options, stage="profile"):
        self.smp("run", "-f", "-e", stage, name, "out.npy", *options)
        return np.load(self.folder / "out.npy")

    def near(self, got, want, limit, what):
        self.assertLessEqual(np.abs(got - want).max(), limit, what)

    def test_known_colours(self):
        colours = np.array([[(200, 64, 32), (16, 200, 90), (90, 180, 60), (255, 0, 0), (128, 128, 128)]], np.uint8)
        self.put("in.png", colours, icc())
        self.assertEqual(self.made("in.png").tolist(),
                         [[[217, 48, 2], [0, 204, 73], [41, 183, 28], [255, 0, 0], [128, 128, 128]]])
        self.assertEqual(self.made("in.png", stage="profile from=display-p3").tolist(), self.made("in.png").tolist())

    def test_compare_sees_the_profile(self):
        self.put("in.png", np.full((9, 8, 3), 90, np.uint8), icc())
        done = self.smp("compare", "-e", "profile", "in.png", "--device", "cpu", "--time-limit", "0.1", "--repeat", "3",
                        "--csv", "-")
        self.assertIn("profile", done.stdout.splitlines()[1])

    def test_every_kind_of_curve_and_device(self):
        rng = np.random.default_rng(1)
        array = rng.integers(0, 256, (40, 71, 3), np.uint8)
        alpha = rng.integers(0, 256, (40, 71, 1), np.uint8)
        for colorants, curve in ((P3, PARAMETRIC), (ADOBE, GAMMA), (P3, POINTS)):
            want = exact(array, colorants, curve)
            self.put("in.png", array, icc(colorants, curve))
            self.put("alpha.png", np.concatenate([array, alpha], 2), icc(colorants, curve))
            made = [self.made("in.png", "--device", device, "--variant", variant)
                    for device in ("cpu", "simt") for variant in ("naive", "tiled")]
            self.near(made[0], want, 0.502, curve[:4])
            for other in made[1:]:
                self.assertTrue(np.array_equal(made[0], other))
            got = self.made("alpha.png")
            self.assertTrue(np.array_equal(got, np.concatenate([made[0], alpha], 2)))
        gray = array[..., 0].copy()
        self.put("gray.png", gray, icc(None, GAMMA, b"GRAY"))
        self.near(self.made("gray.png"), exact(gray, None, GAMMA), 0.502, "gray")
        self.put("deep.png", gray.astype(np.uint16) * 257, icc(None, POINTS, b"GRAY"))
        self.near(self.made("deep.png"), exact(gray.astype(np.uint16) * 257, None, POINTS), 3, "16 bits")

    def test_gray_of_lightness_and_gray_by_tables(self):
        gray = np.arange(0, 250, 5, dtype=np.uint8).reshape(5, 10)
        line = b"curv" + bytes(8)
        self.put("l.tif", gray, icc(None, line, b"GRAY", b"Lab "))
        f = (gray / 2.55 + 16) / 116
        want = encoded(np.where(f > 24 / 116, f ** 3, 108 / 841 * (f - 16 / 116))) * 255
        self.near(self.made("l.tif"), want, 0.502, "CIE L*")
        self.put("t.tif", gray, icc(None, space=b"GRAY", connection=b"Lab ", tables=[(b"A2B0", lut(b"mft1"))]))
        said = self.smp("run", "-e", "profile", "t.tif", "o.png", status=2).stderr
        self.assertIn("is of gray by tables", said)
        self.assertNotIn("display-p3", said)

    def test_tables_of_colours_are_little_cms(self):
        array = np.random.default_rng(5).integers(0, 256, (40, 71, 3), np.uint8)
        srgb, picture = ImageCms.createProfile("sRGB"), Image.fromarray(array)
        intents = {"perceptual": 0, "relative": 1}
        for kind, connection, version in ((b"mft2", b"Lab ", 2), (b"mAB ", b"XYZ ", 4), (b"mft1", b"Lab ", 2)):
            profile = icc(connection=connection, version=version,
                          tables=[(b"A2B0", lut(kind)), (b"A2B1", lut(kind, 0.9))])
            self.put("in.png", array, profile)
            theirs = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            for intent, number in intents.items():
                for words, flags in (("yes", 0x2000), ("no", 0)):
                    if number == 0 and not flags:
                        continue  # to its own sRGB, Little CMS then compensates black points all the same
                    stage = f"profile intent={intent} black-point={words}"
                    way = ImageCms.buildTransform(theirs, srgb, "RGB", "RGB", number, flags)
                    made = self.made("in.png", stage=stage)
                    apart = np.abs(made.astype(int) - np.asarray(ImageCms.applyTransform(picture, way)))
                    self.assertLess(apart.mean(), 0.5, (kind, stage))  # grids bend where sRGB ends
                    self.assertLess((apart > 2).mean(), 0.03, (kind, stage))
            for device, variant in (("cpu", "naive"), ("simt", "tiled"), ("simt", "naive")):
                got = self.made("in.png", "--device", device, "--variant", variant, stage=stage)
                self.assertTrue(np.array_equal(got, made), (kind, device, variant))
        self.put("deep.tif", array, profile)
        self.smp("run", "-f", "-e", "depth 16", "-e", stage, "-e", "depth 8", "deep.tif", "o.npy")
        self.near(np.load(self.folder / "o.npy").astype(int), made.astype(int), 1, "16 bits")

    def test_tables_that_do_not_fit_are_refused(self):
        array = np.zeros((8, 8, 3), np.uint8)
        for kind in (b"mft1", b"mft2", b"mAB "):
            whole = lut(kind)
            for body in (whole[:len(whole) // 2], whole[:40], whole[:8] + b"\4" + whole[9:], b"what" + whole[4:]):
                stream = io.BytesIO()
                Image.fromarray(array).save(stream, "TIFF", icc_profile=icc(connection=b"Lab ",
                                                                            tables=[(b"A2B0", body)]))
                (self.folder / "in.tif").write_bytes(stream.getvalue())
                done = self.smp("run", "-e", "profile", "in.tif", "o.png", status=2)
                self.assertRegex(done.stderr, "colour profile (is damaged|has tables)")

    def test_the_output_has_no_profile_and_says_srgb(self):
        array = np.random.default_rng(2).integers(0, 256, (20, 30, 3), np.uint8)
        for name in ("in.png", "in.jpg", "in.tif"):
            self.put(name, array, icc())
            self.smp("run", "-f", "-e", "profile", name, "out.png")
            kinds = [kind for kind, _ in png_chunks((self.folder / "out.png").read_bytes())]
            self.assertIn(b"sRGB", kinds, name)
            self.assertNotIn(b"iCCP", kinds, name)
            self.smp("run", "-f", "-e", "profile", "-e", "flip vertical", name, "out.jpg")
            self.assertNotIn(b"ICC_PROFILE", (self.folder / "out.jpg").read_bytes(), name)
            self.smp("run", "-f", "-e", "flip vertical", name, "out.jpg")
            self.assertIn(b"ICC_PROFILE", (self.folder / "out.jpg").read_bytes(), name)

    def test_srgb_and_no_profile_stay(self):
        array = np.random.default_rng(3).integers(0, 256, (20, 30, 3), np.uint8)
        self.put("srgb.png", array, icc(SRGB))
        Image.fromarray(array).save(self.folder / "none.png")
        for name in ("srgb.png", "none.png"):
            done = self.smp("run", "-f", "--strip", "-e", "profile", name, "out.npy")
            self.assertEqual(done.stderr, "")
            self.assertTrue(np.array_equal(np.load(self.folder / "out.npy"), array), name)
        self.assertIn("no colour profile", self.smp("run", "-e", "profile missing=error", "none.png", "o.png",
                                                    status=2).stderr)

    def test_files_of_a_batch_have_profiles_of_their_own(self):
        array = np.random.default_rng(4).integers(0, 256, (20, 30, 3), np.uint8)
        (self.folder / "in").mkdir()
        for i, (colorants, curve) in enumerate([(P3, PARAMETRIC), (ADOBE, GAMMA), (P3, POINTS)] * 2):
            self.put(f"in/{i}.png", array, icc(colorants, curve))
        self.smp("batch", "-e", "profile", "in", "-o", "out", "--name", "{stem}.npy", "--jobs", "1")
        for i, (colorants, curve) in enumerate([(P3, PARAMETRIC), (ADOBE, GAMMA), (P3, POINTS)] * 2):
            self.near(np.load(self.folder / f"out/{i}.npy"), exact(array, colorants, curve), 0.502, i)

    def test_what_cannot_be_used_is_refused(self):
        array = np.zeros((8, 8, 3), np.uint8)
        good = icc()
        tag = good.index(b"rTRC")
        beyond = good[:tag + 4] + struct.pack(">II", 0xfffffff0, 0x20) + good[tag + 12:]
        endless = icc(curve=b"curv\0\0\0\0" + struct.pack(">I", 0x7fffffff))
        for profile, says in ((icc(connection=b"Lab "), "no tables of colours"), (icc(None), "damaged"),
                              (beyond, "damaged"), (endless, "damaged"), (good[:131], "damaged"),
                              (icc(None, GAMMA, b"GRAY"), "is of gray")):
            stream = io.BytesIO()
            Image.fromarray(array).save(stream, "TIFF", icc_profile=profile)
            (self.folder / "in.tif").write_bytes(stream.getvalue())
            done = self.smp("run", "-e", "profile", "in.tif", "o.png", status=2)
            self.assertIn(says, done.stderr)
            self.assertIn("from=display-p3", done.stderr)


if __name__ == "__main__":
    unittest.main()
