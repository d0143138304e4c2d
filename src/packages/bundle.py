#!/usr/bin/env python3
"""Puts the libraries that smempipe needs beside it, and says what they are: a list of all parts (SPDX 2.3) and the
licence of each.

    bundle.py BUILD OUT          installs a build folder as OUT/smempipe-VERSION-linux-ARCH, which runs where it lies
    bundle.py --sbom OUT ROOT    writes the list of what the programs under ROOT need, for a .deb, which has none of it
    bundle.py --wheel WHEEL      adds list and licences of the libraries that auditwheel put into a wheel

Runs on the Debian or Ubuntu whose libraries they are: dpkg tells their packages. Only Python and, for a folder,
patchelf; for programs of another architecture, readelf."""
import base64
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What every Linux has, in a version that must fit its kernel and loader.
SYSTEM = re.compile(r"^(ld-linux|libc\.so|libm\.so|libdl\.so|libpthread\.so|librt\.so|libresolv\.so|linux-vdso|"
                    r"libstdc\+\+\.so|libgcc_s\.so)")
# What is opened while the program runs and belongs to it, which ldd does not see. (FFmpeg's libraries do not.)
OPENED = ("libheif.so.1",)

README = """bin/smempipe runs where it lies; `bin/smempipe help` begins. licences/ has the licence of each library in
lib/smempipe/needed, smempipe.spdx.json their list. smempipe itself is under the MIT licence (licences/smempipe).
{gpl}"""
# Libraries under the GPL as a whole, as Debian and Ubuntu build them: JBIG-KIT, x264, x265, and FFmpeg with these.
# Copyright files do not tell it: they name each licence that any file of the sources has.
GPL = re.compile(r"lib(jbig|x26[45]|xvidcore|avcodec|avformat|avutil|swresample|swscale|postproc)")
# The folder of each architecture's libraries, by the number that ELF has for it.
TRIPLETS = {62: "x86_64-linux-gnu", 183: "aarch64-linux-gnu"}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def programs(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink() and is_elf(path)]


def architecture(path):
    with open(path, "rb") as file:
        return int.from_bytes(file.read(20)[18:], "little")


def kind(path):
    """Word size and architecture: a system may hold a library for several."""
    with open(path, "rb") as file:
        head = file.read(20)
    return head[4], head[18:]


