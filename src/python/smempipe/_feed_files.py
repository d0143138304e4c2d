"""What a Feed reads: names, where they lie, labels; and whose turn is when."""
import csv
import glob
import json
import os
import re
import warnings
import zlib

import numpy as np

from . import _library as _c

_SOUNDS = frozenset("wav wave rf64 flac mp3 mp2 mpga opus ogg oga m4a m4b aiff aif aifc caf w64".split())
_PICTURES = frozenset("jpg jpeg jpe jfif png apng webp tif tiff bmp dib gif heic heif hif avif qoi tga ppm pgm pnm pam "
                      "pfm psd psb hdr npy ico cur dds pcx jxl jp2 j2k jpc j2c jpx exr dng cr2 cr3 crw nef nrw arw sr2 "
                      "raf orf rw2 pef srw mrw ljpg ljpeg sgi ras sun xbm".split())
_LABELS = ("cls", "txt", "json")  # of a tar's members, in this order where labels= names none
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ROUNDS = 8
_MOST_LABEL = 1 << 20  # bytes
# Only srun sets SLURM_STEP_NUM_TASKS; a batch script has SLURM_PROCID and SLURM_NTASKS too, and is one.
_RANKS = (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
          ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"))


def permute(at, count, seed, epoch):
    """Which samples come at these places of the shuffled order: a Feistel network over the next even number of bits,
    walked until a value below count comes. It needs no list, whatever count is, and differs in each epoch."""
    half = np.uint64(max(1, (int(count - 1).bit_length() + 1) // 2))
    mask = np.uint64((1 << int(half)) - 1)
    keys = np.random.Philox(key=np.array([seed, epoch], np.uint64)).random_raw(_ROUNDS)
    value = np.array(at, np.uint64)
    outside = np.ones(len(value), bool)
    while outside.any():
        left, right = value[outside] >> half, value[outside] & mask
        for key in keys:
            mixed = (right ^ key) * np.uint64(0xBF58476D1CE4E5B9)  # SplitMix64's steps
            mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
            left, right = right, left ^ (mixed ^ mixed >> np.uint64(31)) & mask
        value[outside] = left << half | right
        outside = value >= np.uint64(count)
    return value.astype(np.int64)


def share(count, rank, world, batch, last):
    """The samples and batches of a rank in an epoch. keep: each sample once, ranks differ by one at most; pad: whole
    batches, as many for every rank, filled with samples of the epoch's beginning; drop: whole batches alone."""
    if last == "keep":
        mine = (count - rank + world - 1) // world
        return mine, -(-mine // batch)
    batches = -(-(-(-count // world)) // batch) if last == "pad" else count // world // batch
    return batches * batch, batches


def _number_of(name):
    try:
        return int(os.environ[name])
    except ValueError:
        raise ValueError(f"{name}={os.environ[name]!r} in the environment is no number; unset it, or give rank= and "
                         "world=") from None


def rank_of_environment(rank, world):
    """Given ones, or torchrun's, Slurm's, Open MPI's, PMI's; Kubernetes' with world= given."""
    index = os.environ.get("JOB_COMPLETION_INDEX")
    if rank is None and world is None:
        for number, count in _RANKS:
            if number in os.environ and count in os.environ:
                rank, world, index = _number_of(number), _number_of(count), None
                break
        if index is not None:
            raise ValueError("JOB_COMPLETION_INDEX says which pod this is, and not of how many: give world=")
    elif rank is None and index is not None:
        rank = _number_of("JOB_COMPLETION_INDEX")
    if (rank is None) != (world is None):
        raise ValueError("rank= and world= belong together: the number of this process from 0, and of how many")
    if rank is not None and not 0 <= rank < world:
        raise ValueError(f"rank={rank} of world={world}: ranks count from 0")
    return rank or 0, world or 1


class Texts:
    """Many texts in one: each takes its bytes and 8 more. mark: a number of all, without the folder that they share."""

    def __init__(self, texts):
        encoded = [os.fsencode(text) for text in texts]
        self.bytes = b"".join(encoded)
        shared = os.path.commonprefix([min(encoded), max(encoded)]).rfind(b"/") + 1 if encoded else 0
        self.mark = zlib.crc32(b"\0".join(text[shared:] for text in encoded))
        self.ends = np.cumsum([0] + [len(text) for text in encoded])

    def __len__(self):
        return len(self.ends) - 1

    def __getitem__(self, i):
        return os.fsdecode(self.bytes[self.ends[i]:self.ends[i + 1]])


def _walk(folder, below, found, roots, others, linked):
    """Pictures and sounds below a folder, links followed; roots: where links lead; linked: the same of links to
    folders, and the links. None is followed twice: of 40 folders with two links each to the next there would be 2^40
    pictures."""
    for entry in sorted(os.scandir(os.path.join(folder, below)), key=lambda entry: os.fsencode(entry.name)):
        name = os.path.join(below, entry.name)
        extension = entry.name.rpartition(".")[2].lower()
        if entry.name.startswith("."):
            continue
        # entry.is_dir() of a link that leads to itself raises
        is_folder = os.path.isdir(entry.path) if entry.is_symlink() else entry.is_dir()
        if entry.is_symlink():
            to, here = os.path.realpath(entry.path), os.path.realpath(os.path.join(folder, below))
            roots.add(to if is_folder else os.path.dirname(to))
            if is_folder and (to in linked or os.path.commonpath([to, here]) == to):
                raise ValueError(f"{entry.path}: the link leads to {to}, " +
                                 (f"as {linked[to]} does" if to in linked else "and lies in it"))
            if is_folder:
                linked[to] = entry.path
        if is_folder:
            _walk(folder, name, found, roots, others, linked)
        elif extension in _PICTURES or extension in _SOUNDS:
            found.append(name)
        else:
            others[extension] = others.get(extension, 0) + 1


def _read_table(path, names):
    """Labels from a CSV of file and label; rows of other files, as a header, are passed over. Names that are not UTF-8
    are taken as Python has those of files."""
    wanted, found = set(names), {}
    with open(path, newline="", encoding="utf-8-sig", errors="surrogateescape") as file:
        rows = csv.reader(file)
        try:
            for row in rows:
                if len(row) > 1 and row[0] in wanted:
                    label = row[1].strip()
                    if not label or found.setdefault(row[0], label) != label:
                        raise ValueError(f"{row[0]} has {'another label in a row above' if label else 'no label'}")
        except (ValueError, csv.Error) as why:
            raise ValueError(f"{os.fspath(path)}:{rows.line_num}: {why}") from None
    numbers = [name for name, label in found.items() if _NUMBER.fullmatch(label)]
    if not numbers:
        return found
    if len(numbers) < len(found):
        other, number = next(name for name, label in found.items() if not _NUMBER.fullmatch(label)), numbers[0]
        raise ValueError(f"{os.fspath(path)}: the label of {other} is {found[other]!r}, and that of {number} a number, "
                         f"{found[number]}; where both are names, give labels as a dict")
    whole = all(label.lstrip("+-").isdigit() for label in found.values())
    return {name: (int if whole else float)(label) for name, label in found.items()}


def _whole(labels, names):
    try:
        return np.array(labels, np.int64)
    except OverflowError:
        name, label = next((n, v) for n, v in zip(names, labels) if not -2 ** 63 <= v < 2 ** 63)
        raise ValueError(f"{name}: its label {label} is no number of 64 bits") from None


def _is_sound(name):
    return name.rpartition(".")[2].lower() in _SOUNDS


class Files:
    """Files with labels. names are as messages and batches tell them, paths what is opened, roots folders of all."""

    def __init__(self, files, labels):
        self.classes = None
        if isinstance(files, (str, os.PathLike)):
            folder, names, others = os.fspath(files), [], {}
            self.roots = {os.path.realpath(folder)}
            _walk(folder, "", names, self.roots, others, {})
            self.sounds = bool(names) and all(map(_is_sound, names))
            for name in [] if self.sounds else filter(_is_sound, names):
                others[name.rpartition(".")[2]] = others.get(name.rpartition(".")[2], 0) + 1
            names = [name for name in names if _is_sound(name) == self.sounds]
            if others:
                what = "sounds" if self.sounds else "pictures"
                warnings.warn(f"{folder}: {sum(others.values())} files are left out, by their names no {what}: " +
                              ", ".join(f"{n} .{end}" for end, n in sorted(others.items())[:5]), stacklevel=4)
            self.names, self.paths = Texts(names), Texts(os.path.join(folder, name) for name in names)
        else:
            folder, names = "", [os.fspath(file) for file in files]
            self.names = self.paths = Texts(names)
            self.roots = {os.path.realpath(folder or ".") for folder in {os.path.dirname(name) for name in names}}
            self.roots |= {os.path.dirname(os.path.realpath(name)) for name in names if os.path.islink(name)}
        self.sounds = bool(names) and all(map(_is_sound, names))
        self.labels = None if labels is None else self._find_labels(names, labels, folder)

    def _find_labels(self, names, labels, folder):
        if isinstance(labels, str) and labels == "folder":
            found = [name.split(os.sep)[0] if folder else os.path.basename(os.path.dirname(name)) for name in names]
            if folder and any(os.sep not in name for name in names):
                raise ValueError(f"{folder}: a picture lies in no folder of a class; write labels=None")
            return self._number(found)
        if isinstance(labels, (str, os.PathLike)):
            labels = _read_table(labels, names)
        if not hasattr(labels, "get"):
            raise TypeError(f"labels is a {type(labels).__name__}: there are a dict, a CSV's name, \"folder\", None")
        if isinstance(labels, dict):
            labels = {os.fspath(name): label for name, label in labels.items()}
        missing = [name for name in names if labels.get(name) is None]
        if missing:
            raise ValueError(f"{missing[0]} has no label ({len(missing)} of {len(names)} files have none)")
        values = [labels[name] for name in names]
        if all(isinstance(value, (int, np.integer)) for value in values):
            return _whole(values, names)
        found = np.array(values)
        return found.astype(np.int64) if found.dtype.kind in "iub" else found if found.dtype.kind == "f" else \
            self._number(found.tolist())

    def _number(self, found):
        self.classes = sorted(set(found))
        numbers = {name: i for i, name in enumerate(self.classes)}
        return np.array([numbers[name] for name in found], np.int64)

    def check(self, indices):
        """Files are read under their names, whatever they hold by now."""

    def where(self, i):
        return self.paths[i], -1, 0

    def labels_of(self, indices):
        return None if self.labels is None else self.labels[indices]


def _version(path):
    try:
        status = os.stat(path)
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    except OSError:
        return None


class Shards:
    """Tar files: members of one name up to its first dot are a sample (WebDataset's convention). rows: the shard, where
    the picture, or else the sound, lies and its bytes, the same of the label, and its kind."""

    def __init__(self, paths, labels):
        self.tars, self.kind, self.classes, self.names = [os.fspath(path) for path in paths], labels, None, None
        self.sounds = False
        self.roots = {os.path.dirname(os.path.realpath(path)) for path in self.tars}

    def read_index(self, members):
        """members(path): of each member offset, size and name."""
        names, rows, without = [], [], 0
        self.versions = [_version(path) for path in self.tars]
        for shard, path in enumerate(self.tars):
            samples = {}
            for offset, size, name in members(path):
                stem, _, end = os.path.basename(name).partition(".")
                parts = samples.setdefault(os.path.join(os.path.dirname(name), stem), {})
                kind = "picture" if end.lower() in _PICTURES else "sound" if _is_sound(end) else end.lower()
                if kind in parts:
                    raise ValueError(f"{path}: {name} is there twice, or beside another {kind} of that name")
                parts[kind] = offset, size
            for key, parts in samples.items():
                kind = self.kind or next((kind for kind in _LABELS if kind in parts), "cls")
                media = parts.get("picture") or parts.get("sound")
                without += media is None
                self.sounds |= "picture" not in parts and media is not None
                if media:
                    names.append(f"{path}/{key}")
                    rows.append((shard, *media, *parts.get(kind, (-1, 0)), _LABELS.index(kind)))
        if without:
            has = "sample has" if without == 1 else "samples have"
            warnings.warn(f"{without} {has} no picture or sound in the tar files, and will not come", stacklevel=4)
        self.names, self.rows = Texts(names), np.array(rows, np.int64).reshape(-1, 6)

    def check(self, indices):
        """What was read of a tar file that another one replaced may be any of its samples, or the label of one."""
        for shard in np.unique(self.rows[indices, 0]).tolist():
            if _version(self.tars[shard]) != self.versions[shard]:
                raise _c.FileError(f"{self.tars[shard]} is not the file any more that it was when this Feed was made: "
                                   "make another one; load_state_dict() goes on where this is", _c.READ)

    def where(self, i):
        shard, offset, size = self.rows[i, :3].tolist()
        return self.tars[shard], offset, size

    def labels_of(self, indices):
        found = []
        for i, (shard, _, _, offset, size, kind) in zip(indices, self.rows[indices].tolist()):
            if offset < 0 and (self.rows[:, 3] < 0).all():
                return None
            if offset < 0 or size > _MOST_LABEL:
                raise ValueError(f"{self.names[i]} has {'no label' if offset < 0 else 'a label of over 1 MB'}")
            with open(self.tars[shard], "rb") as file:
                text = os.pread(file.fileno(), size, offset)
            try:
                found.append((int, str, json.loads)[kind](text.decode().strip()))
            except (ValueError, RecursionError) as why:
                raise ValueError(f"{self.names[i]}: its .{_LABELS[kind]} cannot be read: {why}") from None
        whole = all(isinstance(label, int) for label in found)
        return _whole(found, [self.names[i] for i in indices]) if whole else found


def source(files, labels):
    """labels "auto": of a folder its folders', where there are some; of tar files their members'."""
    auto = isinstance(labels, str) and labels == "auto"
    if isinstance(files, (str, os.PathLike)) and os.path.isdir(files):
        with os.scandir(files) as entries:
            some = auto and any(os.path.isdir(entry.path) and not entry.name.startswith(".") for entry in entries)
        return Files(files, "folder" if some else None if auto else labels)
    if isinstance(files, (str, os.PathLike)):
        pattern = os.fspath(files)
        files = sorted(glob.glob(pattern))
        if not files:
            raise FileNotFoundError(f"{pattern}: there is no such folder or file")
    if isinstance(files, dict) and files:
        return Files(files, files)
    if isinstance(files, (set, frozenset)):
        raise TypeError("files is a set, whose order is another one in each process: give a list, by sorted()")
    files = list(files)
    tars = sum(os.fspath(file).endswith(".tar") for file in files)
    if not files or 0 < tars < len(files):
        raise ValueError("files is empty" if not files else "files are tar files or pictures, and not both in a list")
    if not tars:
        return Files(files, None if auto else labels)
    if not auto and labels not in _LABELS:
        raise ValueError(f"labels={labels!r}: of tar files there are {', '.join(_LABELS)}")
    return Shards(files, None if auto else labels)
