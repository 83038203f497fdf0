"""Nothing is ever half-written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradsan.errors import ChangedFileError
from gradsan.fix.writing.applying import OutsideError, edited_files, unwritten
from gradsan.report import Edit
from gradsan.source.comments import commented
from gradsan.source.writing import UnwritableFileError, write

# Two files are written in a child process, which dies at the n-th line that it runs in `writing.py`; for every n.
DYING = """
import os, sys
from pathlib import Path
import gradsan.source.writing as writing

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
    write(unwritten(edited_files([edit], tmp_path), tmp_path))

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
    changes = unwritten(edited_files(edits, tmp_path), tmp_path)
    other.write_text("a = 3\n", encoding="utf-8")

    with pytest.raises(ChangedFileError):
        write(changes)

    assert (one.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")) == ("a = 1\n", "a = 3\n")
    assert sorted(tmp_path.iterdir()) == [one, other]


def test_link_stays_a_link(tmp_path: Path) -> None:
    """The file that it leads to is the one that is fixed."""
    (tmp_path / "real.py").write_text("a = 1\n", encoding="utf-8")
    (tmp_path / "link.py").symlink_to("real.py")

    write(unwritten(edited_files([Edit("link.py", 1, 1, "a = 1", "a = 2")], tmp_path), tmp_path))

    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.py").read_text(encoding="utf-8") == "a = 2\n"


def test_link_that_leads_out_of_the_working_directory_is_not_followed(tmp_path: Path) -> None:
    """Only the working directory is ours to change, however a file is named."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "other.py").write_text("a = 1\n", encoding="utf-8")
    (tmp_path / "tree" / "link.py").symlink_to(tmp_path / "other.py")

    for name in ("link.py", "../other.py", str(tmp_path / "other.py")):
        with pytest.raises(OutsideError):
            edited_files([Edit(name, 1, 1, "a = 1", "a = 2")], tmp_path / "tree")


def test_file_whose_encoding_does_not_lead_back_is_left_alone(tmp_path: Path) -> None:
    """Everything else in it would be written in other bytes."""
    content = b"# coding: utf-7\nname = '+AOk-+AOk-'\nloss.backward()\n"
    (tmp_path / "a.py").write_bytes(content)

    with pytest.raises(ChangedFileError, match="without other changes"):
        edited_files([Edit("a.py", 3, 3, "loss.backward()", "pass")], tmp_path)
    assert commented("train.py", content, {(None, 3): ["GS101"]}) == content


@pytest.mark.parametrize(("line", "end_line"), [(1, 0), (0, 0), (2, 1), (9, 8)])
def test_edit_of_no_line_is_refused(tmp_path: Path, line: int, end_line: int) -> None:
    """It would fit any file."""
    (tmp_path / "a.py").write_text("a = 1\n", encoding="utf-8")

    with pytest.raises(ChangedFileError):
        edited_files([Edit("a.py", line, end_line, "", "import os")], tmp_path)


def test_read_only_file_is_not_written_and_neither_are_the_others(tmp_path: Path) -> None:
    """A folder that can be written would allow it to be replaced."""
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    for file in (one, other):
        file.write_bytes(b"old")
    other.chmod(0o444)

    with pytest.raises(UnwritableFileError, match="read-only"):
        write(dict.fromkeys((one, other), (b"old", b"new")))

    assert [each.read_bytes() for each in sorted(tmp_path.iterdir())] == [b"old", b"old"]


# Nothing longer than some bytes can be written, as on a disk that is full.
FULL = """
import resource, sys
from pathlib import Path
from gradsan.source.writing import UnwritableFileError, write

root = Path(sys.argv[1])
files = [root / "a.py", root / "b.py"]
for file in files:
    file.write_bytes(b"old" * 1000)
resource.setrlimit(resource.RLIMIT_FSIZE, (3500, 3500))
try:
    write({files[0]: (b"old" * 1000, b"new" * 1000), files[1]: (b"old" * 1000, b"new" * 2000)})
except UnwritableFileError:
    print([file.read_bytes() == b"old" * 1000 for file in sorted(root.iterdir())])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_full_disk_leaves_all_files_as_they_were(tmp_path: Path) -> None:
    """Also those that there was room for."""
    command = [sys.executable, "-c", FULL, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout == "[True, True]\n", done.stderr
