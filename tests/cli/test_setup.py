"""samples/setup.sh on machines that lack things, played by stubs: it installs what is missing, with what is there, or
says what to do."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "samples" / "setup.sh"
TOOLS = ("bash", "sh", "env", "sed", "sort", "head", "grep", "printf", "cat")


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="smp setup "))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.log = self.folder / "log"
        for tool in TOOLS:
            os.symlink(shutil.which(tool), self.bin / tool)
        self.stub("id", "echo 0")
        for tool in ("cc", "c++", "ninja"):
            self.stub(tool, "exit 0")
        self.stub("cmake", "echo 'cmake version 3.25.1'")
        self.stub("pkg-config", "exit 0")
        self.stub("dpkg-query", "exit 1")
        self.stub("apt-get", f'echo "apt-get $*" >>"{self.log}"')

    def stub(self, name, body):
        path = self.bin / name
        path.unlink(missing_ok=True)
        if body is not None:
            path.write_text(f"#!{shutil.which('bash')}\n{body}\n")
            path.chmod(0o755)

    def install(self, status=0):
        script = f'set -euo pipefail; . "{SETUP}"; need_for_build; install_missing'
        environment = {"PATH": str(self.bin), "LC_ALL": "C"}
        done = subprocess.run([shutil.which("bash"), "-c", script], capture_output=True, text=True, env=environment,
                              timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def calls(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def test_nothing_missing_calls_no_apt(self):
        self.assertEqual(self.install(), "")
        self.assertEqual(self.calls(), [])

    def test_only_what_is_missing_is_installed(self):
        self.stub("cmake", "echo 'cmake version 3.18.4'")
        self.stub("pkg-config", '[ "$2" != sndfile ]')
        said = self.install()
        self.assertIn("libsndfile1-dev", said)
        self.assertIn("OGG", said, "it says what for")
        update, install = self.calls()
        self.assertTrue(update.endswith(" update"))
        self.assertTrue(install.endswith("install --no-install-recommends cmake libsndfile1-dev"), install)

    def test_a_user_installs_with_sudo(self):
        self.stub("ninja", None)
        self.stub("id", "echo 1000")
        self.stub("sudo", f'echo "sudo" >>"{self.log}"; exec "$@"')
        self.install()
        self.assertEqual([c.split()[0] for c in self.calls()], ["sudo", "apt-get"] * 2)

    def test_neither_root_nor_sudo(self):
        self.stub("ninja", None)
        self.stub("id", "echo 1000")
        self.assertIn("apt-get install ninja-build", self.install(status=1))
        self.assertEqual(self.calls(), [])

    def test_no_apt_here(self):
        self.stub("ninja", None)
        self.stub("apt-get", None)
        said = self.install(status=1)
        self.assertIn("no apt-get", said)
        self.assertIn("ninja-build", said)

    def test_a_failed_install_is_a_failure(self):
        self.stub("ninja", None)
        self.stub("apt-get", '[ "${!#}" = update ]')
        self.assertIn("could not install: ninja-build", self.install(status=1))

    def test_an_outdated_list_is_no_failure(self):
        self.stub("ninja", None)
        self.stub("apt-get", '[ "${!#}" != update ]')
        self.assertIn("update failed", self.install())


if __name__ == "__main__":
    unittest.main()
