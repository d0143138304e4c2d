"""What src/packages makes packages by, as far as it can be told without a fresh system: the list of parts of the built
program, scripts that bash can read, images that install what a build needs.

Usage: packages.py BUILD"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGES = ROOT / "src/packages"
BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if __name__ == "__main__" else None


class Packages(unittest.TestCase):
    def test_scripts_are_bash(self):
        scripts = sorted(PACKAGES.glob("*.sh"))
        self.assertGreater(len(scripts), 5)
        subprocess.run(["bash", "-n", *scripts], check=True)
        made = (PACKAGES / "make.sh").read_text()
        for script in scripts:
            if script.name not in ("make.sh", "deb.sh"):
                self.assertIn(f"$here/{script.name}", made)
        wrong = subprocess.run([PACKAGES / "make.sh", "tar"], capture_output=True, text=True, check=False)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("make.sh TARGET OUT", wrong.stderr)

    def test_images_install_what_a_build_needs(self):
        setup = (ROOT / "samples/setup.sh").read_text()
        needed = re.findall(r"(?m)^    need (\S+) ", setup[setup.index("need_for_build"):setup.index("need_for_tests")])
        self.assertIn("libpng-dev", needed)
        for image in ("cpu", "cuda"):
            text = (PACKAGES / f"docker/{image}.Dockerfile").read_text()
            installed = set(text[:text.index("COPY . /src")].split())
            self.assertEqual([name for name in needed if name not in installed], [], image)
            self.assertIn("dpkg-dev", installed)  # finds what a .deb depends on
        arm = (PACKAGES / "arm64.sh").read_text()
        self.assertEqual([name for name in needed if name.startswith("lib") and f"{name}:arm64" not in arm], [])

    def test_image_for_gpus_has_kernels_of_all_of_them(self):
        text = (PACKAGES / "docker/cuda.Dockerfile").read_text()
        self.assertIn("ARG CUDA_ARCHS=all\n", text)
        self.assertIn('-DSMP_CUDA_ARCHS="$CUDA_ARCHS"', text)

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no Debian here")
    def test_a_deb_that_lacks_a_part_in_its_list_is_refused(self):
        def check(listed, needs="libc6 (>= 2.36), libgif7 (>= 5.1), zlib1g (>= 1:1.2)"):
            with tempfile.TemporaryDirectory() as folder:
                tree = pathlib.Path(folder) / "tree"
                (tree / "DEBIAN").mkdir(parents=True)
                (tree / "DEBIAN/control").write_text(
                    "Package: some\nVersion: 1\nArchitecture: all\nMaintainer: nobody <n@n>\n"
                    f"Depends: {needs}\nDescription: some\n")
                if listed is not None:
                    (tree / "usr/share/doc/some").mkdir(parents=True)
                    parts = {"packages": [{"name": name} for name in listed]}
                    (tree / "usr/share/doc/some/smempipe.spdx.json").write_text(json.dumps(parts, indent=1))
                subprocess.run(["dpkg-deb", "-Znone", "-b", tree, f"{folder}/some.deb"], check=True,
                               stdout=subprocess.DEVNULL)
                query = pathlib.Path(folder) / "dpkg-query"  # of a system where libjpeg8 is empty
                query.write_text("#!/bin/sh\ncase \"$*\" in *-L*libjpeg8) echo /usr/share/doc ;;\n"
                                 "*-L*) echo /usr/lib/liba.so.1 ;; *libjpeg8) echo 'libjpeg-turbo8 (>= 1.1), a' ;;\n"
                                 "*) exit 1 ;; esac\n")
                query.chmod(0o755)
                return subprocess.run(["bash", "-euo", "pipefail", "-c", '. "$0"; check_parts "$1"',
                                       PACKAGES / "system.sh", f"{folder}/some.deb"], capture_output=True, text=True,
                                      env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}, check=False)

        self.assertEqual(check(["libgif7", "zlib1g"]).returncode, 0)
        self.assertIn("depends on zlib1g", check(["libgif7", "zlib1g-dev"]).stderr)
        self.assertIn("no library at all", check(["libgif7", "zlib1g"], needs="python3").stderr)
        for listed in (["libgif7", "zlib1g-dev"], None):
            self.assertEqual(check(listed).returncode, 1)
        stands_for = "libc6 (>= 2.38), libjpeg8 (>= 8c)"  # Ubuntu's
        self.assertEqual(check(["libjpeg-turbo8"], needs=stands_for).returncode, 0)
        self.assertIn("depends on libjpeg8", check(["a"], needs=stands_for).stderr)

    @unittest.skipUnless(shutil.which("readelf") and shutil.which("ldd"), "no readelf here")
    def test_libraries_of_another_architecture_are_found_as_ldd_finds_them(self):
        code = ("import bundle, pathlib, sys; files = [pathlib.Path(sys.argv[1])]; "
                "found, walked = bundle.needs(files), bundle.walk(files); "
                "assert {name: path.resolve() for name, path in found.items()} == "
                "{name: path.resolve() for name, path in walked.items()}, (found, walked); print(*found)")
        done = subprocess.run([sys.executable, "-B", "-c", code, BUILD / "smempipe"], capture_output=True, text=True,
                              check=False, cwd=PACKAGES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("libpng16.so.16", done.stdout.split())

    def test_a_library_that_is_opened_is_of_the_programs_architecture(self):
        """The loader's cache may name one for another first, and its program lie outside of PATH."""
        with tempfile.TemporaryDirectory() as folder:
            own = (BUILD / "smempipe").read_bytes()[:20]
            for name, head in (("i386", own[:4] + b"\1" + own[5:18] + b"\3\0"), ("own", own)):
                (pathlib.Path(folder) / name).write_bytes(head)
            lines = [f"\tlibheif.so.1 (libc6) => {folder}/{name}" for name in ("gone", "i386", "own")]
            code = ("import bundle, os, sys; os.environ['PATH'] = '/nowhere'; "
                    "bundle.run = lambda *command: '\\n'.join(sys.argv[2:]); "
                    "print(bundle.lies('libheif.so.1', sys.argv[1]))")
            done = subprocess.run([sys.executable, "-B", "-c", code, BUILD / "smempipe", *lines], capture_output=True,
                                  text=True, check=False, cwd=PACKAGES)
            self.assertEqual(done.stdout.strip(), f"{folder}/own", done.stderr)

    @unittest.skipUnless(shutil.which("strip"), "no strip here")
    def test_the_installed_program_has_at_most_14_MB(self):
        """Kernels for GPUs, and those that count, are in libraries of their own."""
        if "CMAKE_BUILD_TYPE:STRING=Release\n" not in (BUILD / "CMakeCache.txt").read_text():
            self.skipTest("no release build")
        with tempfile.TemporaryDirectory() as folder:
            stripped = pathlib.Path(folder) / "smempipe"
            subprocess.run(["strip", "-o", stripped, BUILD / "smempipe"], check=True)
            self.assertLessEqual(stripped.stat().st_size, 14e6)

    @unittest.skipUnless(shutil.which("dpkg-query"), "no Debian here")
    def test_parts_are_listed_with_their_licences(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "parts.json"
            (pathlib.Path(folder) / "bin").mkdir()
            shutil.copy(BUILD / "smempipe", pathlib.Path(folder) / "bin")
            done = subprocess.run([sys.executable, PACKAGES / "bundle.py", "--sbom", out, folder], capture_output=True,
                                  text=True, check=False)
            if done.returncode and "belongs to no package" in done.stderr:
                self.skipTest(done.stderr.strip())
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads(out.read_text())
        self.assertEqual((told["spdxVersion"], told["dataLicense"]), ("SPDX-2.3", "CC0-1.0"))
        packages = {package["name"]: package for package in told["packages"]}
        self.assertEqual(packages["smempipe"]["licenseDeclared"], "MIT")
        names = [name for name in packages if re.match(r"libpng16|zlib1g", name)]
        self.assertEqual(len(names), 2, sorted(packages))
        for name in names:
            self.assertRegex(packages[name]["licenseComments"], r"names: \w")
            self.assertTrue(packages[name]["versionInfo"])
        for name, package in packages.items():
            whole = "under the GPL as a whole" in package.get("licenseComments", "")
            self.assertEqual(whole, bool(re.match(r"libjbig0|libx265-", name)), name)
        related = {relation["relatedSpdxElement"] for relation in told["relationships"]}
        self.assertEqual(related, {package["SPDXID"] for package in told["packages"]})


if __name__ == "__main__":
    unittest.main()
