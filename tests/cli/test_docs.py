"""The pages: links and files that they name are there, commands that they show run, what README shows is what is
printed, and no line of them or of the source is too long."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

from harness import PIPELINES, PROGRAM, ROOT, SAMPLES, CliCase

WIDTH = 120
MOST_LINES = {"README.md": 180, "docs/CONTRIBUTING.md": 90, "docs/why.md": 150}
GENERATED = {"docs/results.md"}  # by docs/results.py; rows of its tables are what they are
PAGES = sorted(p for folder in (".", "docs", "kernels") for p in (ROOT / folder).glob("*.md"))
ROOMS = ("src", "kernels", "tests", "docs", "samples", "pipelines", ".ci")
SOURCES = (".c", ".h", ".def", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake", ".pipe")
NAMES = SOURCES + (".md", ".json")
TRIED = ("README.md", "docs/CONTRIBUTING.md", "kernels/README.md")  # whose commands run


NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def needs_nvcc(command):
    return command.startswith("smempipe kernel ") and ".cu" in command


def name_of(page):
    return str(page.relative_to(ROOT))


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)


def blocks(page):
    return re.findall(r"^```\w*\n(.*?)^```", page.read_text(), re.M | re.S)


def tree():
    """Every file of the source, from the root."""
    for room in ROOMS:
        for folder, folders, files in os.walk(ROOT / room):
            folders[:] = [f for f in folders if f != "__pycache__"]
            yield from (pathlib.Path(folder, f) for f in files)


def shape(text):
    """What stays of a report's text where times, sizes, processors, and whether the build has SASS differ."""
    lines = []
    text = re.sub(r"counts: of the GPU kernels.*?, for\s.*?SMs", "counts", text, flags=re.DOTALL)
    text = re.sub(r".*(?=^  on a GPU )", "", text, flags=re.DOTALL | re.MULTILINE)  # above: times, where there is SASS
    for line in text.splitlines():
        if line.startswith("cpu: "):
            continue
        line = re.sub(r"\b(naive|faster|slower|same|unclear)\b *$", "", re.sub(r"\d[\d.e+]*", "#", line))
        lines.append(re.sub(r"\s+", " ", re.sub(r"\bstrips?\b", "strips", line)).strip(" -"))
    return [line for line in lines if line]


class Pages(unittest.TestCase):
    def test_lines_are_short_and_few(self):
        self.assertGreater(len(PAGES), 6)
        for page in PAGES:
            lines = page.read_text().splitlines()
            self.assertLessEqual(len(lines), MOST_LINES.get(name_of(page), 1000), name_of(page))
            if name_of(page) not in GENERATED:
                long = [i for i, line in enumerate(lines, 1) if len(line) > WIDTH]
                self.assertEqual(long, [], f"lines of {name_of(page)} beyond {WIDTH} characters")

    def test_lines_of_the_source_are_short(self):
        long, seen = [], 0
        for path in tree():
            if path.suffix in SOURCES or path.name == "CMakeLists.txt":
                seen += 1
                lines = path.read_text(encoding="utf-8").splitlines()
                long += [f"{name_of(path)}:{i}" for i, line in enumerate(lines, 1) if len(line) > WIDTH]
        self.assertGreater(seen, 300)
        self.assertEqual(long, [], f"lines beyond {WIDTH} characters")

    def test_links_lead_somewhere(self):
        found = 0
        for page in PAGES:
            for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
                if not re.match(r"https?:|#", target):
                    found += 1
                    self.assertTrue((page.parent / target.split("#")[0]).exists(), f"{name_of(page)}: {target}")
        self.assertGreater(found, 10)

    def test_files_that_are_named_are_there(self):
        """Paths in backticks from the root or from src or kernels; a name without a folder is some file's."""
        names = {path.name for path in tree()} | {path.name for path in ROOT.glob("*")}
        found, absent = 0, []
        for page in PAGES:
            for text in re.findall(r"`([^`\s]+)`", prose(page)):
                if re.search(r"[A-Z]{3}|[{}$~<>()]", text.replace("CMakeLists", "").replace("README", "")):
                    continue  # NAME stands for something
                if "/" in text and (text.split("/")[0] in ROOMS or text.endswith(NAMES)):
                    there = any(any(start.glob(text.rstrip("/"))) for start in (ROOT, ROOT / "src", ROOT / "kernels"))
                elif re.fullmatch(r"\w[\w.-]*", text) and text.endswith(NAMES) and not text.startswith("_"):
                    there = text in names
                else:
                    continue
                found += 1
                if not there:
                    absent.append(f"{name_of(page)}: {text}")
        self.assertGreater(found, 50)
        self.assertEqual(absent, [])


