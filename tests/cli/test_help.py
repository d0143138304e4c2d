"""Help and listings: what they say of commands, stages, topics and pipelines, and that they fit."""
import json
import re
import unittest

from harness import PIPELINES, SAMPLES, CliCase

COMMANDS = ("convert", "run", "check", "explain", "bank", "completion", "stages", "pipelines", "info", "diff",
            "devices", "help")
BLUR = PIPELINES / "blur.pipe"


class Help(CliCase):
    def test_help_of_a_pipeline_tells_its_parameters(self):
        for arguments in (
            ("run", BLUR, "--help"),
            ("run", "blur", "--help"),
            (BLUR, "--help"),
            ("batch", "blur", "-h"),
        ):
            self.assertRegex(self.smp(*arguments).stdout, r"\n  sigma=2px +how far details are smeared")

    def test_short_help_is_one_screen(self):
        for command in ("convert", "run", "batch", "measure", "explain", "compare", "info", "diff"):
            text = self.smp(command, "-h").stdout
            self.assertLessEqual(len(text.splitlines()), 42, text)
            self.assertLess(len(text.splitlines()), len(self.smp(command, "--help").stdout.splitlines()))
            self.assertIn(f"smempipe {command} --help", text)

    def test_short_help_tells_whole_thoughts(self):
        commands = re.findall(r"^  ([a-z]+) {2}", self.smp("help").stdout.split("first steps")[0], re.M)
        self.assertGreater(len(commands), 20)
        for command in commands:
            text = self.smp(command, "-h").stdout
            self.assertLessEqual(len(text.splitlines()), 42, text)
            self.assertNotIn("options:\n\n", text)
            rows = re.sub(r"\n {20,}", " ", text)  # each option in a line
            self.assertNotRegex(rows, r"(?m)^ +-.*([,:(]| (or|and|a|an|the|of))$")

    def test_stages_of_sound_speak_of_frames(self):
        rows = json.loads(self.smp("stages", "--json").stdout)
        makes_pictures = ("spectrogram", "waveform", "mel", "stft")
        names = [row["name"] for row in rows if row["domain"] == "audio" and row["name"] not in makes_pictures]
        self.assertGreater(len(names), 20)
        for name in names:
            text = self.smp("help", name).stdout
            self.assertNotRegex(text.replace("pixel by pixel, or frame by frame", "").replace("pixels or frames", ""),
                                r"pixel|a picture @name", name)
        self.assertIn("a sound @name", self.smp("help", "mix").stdout)
        self.assertIn("the same frame", self.smp("explain", "-e", "gain -3dB").stdout)

    def test_options_are_there_where_they_do_something(self):
        for command, absent in (("stages", "force"), ("stages", "max-pixels"), ("help", "device"), ("diff", "threads"),
                                ("check", "device"), ("info", "force")):
            with self.subTest(command=command, absent=absent):
                self.assertNotIn(f"--{absent}", self.smp(command, "--help").stdout)
                self.assertIn("unknown option", self.smp(command, f"--{absent}=1", status=2).stderr)
        self.assertIn("--max-pixels", self.smp("info", "--help").stdout)

    def test_help_is_data_with_two_examples(self):
        for command in COMMANDS:
            for arguments in ((command, "--help"), ("help", command)):
                done = self.smp(*arguments)
                self.assertEqual(done.stderr, "", arguments)
                self.assertGreaterEqual(done.stdout.count(f"smempipe {command}"), 2, arguments)
        self.assertEqual(self.smp("--help").stdout, self.smp("help").stdout)
        overview = self.smp("--help").stdout
        for command in COMMANDS:
            self.assertIn(command, overview)
        self.assertRegex(self.smp("--version").stdout, r"^smempipe \d+\.\d+\.\d+")

    def test_stages_are_listed_and_explained(self):
        listing = self.smp("stages").stdout
        stages = json.loads(self.smp("stages", "--json").stdout)
        stages = stages["stages"] if isinstance(stages, dict) else stages
        names = [s["name"] for s in stages]
        for name in (
                "transpose transverse rotate flip gaussian box convolve correlate sobel laplacian sharpen histogram "
                "equalize levels threshold stats gray invert gamma matrix depth add subtract multiply divide "
                "blend").split():
            self.assertIn(name, names)
            self.assertIn(name, listing)
            one = self.smp("stages", name).stdout
            for parameter in next(s for s in stages if s["name"] == name).get("parameters", []):
                self.assertIn(parameter["name"], one)

    def test_statements_of_the_language_have_help(self):
        for word in ("save", "include", "param", "light"):
            self.assertIn(f"  {word} ", self.smp("help", word).stdout)
        self.assertIn("for IN, which it needs", " ".join(self.smp("explain", "--help").stdout.split()))

    def test_commands_that_write_nothing_do_not_say_so(self):
        self.write("cut.png", (SAMPLES / "chelsea.png").read_bytes()[:3000])
        for words in (("info",), ("show",), ("measure", "-e", "stats"), ("diff", "cut.png")):
            for name in ("cut.png", "none.png"):
                self.assertNotIn("nothing was written", self.smp(*words, name, status=(1, 3)).stderr)

    def test_topics_name_options_that_there_are(self):
        options = {word for name in COMMANDS for word in re.findall(r"--[a-z0-9-]+", self.smp("help", name).stdout)}
        for topic in ("language", "draws", "exit-codes", "formats", "edge", "banks"):
            said = set(re.findall(r"--[a-z0-9-]+", self.smp("help", topic).stdout))
            self.assertEqual(said - options, set(), topic)

    def test_listings_fit_and_end_cleanly(self):
        topics = [("help", topic) for topic in (*COMMANDS, "language", "exit-codes", "formats", "edge", "banks")]
        for arguments in (*topics, ("help",), ("stages",), ("devices",), ("explain", BLUR),
                          ("explain", BLUR, SAMPLES / "chelsea.png", "--device", "simt")):
            for line in self.smp(*arguments).stdout.splitlines():
                self.assertEqual(line, line.rstrip())
                if str(SAMPLES) not in line and str(BLUR) not in line:
                    self.assertLessEqual(len(line), 100, line)


if __name__ == "__main__":
    unittest.main()
