"""Nothing is ever half-written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradsan.fix.applying import mended, unwritten
from gradsan.fix.editing import ChangedFileError
from gradsan.fix.writing import write
from gradsan.report import Edit

# Two files are written in a child process, which dies at the n-th line that it runs in `writing.py`; for every n.
DYING = """
import os, sys
from pathlib import Path
import gradsan.fix.writing as writing

root = Path(sys.argv[1])
files = [root / "a.py", root / "b.py"]
old, new = b"x = 1\\n" * 999, b"x = 2\\n" * 999
steps = 0
while True:
    for file in files:
        file.write_bytes(old)
    steps += 1
    child = os.fork()
    if child == 0:
        left = steps
        def trace(frame, event, _):
            global left
            if frame.f_code.co_filename != writing.__file__:
                return None
            left -= event == "line"
            if left == 0:
                os._exit(9)
            return trace
        sys.settrace(trace)
        writing.write({file: (old, new) for file in files})
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert all(file.read_bytes() in (old, new) for file in files), steps
    for beside in root.glob(".*.gradsan"):
        beside.unlink()
    if status == 0:
        assert all(file.read_bytes() == new for file in files)
        break
print(steps)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="dies in a forked process")
def test_file_is_the_old_or_the_new_one_wherever_the_process_dies(tmp_path: Path) -> None:
    """Also at a moment in which nobody can tidy up."""
    done = subprocess.run(
        [sys.executable, "-c", DYING, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )

    assert int(done.stdout) > 10


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encoding_and_line_ends_stay(tmp_path: Path, encoding: str, end: str) -> None:
    """Only the edited line differs, to the last byte; permissions stay too."""
    declared = f"# -*- coding: {encoding.removesuffix('-sig')} -*-"
    text = end.join([declared, "name = 'é'", "loss.backward()", ""])
    file = tmp_path / "train.py"
    file.write_bytes(text.encode(encoding))
    file.chmod(0o755)

    edit = Edit("train.py", 3, 3, "loss.backward()", "loss.backward(\n    retain_graph=True)")
    write(unwritten(mended([edit], tmp_path), tmp_path))

    expected = text.replace("loss.backward()", f"loss.backward({end}    retain_graph=True)")
    assert file.read_bytes() == expected.encode(encoding)
    assert file.stat().st_mode & 0o777 == 0o755
    assert list(tmp_path.iterdir()) == [file]


def test_file_that_changed_meanwhile_is_left_alone_and_so_are_the_others(tmp_path: Path) -> None:
    """Somebody saved it in an editor while a trial ran."""
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("a = 1\n", encoding="utf-8")
    other.write_text("a = 1\n", encoding="utf-8")
    edits = [Edit(file.name, 1, 1, "a = 1", "a = 2") for file in (one, other)]
    changes = unwritten(mended(edits, tmp_path), tmp_path)
    other.write_text("a = 3\n", encoding="utf-8")

    with pytest.raises(ChangedFileError):
        write(changes)

    assert (one.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")) == ("a = 1\n", "a = 3\n")
    assert sorted(tmp_path.iterdir()) == [one, other]


def test_link_stays_a_link(tmp_path: Path) -> None:
    """The file that it leads to is the one that is mended."""
    (tmp_path / "real.py").write_text("a = 1\n", encoding="utf-8")
    (tmp_path / "link.py").symlink_to("real.py")

    write(unwritten(mended([Edit("link.py", 1, 1, "a = 1", "a = 2")], tmp_path), tmp_path))

    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.py").read_text(encoding="utf-8") == "a = 2\n"