class Commands(CliCase):
    def setUp(self):
        super().setUp()
        for folder in (SAMPLES, PIPELINES):
            os.symlink(folder, self.folder / folder.name)
        for name, sample in {
            "in.png": "series/gray.png",
            "photo.png": "chelsea.png",
            "page.jpg": "page.jpg",
            "talk.wav": "chirp.wav",
            "talk.flac": "speech.flac",
            "talk.mp3": "../tests/data/xing.mp3",
            "birds.flac": "field.flac",
            "photos/1.jpg": "series/focus-1.jpg",
            "photos/2.jpg": "series/focus-2.jpg",
            "train/more/3.jpg": "series/focus-3.jpg",
            "recordings/1.flac": "speech.flac",
        }.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SAMPLES / sample, self.folder / name)
        self.write("x.pipe", "gray\ngaussian 1px\n")
        self.environment = {**os.environ, "PATH": f"{os.path.dirname(PROGRAM)}:{os.environ['PATH']}"}

    def shell(self, command):
        return subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, timeout=300
        )

    def commands(self, page):
        for block in blocks(ROOT / page):
            for line in block.splitlines():
                command = re.sub(r"  #.*", "", line.removeprefix("$ ")).strip()
                if re.match(r"([A-Z_]+=\S+ )*smempipe ", command) and "..." not in command:
                    yield command

    def test_commands_run(self):
        tried = 0
        for page in TRIED:
            for command in self.commands(page):
                command = command.split(" | ")[0]
                if needs_nvcc(command) and not NVCC:
                    continue
                words = shlex.split(command)
                words = words[next(i for i, word in enumerate(words) if word == "smempipe") + 1 :]
                if words[0] == "compare":
                    command += " --time-limit 0.2 --repeat 1"
                if words[0] in ("run", "compare"):
                    command += " --force"
                if words[0] == "bench":
                    command += " --help"
                if words[0] == "batch" and "--resume" not in words:
                    command += " --force"
                allowed = (0, 7) if "--fail-on" in words else (0,)
                done = self.shell(command)
                said = done.stderr.decode(errors="replace")
                self.assertIn(done.returncode, allowed, f"{page}: {command}\n{said}")
                tried += 1
        self.assertGreater(tried, 20)

    def test_the_readme_shows_what_is_printed(self):
        shown = [block.split("\n", 1) for block in blocks(ROOT / "README.md") if block.startswith("$ smempipe ")]
        self.assertEqual(len(shown), 4)
        for first, text in shown:
            command = first.removeprefix("$ ")
            if needs_nvcc(command) and not NVCC:
                continue
            if command.startswith("smempipe compare"):
                command = command.replace(" | ", " --time-limit 1 --repeat 3 | ")
            done = self.shell(command)
            self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
            printed = (done.stdout + done.stderr).decode()
            self.assertEqual(shape(text), shape(printed), command)

    def test_the_readme_names_all_formats(self):
        named = re.search(r"^PNG, APNG.*?\. ", (ROOT / "README.md").read_text(), re.M | re.S)[0]
        named = re.sub(r"(JPEG|camera|lossless|Sun) ", r"\1_", re.sub(r"\s+", " ", named))
        named = set(re.split(r"[,;:]? ", named.strip(". ")))
        table = self.smp("help", "formats").stdout.partition("extensions\n")[2].partition("\n\n")[0]
        rows = set(re.findall(r"^  (?:coded )?(\S.*?) +(?:read|written|not here)", table, re.M))
        names = {"NPY": "NumPy", "RAW": "raw", "OpenEXR": "EXR", "M4A and video": "video"}
        self.assertEqual(named, {names.get(row, row).replace(" ", "_") for row in rows} | {"read"})

    def test_a_feed_knows_the_endings_of_all_pictures_and_sounds(self):
        source = (ROOT / "src/python/smempipe/_feed_files.py").read_text()
        table = self.smp("help", "formats").stdout.partition("extensions\n")[2].partition("\n\n")[0]
        table = re.sub(r"\n {20,}", " ", table).splitlines()
        drawn, films = {".pdf", ".svg", ".svgz", ".y4m", ".raw"}, "M4A and video"
        for name, kinds in (("_PICTURES", ("image", "both")), ("_SOUNDS", ("audio",))):
            known = {"." + word for line in re.findall(rf"^{name} = .*?\)$", source, re.M | re.S)
                     for text in re.findall(r'"([^"]*)"', line) for word in text.split()}
            rows = [row.partition(kind)[2].split() for row in table for kind in kinds
                    if re.search(rf" {kind} +\.", row) and films not in row]
            self.assertEqual(known, set().union(*rows) - drawn)


if __name__ == "__main__":
    unittest.main()
