"""The notebook docs/library.ipynb: its code cells run one after another, as plain Python."""
import json
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/library.ipynb"


def test_cells_run(capsys):
    cells = json.loads(PAGE.read_text())["cells"]
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(codes) > 5
    assert not any(cell["outputs"] for cell in codes), "outputs are left out of the repository"
    names = {}
    for number, cell in enumerate(codes, 1):
        exec(compile("".join(cell["source"]), f"library.ipynb, code cell {number}", "exec"), names)
    assert "did you mean 'sigma'?" in capsys.readouterr().out