def cached():
    """The lines of the loader's cache. Only root has its program in PATH everywhere."""
    program = shutil.which("ldconfig", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin")))
    if not program:
        raise SystemExit("there is no ldconfig, which tells where libraries lie")
    return run(program, "-p").splitlines()


def lies(name, program):
    """Where the loader finds a library that the program opens."""
    found = (re.match(rf"\s*{re.escape(name)} .* => (\S+)$", line) for line in cached())
    path = next((at[1] for at in found if at and os.path.exists(at[1]) and kind(at[1]) == kind(program)), None)
    if not path:
        raise SystemExit(f"{name} => not found, which smempipe opens")
    return pathlib.Path(path)


def opened_by(paths):
    """Those of OPENED whose names the files hold."""
    return [name for name in OPENED if any(name.encode() + b"\0" in path.read_bytes() for path in paths)]


def walk(paths):
    """What ldd tells, without running anything: for programs of another architecture."""
    found, seek = {}, list(paths)
    while seek:
        path = seek.pop()
        told = run("readelf", "-dW", str(path))
        own = re.search(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", told)
        own = own[1].replace("$ORIGIN", str(path.resolve().parent)).split(":") if own else []
        triplet = TRIPLETS[architecture(path)]
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", told) + (opened_by([path]) if path in paths else []):
            if name in found or SYSTEM.match(name) or "smempipe" in name:
                continue
            folders = [*own, f"/lib/{triplet}", f"/usr/lib/{triplet}", *(str(each.parent) for each in paths)]
            at = next((pathlib.Path(folder, name) for folder in folders if os.path.exists(f"{folder}/{name}")), None)
            if at is None:
                raise SystemExit(f"{name} => not found, which {path} needs")
            found[name] = at
            seek.append(at)
    return found


def needs(paths):
    """{soname: path} of the libraries that the files load, system's left out."""
    found = {}
    if any(TRIPLETS.get(architecture(path), "").split("-")[0] != os.uname().machine for path in paths):
        return walk(paths)
    for name in opened_by(paths):
        found[name] = lies(name, paths[0])
    for line in run("ldd", *map(str, paths), *map(str, found.values())).splitlines():
        at = re.match(r"\s*(\S+) => (\S+)", line)
        if "not found" in line and "smempipe" not in line:
            raise SystemExit(line.strip())
        if at and not SYSTEM.match(at[1]) and "smempipe" not in at[1]:
            found[at[1]] = pathlib.Path(at[2])
    return found


def packages_of(paths):
    """{path: Debian package}. dpkg knows a file with or without /usr in front, and asks for all at once."""
    names = {}
    for path in paths:
        real = str(path.resolve())
        for name in (real, real.removeprefix("/usr"), str(path), "/usr" + str(path)):
            names.setdefault(name, path)
    done = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True, check=False)
    found = {}
    for line in done.stdout.splitlines():
        package, _, name = line.partition(": ")
        if name in names and not package.startswith("diversion"):
            found[names[name]] = package.split(",")[0]
    return found


def describe(packages):
    """{package: name, version, source and licences}."""
    told = {}
    lines = run("dpkg-query", "-W", "-f", "${binary:Package}\t${Package}\t${Version}\t${source:Package}\t"
                "${Architecture}\n", *packages)
    for line in lines.splitlines():
        full, name, version, source, arch = line.split("\t")
        text = pathlib.Path(f"/usr/share/doc/{name}/copyright")
        words = text.read_text(errors="replace") if text.exists() else ""
        licences = sorted({each.strip() for each in re.findall(r"(?m)^License:\s*(\S.*)$", words)})
        told[full] = told[name] = {"name": name, "version": version, "source": source, "licences": licences,
                                   "text": text, "architecture": arch}
    return told


def own_version():
    return re.search(r'SMP_VERSION "([0-9.]+)"', (ROOT / "src/base/version.h").read_text())[1]


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def distribution():
    """Its name, and what package URLs call it."""
    told = pathlib.Path("/etc/os-release").read_text()
    name = re.search(r'(?m)^ID="?(\w+)', told)[1]
    return name.capitalize(), name


def spdx(parts, held=None):
    """The list. parts: [(package, [files])] that the programs need; held: {name: bytes} of those that lie in the
    package itself."""
    when = int(os.environ.get("SOURCE_DATE_EPOCH", pathlib.Path(ROOT / "CHANGELOG.md").stat().st_mtime))
    created = datetime.datetime.fromtimestamp(when, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    version, (maker, scheme) = own_version(), distribution()
    packages = [{"SPDXID": "SPDXRef-smempipe", "name": "smempipe", "versionInfo": version,
                 "downloadLocation": "NOASSERTION", "licenseConcluded": "MIT", "licenseDeclared": "MIT",
                 "copyrightText": "2026 The smempipe authors",
                 "filesAnalyzed": False}]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-smempipe"}]
    files = []
    for part, sources in parts:
        told = "; ".join(part["licences"]) or "none in a form that programs read"
        whole = ". As it is built there, it is under the GPL as a whole" if GPL.match(part["name"]) else ""
        packages.append({
            "SPDXID": identifier(part["name"]), "name": part["name"], "versionInfo": part["version"],
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
            "licenseComments": f"Licences that the copyright file of {maker}'s package names: {told}{whole}",
            "sourceInfo": f"built from {maker}'s source package {part['source']}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator":
                              f"pkg:deb/{scheme}/{part['name']}@{part['version']}?arch={part['architecture']}"}]})
        relations.append({"spdxElementId": "SPDXRef-smempipe", "relatedSpdxElement": identifier(part["name"]),
                          "relationshipType": "CONTAINS" if held else "DEPENDS_ON"})
        for path in sources if held else []:
            name, data = held[path]
            files.append({"SPDXID": identifier("file-" + name), "fileName": f"./{name}", "checksums": [
                {"algorithm": kind, "checksumValue": hashlib.new(kind.lower(), data).hexdigest()}
                for kind in ("SHA1", "SHA256")], "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"})
            relations.append({"spdxElementId": files[-1]["SPDXID"], "relatedSpdxElement": identifier(part["name"]),
                              "relationshipType": "GENERATED_FROM"})
    names = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([packages, files, created]))
    return json.dumps({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
                       "name": f"smempipe-{version}", "documentNamespace": f"urn:uuid:{names}",
                       "creationInfo": {"created": created, "creators": ["Tool: smempipe-bundle"]},
                       "packages": packages, **({"files": files} if files else {}),
                       "relationships": relations}, indent=1) + "\n"


