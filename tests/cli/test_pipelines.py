"""Golden runs: every shipped pipeline on the samples gives the samples recorded in tests/golden/pipelines.json.

What is recorded is a hash of the decoded samples (type, shape, values), not of a file: codecs may compress as they
like.
SMP_UPDATE_GOLDEN=1 writes what the program gives now; look at the pictures before committing that.
"""
import csv
import hashlib
import io
import json
import os
import shutil
import unittest

import cv2
import numpy as np
import scipy.io.wavfile
from PIL import Image

from harness import PIPELINES, ROOT, SAMPLES, SANITIZED, CliCase

GOLDEN = ROOT / "tests" / "golden" / "pipelines.json"
PICTURES = ("chelsea.png", "camera.png", "rocket.jpg", "page.jpg")
SOUNDS = ("speech-hum.flac", "field.flac", "chirp.wav")
STEREO_ONLY = ("mid-side",)
TO_PICTURE = ("mel-features", "spectrogram")
SETTINGS = {"album": ("--set", "gain=-3dB"),  # without which it changes nothing
            "podcast-bed": ("--set", f"bed={SAMPLES / 'field.flac'}"),
            "watermark": ("--set", "mark=mark.png"), "caption": ("--set", 'font=""')}  # the built-in one


def digest(array):
    head = f"{array.dtype.str} {array.shape}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(array).tobytes()).hexdigest()


def some(samples, turn):
    """All of them; of a sanitized program one, which the turn says: hashes are the release build's to check."""
    return samples[turn % len(samples):][:1] if SANITIZED else samples


