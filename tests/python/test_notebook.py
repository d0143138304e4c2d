"""The notebooks of docs: their code cells run one after another, in that folder, as plain Python."""
import json
import pathlib

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name, told", [
    ("library", "did you mean 'sigma'?"),
    ("training", "[32, 32, 32, 32, 32, 32, 8] 1 broken: disc/000.ppm"),
    ("kernel-lab", "wavefronts are bank conflicts\nrace at line 8"),
])  # fmt: skip
def test_cells_run(name, told, capsys, monkeypatch):
    monkeypatch.chdir(DOCS)
    cells = json.loads((DOCS / f"{name}.ipynb").read_text())["cells"]
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(codes) > 5
    assert not any(cell["outputs"] for cell in codes), "outputs are left out of the repository"
    names = {}
    for number, cell in enumerate(codes, 1):
        exec(compile("".join(cell["source"]), f"{name}.ipynb, code cell {number}", "exec"), names)
    assert told in capsys.readouterr().out
