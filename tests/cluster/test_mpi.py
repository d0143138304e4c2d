"""smempipe-mpi: ranks that share a list write and say what one process does, also after a rank was killed. Skipped
where it was not built: -DSMP_MPI=ON; apt-get install libopenmpi-dev openmpi-bin, or libmpich-dev mpich."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from test_tasks import STAGE, TaskCase, environment  # noqa: E402

MPI = os.environ.get("SMEMPIPE_MPI", "")
MPIRUN = os.environ.get("SMEMPIPE_MPIRUN", "mpirun")
# As CI can: as root, more ranks than cores, shared memory without ptrace, which containers refuse.
FREE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm": "isolated",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1", "HYDRA_LAUNCHER": "fork"}
LIST = ("--list", "work.list", "-o", "out")


@unittest.skipUnless(os.access(MPI, os.X_OK), "smempipe-mpi was not built: -DSMP_MPI=ON")
class Ranks(TaskCase):
    def ranks(self, count, *arguments, **env):
        return subprocess.Popen([MPIRUN, "-n", str(count), MPI, *arguments], cwd=self.folder,
                                env=environment(**FREE, **env), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, start_new_session=True)

    def run_ranks(self, count, *arguments, status=0, **env):
        task = self.ranks(count, *arguments, **env)
        try:
            output, errors = task.communicate(timeout=100)
        except subprocess.TimeoutExpired:
            os.killpg(task.pid, signal.SIGKILL)
            raise
        self.assertEqual(task.returncode, status, errors)
        return output, errors

    def tearDown(self):
        """Nothing that was started here goes on: ranks, also of a job that was ended, and their decoders."""
        until = time.monotonic() + 20
        while (left := self.started_here()) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(left, [])
        super().tearDown()

    def started_here(self):
        left = []
        for link in pathlib.Path("/proc").glob("[0-9]*/cwd"):
            try:
                if link.parent.name != str(os.getpid()) and os.readlink(link) == str(self.folder.resolve()):
                    left.append(link.parent.name)
            except OSError:
                pass
        return left

    def done_twice(self):
        """Outputs that journals of pieces say to be done more than once. A piece that was left has two names of one
        journal."""
        journals = {path.stat().st_ino: path for path in (self.folder / "out").glob(".smempipe-journal.d/*/*/*")}
        lines = [line.split(" ", 5)[5] for path in journals.values() for line in path.read_text().splitlines()
                 if line.startswith("done")]
        return {line for line in lines if lines.count(line) > 1}

    def test_ranks_do_what_one_process_does(self):
        self.make(24, 4)
        _, errors = self.run_ranks(3, "batch", *STAGE, *LIST, "--report", "run.jsonl")
        self.assertEqual(self.outputs(), self.whole)
        self.assertIn("24 files done; 6 of 6 pieces, 6 done in all", errors)
        self.assertEqual(errors.count("files done"), 1, "one rank alone sums up")
        self.assertEqual(sum(len(self.lines(f"run.{k}-3.jsonl")) for k in (1, 2, 3)), 24)
        _, errors = self.run_ranks(2, "batch", *STAGE, *LIST, "--resume")
        self.assertIn("0 files done, 24 done before", errors)
        measured = ("measure", "-e", "stats", "-e", "histogram", "--list", "work.list")
        parts = self.folder / "parts"
        parts.mkdir()
        for form in ("--json",), ("-t",):
            one = self.smp(*measured, *form, env=environment()).stdout
            self.assertEqual(self.run_ranks(3, *measured, *form, TMPDIR=str(parts))[0], one)
        self.assertEqual([p for p in parts.iterdir() if p.name.startswith("smempipe")], [], "parts are removed")

    def test_files_that_fail(self):
        self.make(12, 2)
        for k in range(2):  # which all are one rank's, maybe
            (self.folder / f"in/film{k}.mkv").write_bytes(b"film by its name")
        self.smp("list", "in", "-r", "-f", "-o", "work.list", "--piece-files", "2")
        for name in self.names[3], self.names[8]:
            (self.folder / "in" / name).write_text("no picture")
        errors = self.run_ranks(2, "batch", *STAGE, *LIST, status=1)[1]
        self.assertRegex(errors, r"10 files done, 2 failed, 2 passed over by their names( \([12] .mkv(, 1 more)?\))?;")
        for name in self.names[3], self.names[8]:
            self.assertEqual(errors.count(f"{name}: "), 1)
        self.assertIn("2 with files that failed", errors)
        before = self.pieces()
        errors = self.run_ranks(2, "batch", *STAGE, *LIST, status=4)[1]
        self.assertEqual(errors.count("--resume continues an earlier run"), 1, errors)
        self.assertEqual(self.pieces(), before)
        told = self.run_ranks(2, "measure", "-e", "stats", "--list", "work.list", "-t", status=1)[1]
        self.assertIn("2 of 12 files failed", told)
        self.assertIn("2 files passed over by their names", told)

    def kill_a_rank(self):
        """Of three that have begun; how many outputs were made until all had ended."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        task = self.ranks(3, "batch", *STAGE, *LIST, "--threads", "1", "-j", "1")
        self.addCleanup(task.communicate)
        until = time.monotonic() + 60
        while len(ranks := self.ranks_below(task.pid)) < 3 and task.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        while not list((self.folder / "out").glob("d?/p*")) and task.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        if len(ranks) < 3 and task.returncode == 0:
            return len(self.outputs())
        self.assertEqual(len(ranks), 3, "ranks were not found in time")
        for number in signal.SIGSTOP, signal.SIGCONT:  # so that they are not done before one is killed
            for rank in ranks[:2]:
                os.kill(rank, number)
            if number == signal.SIGSTOP:
                os.kill(ranks[2], signal.SIGKILL)
        task.communicate(timeout=100)
        made = len(self.outputs())
        if made < len(self.names):
            self.assertNotEqual(task.returncode, 0)
        return made

    def test_a_rank_is_killed(self):
        self.make(60, 2, width=500, height=400)
        for _ in range(5):  # a busy machine: all was done before a signal came
            try:
                before = self.kill_a_rank()
            except ProcessLookupError:
                before = 60
            if before < 60:
                break
        self.assertLess(before, 60, "the ranks were done too soon")
        for name, data in self.outputs().items():
            if not pathlib.Path(name).name.startswith("."):
                self.assertEqual(data, self.whole[name], f"{name} is not whole")
        self.run_ranks(2, "batch", *STAGE, *LIST, "--resume")
        self.assertEqual(self.outputs(), self.whole)
        self.assertEqual(self.done_twice(), set())

    def ranks_below(self, pid):
        """Ranks below this mpirun, by /proc: starters put them in sessions of their own."""
        parents = {}
        for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                head, _, tail = status.read_text().rpartition(")")
                parents[int(head.split(" ", 1)[0])] = (int(tail.split()[1]), head.split("(", 1)[1])
            except OSError:
                pass
        below, found = {pid}, []
        for _ in range(4):
            below |= {p for p, (parent, _) in parents.items() if parent in below}
        for p in sorted(below):
            parent = parents.get(p, (0, ""))[0]
            if parents.get(p, (0, ""))[1].startswith("smempipe-mpi") and \
                    not parents.get(parent, (0, ""))[1].startswith("smempipe-mpi"):
                found.append(p)
        return found

    def test_what_is_refused(self):
        self.make(4, 2)
        for wrong, said in ((("batch", *STAGE, "in", "-o", "out"), "ranks share a list"),
                            (("batch", *STAGE, *LIST, "--claim"), "rank 0 deals the pieces"),
                            (("measure", "-e", "stats", "in"), "ranks share a list"),
                            (("info", "in"), "not of info")):
            errors = self.run_ranks(2, *wrong, status=2)[1]
            self.assertEqual(errors.count(said), 1, errors)
        alone = subprocess.run([MPI, "batch", *STAGE, *LIST], cwd=self.folder, text=True, capture_output=True,
                               env=environment(**FREE, SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="4"), timeout=100)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("MPI finds one rank", alone.stderr)
        other = subprocess.run([MPI, "batch", *STAGE, *LIST], cwd=self.folder, text=True, capture_output=True,
                               env=environment(**FREE, SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="4"), timeout=100)
        self.assertEqual((other.returncode, other.stderr), (0, ""), "one of them says so")
        self.assertFalse((self.folder / "out").exists())
        subprocess.run([MPI, "batch", *STAGE, *LIST, "-q"], cwd=self.folder, env=environment(**FREE), timeout=100,
                       check=True)
        self.assertEqual(self.outputs(), self.whole)


if __name__ == "__main__":
    unittest.main()