class Pipelines(CliCase):
    def setUp(self):
        super().setUp()
        mark = np.zeros((40, 60), np.uint8)  # a white disk, transparent round it
        cv2.circle(mark, (30, 20), 18, 255, -1)
        Image.fromarray(np.dstack([mark, mark])).save(self.folder / "mark.png")

    def result(self, pipe, picture, *options):
        done = self.smp("run", PIPELINES / f"{pipe}.pipe", SAMPLES / picture, "out.npy", "--force",
                        *SETTINGS.get(pipe, ()), *options)
        said = [line for line in done.stderr.splitlines() if "the format has no place for" not in line
                and "the format NPY has no place for" not in line]
        self.assertEqual(said, [], f"{pipe} on {picture} has something to say")
        return np.load(self.folder / "out.npy")

    def sound(self, pipe, sound, *options):
        done = self.smp("run", PIPELINES / f"{pipe}.pipe", SAMPLES / sound, "out.wav", "--force",
                        *SETTINGS.get(pipe, ()), *options)
        self.assertEqual(done.stderr, "", f"{pipe} on {sound} has something to say")
        return scipy.io.wavfile.read(self.folder / "out.wav")

    def test_golden(self):
        found, golden = {}, json.loads(GOLDEN.read_text())
        for i, pipe in enumerate(sorted(PIPELINES.glob("*.pipe"))):
            if "\nkind audio" in pipe.read_text():
                for sound in ("field.flac",) if pipe.stem in STEREO_ONLY else some(SOUNDS, i):
                    if pipe.stem in TO_PICTURE:
                        found[f"{pipe.stem} {sound}"] = digest(self.result(pipe.stem, sound))
                        continue
                    rate, samples = self.sound(pipe.stem, sound)
                    found[f"{pipe.stem} {sound}"] = f"{rate} {digest(samples)}"
                continue
            for picture in some(PICTURES, i):
                found[f"{pipe.stem} {picture}"] = digest(self.result(pipe.stem, picture))
        if os.environ.get("SMP_UPDATE_GOLDEN") == "1":
            GOLDEN.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        if SANITIZED:
            golden = {name: golden[name] for name in found}
        self.assertEqual(found, golden)

    def test_colours_have_names(self):
        for pipe in ("vignette", "caption"):
            for value in ("fill=red", "fill=[1 0 0]", "fill=#f00"):
                red = self.result(pipe, "chelsea.png", "--set", value)
                want = red if value == "fill=red" else want
                np.testing.assert_array_equal(red, want)

    def test_joined_steps_change_nothing(self):
        for pipe in sorted(PIPELINES.glob("*.pipe")):
            if "\nkind audio" not in pipe.read_text():
                joined, single = (self.result(pipe.stem, "camera.png", *options) for options in ((), ("--no-fuse",)))
                self.assertTrue(np.array_equal(joined, single), pipe.stem)
            elif pipe.stem not in (*STEREO_ONLY, *TO_PICTURE):
                joined, single = (self.sound(pipe.stem, "chirp.wav", *options)[1] for options in ((), ("--no-fuse",)))
                self.assertTrue(np.array_equal(joined, single), pipe.stem)

    # Golden hashes say that nothing changed; these say that what they record is what the pipeline promises.

    def test_one_is_included_among_stages_by_its_name(self):
        self.small_png("in.png", 40, 40)
        self.smp("run", "rounded", "in.png", "a.png", "--set", "radius=50%")
        self.smp("convert", "in.png", "b.png", "-e", "invert", "-e", "invert", "-e", 'include "rounded" radius=50%')
        self.assertTrue(np.array_equal(Image.open(self.folder / "a.png"), Image.open(self.folder / "b.png")))
        self.write("rounded", b"invert\n")  # a file of one's own comes first
        self.smp("convert", "in.png", "c.png", "-e", 'include "rounded"')
        self.smp("convert", "in.png", "d.png", "-e", "invert")
        self.assertTrue(np.array_equal(Image.open(self.folder / "c.png"), Image.open(self.folder / "d.png")))
        (self.folder / "x").mkdir()
        self.write("x/a.pipe", b'include "blur"\n')
        self.write("x/blur", b"invert\n")  # beside the text that names it
        self.smp("convert", "in.png", "x.png", "-e", 'include "x/a.pipe"')
        self.assertTrue(np.array_equal(Image.open(self.folder / "x.png"), Image.open(self.folder / "d.png")))
        self.assertIn("cannot include 'round'",
                      self.smp("convert", "in.png", "e.png", "-e", 'include "round"', status=2).stderr)

    def test_a_thumbnail_averages_what_it_covers(self):
        picture = cv2.imread(str(SAMPLES / "chelsea.png"))[..., ::-1]
        got = self.result("thumbnail", "chelsea.png", "--set", "size=64px")
        self.assertEqual(got.shape, (43, 64, 3))
        area = cv2.resize(picture, (64, 43), interpolation=cv2.INTER_AREA).astype(float)
        self.assertLess(np.abs(got - area).mean(), 4)
        self.assertTrue(np.array_equal(self.result("thumbnail", "chelsea.png", "--set", "size=451px"), picture))

    def test_a_watermark_lies_in_the_corner(self):
        picture = cv2.imread(str(SAMPLES / "chelsea.png"))[..., ::-1].astype(float)
        got = self.result("watermark", "chelsea.png", "--set", "opacity=25%", "--set", "size=13.3%")
        y, x = 300 - 16 - 40 + 20, 451 - 16 - 60 + 30  # the disk's centre
        self.assertEqual(got[y, x].tolist(), np.rint(picture[y, x] * 0.75 + 63.75).tolist())
        picture[y - 20:y + 20, x - 30:x + 30] = got[y - 20:y + 20, x - 30:x + 30]
        self.assertTrue(np.array_equal(got, picture))

    def test_a_coloured_watermark_on_a_gray_picture(self):
        mark = np.zeros((40, 60, 4), np.uint8)
        mark[10:30, 10:50] = 255, 0, 0, 255
        Image.fromarray(mark).save(self.folder / "mark.png")
        gray = cv2.imread(str(SAMPLES / "camera.png"), cv2.IMREAD_GRAYSCALE)
        want = np.dstack([gray] * 3).astype(float)
        height, width = gray.shape
        part = want[height - 56 + 10:height - 56 + 30, width - 76 + 10:width - 76 + 50]
        part[:] = part / 2 + np.array([127.5, 0, 0])
        self.assertTrue(np.array_equal(self.result("watermark", "camera.png", "--set", "size=11.72%"),
                                       np.rint(want)))

    def test_imagenet_makes_gray_pictures_coloured(self):
        got = self.result("imagenet", "camera.png")
        self.assertEqual(got.shape, (224, 224, 3))
        values = got * np.array([.229, .224, .225]) + np.array([.485, .456, .406])
        self.assertLess(np.abs(values - values[..., :1]).max(), 1e-6)

    def test_letterbox_has_the_size_and_bars(self):
        size = ("--set", "width=400px", "--set", "height=300px", "--set", "bars=50%")
        got = self.result("letterbox", "chelsea.png", *size)
        self.assertEqual(got.shape, (300, 400, 3))
        self.assertTrue((got[:17] == 128).all() and (got[283:] == 128).all())
        self.assertFalse((got[17] == 128).all() or (got[282] == 128).all())

    def test_imagenet_is_what_networks_take(self):
        self.smp("run", PIPELINES / "imagenet.pipe", SAMPLES / "chelsea.png", "a.npy", "--layout", "chw")
        got = np.load(self.folder / "a.npy")
        self.assertEqual((got.shape, got.dtype), ((3, 224, 224), np.float32))
        picture = cv2.imread(str(SAMPLES / "chelsea.png"))[..., ::-1]  # 451 x 300
        small = cv2.resize(picture, (385, 256), interpolation=cv2.INTER_AREA)[16:240, 80:304].astype(float) / 255
        want = ((small - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]).transpose(2, 0, 1)
        self.assertLess(np.abs(got - want).mean(), 0.05)

    def test_straighten_turns_and_has_no_corners(self):
        got = self.result("straighten", "chelsea.png", "--set", "angle=10")
        self.assertEqual(got.shape, (240, 361, 3))
        turn = cv2.getRotationMatrix2D((225, 149.5), -10, 1)
        picture = cv2.imread(str(SAMPLES / "chelsea.png"))[..., ::-1]
        want = cv2.warpAffine(picture, turn, (451, 300), flags=cv2.INTER_LINEAR)[30:270, 45:406].astype(float)
        self.assertLess(np.abs(got - want).mean(), 4)

    def test_passport_takes_the_middle(self):
        got = self.result("passport", "chelsea.png", "--set", "width=30", "--set", "height=30", "--set", "dpi=254")
        self.assertEqual(got.shape, (300, 300, 3))
        picture = cv2.imread(str(SAMPLES / "chelsea.png"))[..., ::-1].astype(float) # of 451x300: nothing is scaled
        self.assertLess(np.abs(got - (picture[:, 75:375] + picture[:, 76:376]) / 2).mean(), 2)

    def test_blur_is_a_gaussian(self):
        picture = cv2.imread(str(SAMPLES / "chelsea.png"))[..., ::-1]
        want = cv2.GaussianBlur(picture.astype(np.float64), (17, 17), 2, borderType=cv2.BORDER_REPLICATE)
        self.assertLessEqual(np.abs(self.result("blur", "chelsea.png") - want).max(), 0.51)

    def test_sharpen_raises_contrast_of_detail(self):
        before = cv2.imread(str(SAMPLES / "camera.png"), cv2.IMREAD_GRAYSCALE)
        after = self.result("sharpen", "camera.png")
        detail = [cv2.Laplacian(a.astype(np.float64), cv2.CV_64F).std() for a in (before, after)]
        self.assertGreater(detail[1], 1.3 * detail[0])
        self.assertLess(abs(after.mean() - before.mean()), 2)

    def test_edges_follow_canny(self):
        before = cv2.imread(str(SAMPLES / "camera.png"), cv2.IMREAD_GRAYSCALE)
        after = self.result("edges", "camera.png")
        edges = cv2.Canny(cv2.GaussianBlur(before, (0, 0), 1), 100, 200) > 0
        self.assertGreater(after[edges].mean(), 100)
        self.assertLess(after[~cv2.dilate(edges.astype(np.uint8), np.ones((15, 15))).astype(bool)].mean(), 40)

    def test_count_cells_counts_none_on_an_empty_slide(self):
        for value in (0, 100, 255):
            Image.fromarray(np.full((40, 50), value, np.uint8)).save(self.folder / "empty.png")
            done = self.smp("measure", PIPELINES / "count-cells.pipe", "empty.png", "--csv")
            names, numbers = (line.split(",") for line in done.stdout.splitlines())
            self.assertEqual(dict(zip(names, numbers))["count"], "0")
            self.assertIn("empty.png: 'threshold' finds no level", done.stderr)

    def test_scan_clean_separates_ink_from_paper(self):
        page = self.result("scan-clean", "page.jpg")
        self.assertEqual(page.shape, (640, 480))
        self.assertEqual(set(np.unique(page)), {0, 255})
        ink = page == 0
        self.assertTrue(0.02 < ink.mean() < 0.15, f"{ink.mean():.3f} of the page is ink")
        margins = np.concatenate([ink[:30].ravel(), ink[-40:].ravel(), ink[:, :25].ravel(), ink[:, -20:].ravel()])
        self.assertLess(margins.mean(), 0.002, "shadow came out as ink")
        self.assertGreater(ink[590:, :].sum() + ink[530:560, 300:380].sum(), 50, "text in the shadow is lost")

    def test_photo_rescue_uses_the_whole_range(self):
        dull = (cv2.imread(str(SAMPLES / "chelsea.png")) // 4 + 30).astype(np.uint8)
        cv2.imwrite(str(self.folder / "dull.png"), dull)
        self.smp("run", PIPELINES / "photo-rescue.pipe", "dull.png", "better.png")
        better = cv2.imread(str(self.folder / "better.png"))
        self.assertLessEqual(np.percentile(better, 2), 40)
        self.assertGreaterEqual(np.percentile(better, 98), 200)
        self.assertGreater(better.std(), 2 * dull.std())

    def test_upright_turns_and_changes_nothing_else(self):
        self.assertEqual(self.result("upright", "page.jpg").shape, (640, 480, 3))
        picture = cv2.imread(str(SAMPLES / "chelsea.png"))[..., ::-1]
        self.assertTrue((self.result("upright", "chelsea.png") == picture).all())

    # Of sounds: levels of bands in dB, before and after.

    def band(self, rate, samples, low, high):
        power = np.abs(np.fft.rfft(samples.astype(np.float64), axis=0)) ** 2
        frequency = np.fft.rfftfreq(len(samples), 1 / rate)
        return 10 * np.log10(power[(frequency >= low) & (frequency <= high)].sum() + 1e-30)

    def read(self, sound):
        done = self.smp("run", "-e", "reverse", "-e", "reverse", SAMPLES / sound, "plain.wav", "--force")
        self.assertEqual(done.stderr, "")
        return scipy.io.wavfile.read(self.folder / "plain.wav")

    def test_cutout_leaves_the_thing_alone(self):
        scene = np.full((80, 90, 3), 250, np.uint8)
        cv2.circle(scene, (40, 40), 20, (40, 90, 160), -1)
        cv2.imwrite(str(self.folder / "mug.png"), scene)
        self.smp("run", PIPELINES / "cutout.pipe", "mug.png", "cut.png")
        cut = cv2.imread(str(self.folder / "cut.png"), cv2.IMREAD_UNCHANGED)
        self.assertTrue((cut[..., :3] == scene).all())
        self.assertTrue((cut[..., 3] == np.where(scene[..., 0] == 250, 0, 255)).all())

    def test_an_old_photo_is_brown_between_black_and_white(self):
        ramp = np.arange(256, dtype=np.uint8)[None].repeat(4, 0)
        cv2.imwrite(str(self.folder / "ramp.png"), ramp)
        self.smp("run", PIPELINES / "old-photo.pipe", "ramp.png", "old.png")
        red, green, blue = cv2.imread(str(self.folder / "old.png"))[0, :, ::-1].T.astype(int)
        self.assertTrue((red[64:192] > green[64:192]).all() and (green[64:192] > blue[64:192] + 20).all())
        self.assertEqual((red[0], green[0], blue[0]), (0, 0, 0))

    def test_practice_is_slower_and_a_choir_rings_on(self):
        rate, frames = 22050, 86973
        got_rate, slow = self.sound("practice", "speech-hum.flac")
        self.assertEqual((got_rate, slow.shape), (rate, (round(frames / .8),)))
        _, choir = self.sound("choir", "speech-hum.flac")
        self.assertEqual(choir.shape, (frames + round(1.8 * rate), 2))
        self.assertGreater(np.abs(choir[frames + rate // 10 :]).max(), 10)
        self.assertLess(np.corrcoef(choir.T.astype(float))[0, 1], .97)

    def test_hum_remove_takes_the_hum_and_leaves_the_voice(self):
        rate, before = self.read("speech-hum.flac")
        _, after = self.sound("hum-remove", "speech-hum.flac")
        for harmonic in (1, 2, 3, 5):
            band = (50 * harmonic - 1, 50 * harmonic + 1)
            self.assertLess(self.band(rate, after, *band), self.band(rate, before, *band) - 20)
        self.assertAlmostEqual(self.band(rate, after, 500, 4000), self.band(rate, before, 500, 4000), delta=0.1)
        self.assertLess(abs(after.mean()), 1)

    def test_voice_comes_out_at_its_level(self):
        for pipe, level in (("voice", -23), ("speech-clean", -26)):
            _, after = self.sound(pipe, "speech-hum.flac")
            self.assertAlmostEqual(10 * np.log10(((after / 32768.0) ** 2).mean()), level, delta=0.05)

    def test_a_podcast_has_its_loudness_and_keeps_its_ceiling(self):
        self.sound("podcast", "speech-hum.flac")
        done = self.smp("measure", "-e", "loudness", "out.wav", "--csv")
        row = dict(zip(*(line.split(",") for line in done.stdout.splitlines()[:2])))
        lufs, peak = (next(float(v) for k, v in row.items() if name in k) for name in ("lufs", "true_peak"))
        self.assertAlmostEqual(lufs, -16, delta=0.1)
        self.assertLess(peak, -0.7)

    def test_music_steps_back_for_a_voice(self):
        rate = 16000
        t = np.arange(4 * rate) / rate
        voice = np.where((t > 1) & (t < 3), 0.2 * np.sin(2 * np.pi * 300 * t), 0)
        scipy.io.wavfile.write(self.folder / "voice.wav", rate, voice.astype(np.float32))
        t = np.arange(3 * 44100) / 44100
        bed = 0.2 * np.sin(2 * np.pi * 2000 * t)
        scipy.io.wavfile.write(self.folder / "bed.wav", 44100, bed.astype(np.float32))
        self.smp("run", "-q", PIPELINES / "podcast-bed.pipe", "voice.wav", "out.wav", "--set", "bed=bed.wav")
        got_rate, got = scipy.io.wavfile.read(self.folder / "out.wav")
        self.assertEqual((got_rate, got.shape), (rate, (4 * rate, 2)))

        def level(begin, end, hertz):  # dB
            part = got[int(begin * rate):int(end * rate), 0].astype(float)
            return 20 * np.log10(np.abs(np.fft.rfft(part * np.hanning(len(part))))[round(hertz * (end - begin))] + 1e-3)
        self.assertGreater(level(.2, .9, 2000) - level(1.5, 2.5, 2000), 15)
        self.assertLess(level(3.2, 3.9, 2000), level(.2, .9, 2000) - 60)  # the music has ended
        self.assertGreater(level(1.5, 2.5, 300), level(1.5, 2.5, 2000) + 20)

    def test_speech_to_text_is_mono_at_its_rate(self):
        rate, after = self.sound("speech-to-text", "field.flac")
        self.assertEqual((rate, after.ndim), (16000, 1))
        self.assertEqual(len(after), 32000)

    def test_speech_clean_is_mono_and_narrow(self):
        rate, after = self.sound("speech-clean", "field.flac")
        self.assertEqual(after.ndim, 1)
        self.assertLess(self.band(rate, after, 6500, 11000), self.band(rate, after, 200, 4500) - 40)

    def test_loudness_report_passes_the_sound_on(self):
        self.assertTrue((self.sound("loudness-report", "chirp.wav")[1] == scipy.io.wavfile.read(
            SAMPLES / "chirp.wav")[1]).all())

    def test_mid_side_at_0_is_mono(self):
        _, mono = self.sound("mid-side", "field.flac", "--set", "width=0")
        self.assertTrue((mono[:, 0] == mono[:, 1]).all())
        _, wide = self.sound("mid-side", "field.flac", "--set", "width=2")
        side = [np.abs(a[:, 0].astype(np.float64) - a[:, 1]).mean() for a in (wide, self.read("field.flac")[1])]
        self.assertAlmostEqual(side[0] / side[1], 2, places=3)

    def test_a_spectrogram_of_the_chirp_shows_the_line(self):
        picture = self.result("spectrogram", "chirp.wav").astype(int).sum(axis=2)[16:-20, 46:-56]  # without the axes
        height, width = picture.shape
        seconds = np.arange(width)[5:-5] * 192 / 16000
        bright = (height - 1 - picture.argmax(axis=0)[5:-5]) * 8000 / height
        self.assertLess(np.abs(bright - (50 + (7500 - 50) / 2 * seconds)).max(), 60)

    def test_field_master_fades_and_reaches_its_peak(self):
        rate, after = self.sound("field-master", "field.flac")
        peak = np.abs(after / 2.0**31).max()
        self.assertAlmostEqual(20 * np.log10(peak), -1, places=4)
        self.assertLess(np.abs(after[:20] / 2.0**31).max(), 0.001)


    def test_dataset_stats_adds_up_a_folder(self):
        for name in ("chelsea.png", "rocket.jpg"):
            (self.folder / "set").mkdir(exist_ok=True)
            shutil.copy(SAMPLES / name, self.folder / "set")
        done = self.smp("measure", PIPELINES / "dataset-stats.pipe", "set", "--together", "--json")
        values, counts = json.loads(done.stdout)["together"]
        pixels = np.concatenate([self.result("upright", name).reshape(-1, 3) for name in ("chelsea.png", "rocket.jpg")])
        found = {(f["name"], f["channel"]): f.get("value", f.get("values"))
                 for f in values["findings"] + counts["findings"]}
        for c in range(3):
            self.assertAlmostEqual(found["mean", c], pixels[:, c].mean(), places=9)
            self.assertAlmostEqual(found["deviation", c], pixels[:, c].std(), places=9)
            self.assertEqual(found["counts", c], np.bincount(pixels[:, c], minlength=256).tolist())

    def test_focus_report_ranks_blurred_copies(self):
        sharp = cv2.imread(str(SAMPLES / "camera.png"), cv2.IMREAD_GRAYSCALE)
        (self.folder / "series").mkdir()
        for i, sigma in enumerate((0, 1, 2, 4)):
            cv2.imwrite(str(self.folder / "series" / f"{i}.png"),
                        cv2.GaussianBlur(sharp, (0, 0), sigma) if sigma else sharp)
        done = self.smp("measure", PIPELINES / "focus-report.pipe", "series", "--json")
        spread = [
            f["value"] for file in json.loads(done.stdout)["files"] for f in file["results"][0]["findings"]
            if f["name"] == "deviation"
        ]
        self.assertEqual(len(spread), 4)
        for better, worse in zip(spread, spread[1:]):
            self.assertGreater(better, 1.3 * worse)

    def test_focus_report_is_the_same_of_any_depth(self):
        (self.folder / "depths").mkdir()
        picture = cv2.imread(str(SAMPLES / "camera.png"), cv2.IMREAD_GRAYSCALE)
        cv2.imwrite(str(self.folder / "depths/8.png"), picture)
        cv2.imwrite(str(self.folder / "depths/16.png"), picture.astype(np.uint16) * 257)
        np.save(self.folder / "depths/float.npy", (picture / 255).astype(np.float32))
        done = self.smp("measure", PIPELINES / "focus-report.pipe", "depths", "--csv")
        spread = [float(row["deviation"]) for row in csv.DictReader(io.StringIO(done.stdout))]
        self.assertEqual(len(spread), 3)
        self.assertLess(max(spread) - min(spread), 1e-6)

    def test_normal_map_points_away_from_slopes(self):
        y, x = np.mgrid[0:40, 0:60]
        np.save(self.folder / "ramp.npy", ((x + 2 * y) / 255).astype(np.float32))
        self.smp("run", PIPELINES / "normal-map.pipe", "ramp.npy", "n.npy", "--set", "strength=51px")
        normal = np.load(self.folder / "n.npy")[20, 30] * 2.0 - 1
        want = np.array([-51 / 255, 2 * 51 / 255, 1])  # bright is high; green points up, rows run down
        self.assertTrue(np.allclose(normal, want / np.linalg.norm(want), atol=2e-3), normal)
        flat = self.result("normal-map", "camera.png", "--set", "strength=0.1px").astype(int)
        self.assertLess(np.abs(flat - (127.5, 127.5, 255)).max(), 20)

    def test_despeckle_removes_specks_and_touches_nothing_else(self):
        y, x = np.mgrid[0:80, 0:100]
        clean = np.where((x // 20 + y // 20) % 2, 160, 90).astype(np.uint8)
        noisy, rng = clean.copy(), np.random.default_rng(5)
        at = [(int(r) * 5 + 2, int(c) * 5 + 2) for r, c in {(rng.integers(16), rng.integers(20)) for _ in range(60)}]
        for i, (r, c) in enumerate(at):
            noisy[r, c] = 255 * (i % 2)
        cv2.imwrite(str(self.folder / "noisy.png"), noisy)
        self.smp("run", PIPELINES / "despeckle.pipe", "noisy.png", "out.npy", "--force")
        self.assertTrue((np.load(self.folder / "out.npy") == clean).all())


if __name__ == "__main__":
    unittest.main()