def group(libraries):
    """[(package, [files])] of {soname: path}."""
    if not libraries:
        return []
    owners, by_name = packages_of(libraries.values()), {}
    for path in libraries.values():
        if path not in owners:
            raise SystemExit(f"{path} belongs to no package, so that its licence is unknown")
        by_name.setdefault(owners[path], []).append(path)
    told = describe(by_name)
    return [(told[package], files) for package, files in sorted(by_name.items())]


def put_licences(parts, folder):
    """Those of the parts, and the licences that they refer to (/usr/share/common-licenses/GPL-2)."""
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", folder / "smempipe")
    for part, _ in parts:
        if not part["text"].exists():
            raise SystemExit(f"{part['text']} is not here, so that the licence of {part['name']} is unknown")
        shutil.copy(part["text"], folder / part["name"])
        for common in re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9])",
                                 part["text"].read_text(errors="replace")):
            if os.path.isfile(f"/usr/share/common-licenses/{common}"):
                shutil.copy(f"/usr/share/common-licenses/{common}", folder / common)


def under_gpl(parts):
    """What a README says of parts that are under the GPL as a whole."""
    names = [part["name"] for part, _ in parts if GPL.match(part["name"])]
    many = ", ".join(names)
    return f"{many}: under the GPL (version 2 or later), and so is a copy of all this.\n" if names else ""


def bundle(build, out):
    if not shutil.which("patchelf"):
        raise SystemExit("there is no patchelf: apt-get install patchelf")
    machine = os.uname().machine
    top = out / f"smempipe-{own_version()}-linux-{machine}"
    run("cmake", "--install", str(build), "--prefix", str(top), "--strip")
    libraries = needs(programs(top))
    inside = top / "lib" / "smempipe" / "needed"
    inside.mkdir(parents=True)
    for name, path in libraries.items():
        shutil.copy(path.resolve(), inside / name)
    for path in programs(top):
        where = os.path.relpath(inside, path.parent)
        run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN" if where == "." else f"$ORIGIN/{where}", str(path))
    parts = group(libraries)
    put_licences(parts, top / "licences")
    held = {path: (f"lib/smempipe/needed/{name}", (inside / name).read_bytes()) for name, path in libraries.items()}
    (top / "smempipe.spdx.json").write_text(spdx(parts, held))
    (top / "README").write_text(README.format(gpl=under_gpl(parts)))
    print(f"{top}: {len(libraries)} libraries of {len(parts)} packages")


def add_to_wheel(wheel):
    """auditwheel renames libraries (libpng16-8f2c.so.16.1): their packages are found by the names in front."""
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        entries = [(info, archive.read(info.filename)) for info in archive.infolist()]
        data_of = {info.filename: data for info, data in entries}
        held = [info.filename for info, _ in entries if ".libs/" in info.filename and not info.is_dir()]
        libraries, lie = {}, {}
        for name in held:
            real = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", pathlib.Path(name).name)
            found = [line.split(" => ")[1] for line in cached()
                     if " => " in line and os.path.realpath(line.split(" => ")[1]).endswith("/" + real)
                     or line.strip().startswith(real + " ")]
            if not found:
                raise SystemExit(f"{name}: no library of this system has that name, so that its licence is unknown")
            libraries[real] = pathlib.Path(found[0])
            lie[libraries[real]] = name, data_of[name]
        parts = group(libraries)
        info = next(name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name)
        licences = pathlib.Path(folder) / "licences"
        put_licences(parts, licences)
        more = {f"{info}/licenses/{path.name}": path.read_bytes() for path in sorted(licences.iterdir())}
        more[f"{info}/sboms/smempipe.spdx.json"] = spdx(parts, lie).encode()
    record, rewritten = f"{info}/RECORD", wheel.with_suffix(".new")
    lines = next(data for entry, data in entries if entry.filename == record).decode().splitlines()
    lines = [line for line in lines if line.split(",")[0] not in more]
    for name, data in more.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.insert(0, f"{name},sha256={digest},{len(data)}")
    with zipfile.ZipFile(rewritten, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in entries:
            if entry.filename != record and entry.filename not in more:
                archive.writestr(entry, data)
        for name, data in [*more.items(), (record, ("\n".join(lines) + "\n").encode())]:
            archive.writestr(name, data)
    rewritten.replace(wheel)
    print(f"{wheel}: {len(held)} libraries of {len(parts)} packages")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--wheel":
        return add_to_wheel(pathlib.Path(sys.argv[2]))
    if len(sys.argv) == 4 and sys.argv[1] == "--sbom":
        out, root = map(pathlib.Path, sys.argv[2:])
        return out.write_text(spdx(group(needs(programs(root))))) and None
    if len(sys.argv) == 3:
        return bundle(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
    raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
