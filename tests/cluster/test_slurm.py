"""The scripts of samples/cluster in a private Slurm (mini-slurm.sh), and in GNU parallel. Skipped where they are not
installed: apt-get install munge slurmctld slurmd slurm-client parallel."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import FULL, PROGRAM, ROOT  # noqa: E402
from test_tasks import STAGE, TaskCase, environment  # noqa: E402

MINI = str(ROOT / "tests/cluster/mini-slurm.sh")
SAMPLES = ROOT / "samples/cluster"
MPI = os.environ.get("SMEMPIPE_MPI", "")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


def has(*programs):
    return all(shutil.which(program, path=PATH) for program in programs)


class Parallel(TaskCase):
    @unittest.skipUnless(has("parallel"), "GNU parallel is not installed")
    def test_workers_share_a_list(self):
        self.make(24, 4)
        self.write("blur.pipe", "gaussian 3px\n")
        env = environment(PATH=f"{pathlib.Path(PROGRAM).parent}:{PATH}")
        subprocess.run([SAMPLES / "parallel.sh", "3", "blur.pipe", "work.list", "out"],
                       cwd=self.folder, env=env, check=True, timeout=100, stderr=subprocess.DEVNULL)
        self.assertEqual(self.outputs(), self.whole)


class Mpirun(TaskCase):
    @unittest.skipUnless(has("mpirun"), "no mpirun is installed")
    def test_ranks_share_a_list(self):
        self.make(24, 4)
        free = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm": "isolated",
                "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        command = ["mpirun", "-n", "3", PROGRAM, "batch", *STAGE, "--list", "work.list", "-o", "out"]
        for how in ("--claim", "--resume"), ("--shard", "auto", "--resume"):
            subprocess.run([*command, *how], cwd=self.folder, env=environment(**free), check=True, timeout=100,
                           stderr=subprocess.DEVNULL)
            self.assertEqual(self.outputs(), self.whole)
        done = subprocess.run(command, cwd=self.folder, env=environment(**free), timeout=100, text=True,
                              capture_output=True)
        self.assertIn("one of several ranks", done.stderr)


@unittest.skipUnless(has("munged", "slurmctld", "slurmd", "sbatch"), "Slurm is not installed")
class Slurm(TaskCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = tempfile.mkdtemp(prefix="smp-slurm-")
        cls.addClassCleanup(shutil.rmtree, cls.cluster, True)
        cls.addClassCleanup(subprocess.run, [MINI, "stop", cls.cluster], stderr=subprocess.DEVNULL)
        done = subprocess.run([MINI, "start", cls.cluster, "3", "2"], capture_output=True, text=True, timeout=100)
        if done.returncode:
            raise unittest.SkipTest("Slurm does not start here: " + done.stderr[-500:])

    def slurm(self, *command, check=True):
        env = environment(SLURM_CONF=f"{self.cluster}/slurm.conf", PATH=f"{pathlib.Path(PROGRAM).parent}:{PATH}")
        return subprocess.run(list(map(os.fspath, command)),
                              cwd=self.folder, env=env, check=check, timeout=120, text=True, capture_output=True)

    def wait(self, job, seconds=100):
        """Until the job has left the queue; tasks that wait for a date (a node died) start at once."""
        until = time.monotonic() + seconds
        while self.slurm("squeue", "-h", "-j", job, check=False).stdout.strip() and time.monotonic() < until:
            for task in self.slurm("squeue", "-h", "-r", "-t", "PD", "-j", job, "-o", "%A", check=False).stdout.split():
                self.slurm("scontrol", "update", f"JobId={task}", "StartTime=now", check=False)
            time.sleep(0.3)
        self.assertLess(time.monotonic(), until, "the job does not end")

    def test_an_array_shares_a_list(self):
        self.make(24, 4)
        self.write("blur.pipe", "gaussian 3px\n")
        self.slurm("sbatch", "-W", "--array=1-4", "--cpus-per-task=1", "-o", "array-%a.txt", SAMPLES / "array.sh",
                   "blur.pipe", "work.list", "out")
        self.assertEqual(self.outputs(), self.whole)

    def test_steps_and_arrays_take_their_shards(self):
        self.make(24, 4)
        self.write("blur.pipe", "gaussian 3px\n")
        self.write("job.sh", f"#!/bin/bash\nexec {PROGRAM} batch blur.pipe in -r -o array --shard auto\n")
        self.slurm("sbatch", "-W", "--array=0-2", "-o", "shard-%a.txt", "job.sh")
        self.assertEqual(self.outputs("array"), self.whole)
        self.slurm("srun", "-n", "3", PROGRAM, "batch", "blur.pipe", "in", "-r", "-o", "step", "--shard", "auto")
        self.assertEqual(self.outputs("step"), self.whole)
        done = self.slurm("srun", "-n", "2", PROGRAM, "batch", "blur.pipe", "in", "-r", "-o", "plain", check=False)
        self.assertIn("one of several ranks", done.stderr)
        self.assertFalse((self.folder / "plain").exists())

    @unittest.skipUnless(os.access(MPI, os.X_OK), "smempipe-mpi was not built: -DSMP_MPI=ON")
    def test_ranks_of_srun_share_a_list(self):
        version = subprocess.run([os.environ.get("SMEMPIPE_MPIRUN", "mpirun"), "--version"], capture_output=True,
                                 text=True).stdout
        kind = "pmix" if "Open MPI" in version or "OpenRTE" in version else "pmi2"
        kinds = self.slurm("srun", "--mpi=list", check=False)
        if kind not in kinds.stdout + kinds.stderr:
            self.skipTest(f"this Slurm has no {kind}")
        self.make(24, 4)
        self.write("blur.pipe", "gaussian 3px\n")
        self.slurm("sbatch", "-W", "-N1", "-n2", "--cpus-per-task=1", "-o", "ranks.txt",
                   SAMPLES / "ranks.sh", kind, MPI, "batch", "blur.pipe", "--list", "work.list", "-o", "out")
        self.assertEqual(self.outputs(), self.whole)
        self.assertIn("24 files done; 6 of 6 pieces", (self.folder / "ranks.txt").read_text())

    def test_a_job_that_is_told_to_end_queues_itself_again(self):
        self.make(150, 150, width=400, height=300)
        job = self.slurm("sbatch", "--parsable", "--requeue", "--open-mode=append", "-o", "job.txt",
                         SAMPLES / "requeue.sh", PROGRAM, "batch", "-e", "gaussian 3px", "--list", "work.list",
                         "-o", "out", "--claim", "--resume", "--threads", "1", "-j1").stdout.strip()
        until = time.monotonic() + 60
        while not list((self.folder / "out").glob("d?/*.png")) and time.monotonic() < until:
            time.sleep(0.05)
        try:
            self.slurm("scancel", "--batch", "-s", "TERM", job)  # as --signal=B:TERM does before the limit
        except subprocess.CalledProcessError:
            self.skipTest("the job was over before it could be told to end")
        time.sleep(1)
        self.wait(job)
        if "1 of 1 pieces" in (self.folder / "job.txt").read_text().partition("CANCELLED")[0]:
            self.skipTest("the job was over before it could be told to end")
        self.assertIn("terminated", (self.folder / "job.txt").read_text())
        self.assertEqual(self.outputs(), self.whole)

    def test_a_node_dies(self):
        """Slurm finds out by itself after 20 s, which SMP_FULL=1 waits for; else it is told."""
        self.make(60, 3, width=400, height=300)
        self.write("job.sh", "#!/bin/bash\necho \"restarts: ${SLURM_RESTART_COUNT:-0}\"\n"
                   f"{PROGRAM} batch -e 'gaussian 3px' --list work.list -o out --claim --resume --threads 1 -j1\n"
                   "status=$?\n[ -n \"${SLURM_RESTART_COUNT:-}\" ] || until [ -e died ]; do sleep 0.1; done\n"
                   "exit $status\n")
        job = self.slurm("sbatch", "--parsable", "--requeue", "--array=1-3", "-c2", "-o", "lost-%a.txt",
                         "job.sh").stdout.strip()
        until = time.monotonic() + 60  # a task a node; that of n2 has begun
        while time.monotonic() < until:
            task = self.slurm("squeue", "-h", "-w", "n2", "-t", "R", "-o", "%K").stdout.strip()
            told = self.folder / f"lost-{task}.txt"
            if task and told.exists() and "restarts: 0" in told.read_text() and self.outputs():
                break
            time.sleep(0.05)
        subprocess.run([MINI, "down", self.cluster, "n2"], check=True)
        self.write("died", "")
        if not FULL:
            self.slurm("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=died")
        self.wait(job)
        subprocess.run([MINI, "up", self.cluster, "n2"], check=True)
        if not FULL:
            self.slurm("scontrol", "update", "NodeName=n2", "State=RESUME")
        self.assertIn("restarts: 1", told.read_text())
        self.assertEqual(self.outputs(), self.whole)


if __name__ == "__main__":
    unittest.main()
