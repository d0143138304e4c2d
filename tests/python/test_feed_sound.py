"""smempipe.Feed of sounds: for training on speech."""
import io
import subprocess
import tarfile
import warnings
import wave

import numpy as np
import pytest

import smempipe
from smempipe._kernel import _program

RATE = 8000


def run(pipeline, source, target, *options):
    subprocess.run([_program(), "run", "-q", "-f", "-e", pipeline, source, target, *map(str, options)], check=True)
    return target


def samples(pipeline, source, tmp_path, *options):
    return np.load(run(pipeline, source, tmp_path / "want.npy", *options)).reshape(-1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Noise of 0.5 to 1.2 s, mono, in two classes and three formats."""
    root, rng = tmp_path_factory.mktemp("speech"), np.random.default_rng(1)
    for i in range(9):
        (root / "ab"[i % 2]).mkdir(exist_ok=True)
        with wave.open(str(root / "noise.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes((rng.normal(0, 3000, 4000 + 700 * i)).astype("<i2").tobytes())
        run("gain 0dB", root / "noise.wav", root / "ab"[i % 2] / f"{i}.{('wav', 'flac', 'mp3')[i % 3]}")
    (root / "noise.wav").unlink()
    return root


def test_waves_are_those_of_run(folder, tmp_path):
    pipeline = "pad length=1s\ntrim random 0.5s\ngain random(-6..6dB)"
    feed = smempipe.Feed(folder, pipeline, 4, dtype="float32", shuffle=False, seed=3)
    assert feed.classes == ["a", "b"]
    index = 0
    for waves, labels, names in feed:
        assert waves.shape[1:] == (1, RATE // 2) and waves.dtype == np.float32
        for one, label, name in zip(waves, labels, names):
            want = samples(pipeline, folder / name, tmp_path, "--seed", 3, "--epoch", 0, "--index", index)
            assert np.array_equal(one[0], want), name
            assert "ab"[label] == name[0]
            index += 1
    assert index == 9


def test_stereo_lies_a_channel_after_the_other_or_by_frames(folder):
    one = smempipe.Feed(folder, "trim 0s 0.25s\nremix stereo", 9, dtype="float32", shuffle=False)
    other = smempipe.Feed(folder, "trim 0s 0.25s\nremix stereo", 9, dtype="float32", shuffle=False, layout="NHWC")
    (planes, _, _), = one
    (frames, _, _), = other
    assert planes.shape == (9, 2, RATE // 4) and frames.shape == (9, RATE // 4, 2)
    assert np.array_equal(planes.transpose(0, 2, 1), frames)


def test_mel_spectrograms_have_one_channel(folder, tmp_path):
    pipeline = "pad length=1s\ntrim 0s 0.5s\nmel 40 size=256 hop=80"
    (mels, _, names), = smempipe.Feed(folder, pipeline, 9, dtype="float32")
    for mel, name in zip(mels, names):
        assert np.array_equal(mel.reshape(-1), samples(pipeline, folder / name, tmp_path)), name
    assert mels.shape[:2] == (9, 1) and 40 in mels.shape


def test_sounds_of_other_lengths_are_told(folder):
    with pytest.raises(smempipe.PipelineError, match="frames and 1 channels after the pipeline, others have"):
        for _ in smempipe.Feed(folder, "gain 0dB", 9, dtype="float32"):
            pass
    with pytest.raises(smempipe.PipelineError, match="the batch's are bytes"):
        next(iter(smempipe.Feed(folder, "trim 0s 0.25s", 9)))


def test_a_folder_of_pictures_leaves_its_sounds_out(folder, tmp_path):
    subprocess.run([_program(), "run", "-q", "-e", "canvas 4x4 color=navy", tmp_path / "a.png"], check=True)
    (tmp_path / "b.flac").write_bytes((folder / "b" / "1.flac").read_bytes())
    with pytest.warns(UserWarning, match="no pictures: 1 .flac"):
        feed = smempipe.Feed(tmp_path, "invert", 1)
    assert [names for _, _, names in feed] == [["a.png"]]


def test_members_of_tar_files(folder, tmp_path):
    with tarfile.open(tmp_path / "s.tar", "w") as tar:
        for i in (1, 4):
            for end, data in (("flac", (folder / "ab"[i % 2] / f"{i}.flac").read_bytes()), ("cls", b"%d" % i)):
                member = tarfile.TarInfo(f"{i}.{end}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (waves, labels, _), = smempipe.Feed([tmp_path / "s.tar"], "trim 0s 0.25s", 2, dtype="float32", shuffle=False)
    assert waves.shape == (2, 1, RATE // 4) and labels.tolist() == [1, 4]
    assert np.array_equal(waves[0, 0], samples("trim 0s 0.25s", folder / "b" / "1.flac", tmp_path))
