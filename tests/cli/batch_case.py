"""What tests of commands over many files share: folders of pictures, and what became of them."""
import json
import os
import pathlib
import shutil
import tempfile

from harness import CliCase

# Every output is synced: many small ones want memory, not a disk.
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class BatchCase(CliCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="smp batch ", dir=SCRATCH))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def pictures(self, names, folder="in", width=33, height=21):
        (self.folder / folder).mkdir(exist_ok=True, parents=True)
        for i, name in enumerate(names):
            (self.folder / folder / name).parent.mkdir(exist_ok=True, parents=True)
            self.small_png(f"{folder}/{name}", width + i % 7, height)

    def copies(self, names, width, height, folder="in"):
        """One picture under many names: large ones take long to make."""
        self.pictures(names[:1], folder, width, height)
        for name in names[1:]:
            shutil.copy(self.folder / folder / names[0], self.folder / folder / name)

    def batch(self, *arguments, status=0, **options):
        return self.smp("batch", "-e", "gaussian 1px", *arguments, status=status, **options)

    def outputs(self, folder="out"):
        """{name: bytes} of what people see: without the journal."""
        top = self.folder / folder
        return {
            str(p.relative_to(top)): p.read_bytes()
            for p in sorted(top.rglob("*")) if p.is_file() and not p.name.startswith(".smempipe-journal")
        }

    def lines(self, name="run.jsonl"):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]
