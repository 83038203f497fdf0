"""What somebody typed while the command was at work is noticed."""

import os
from pathlib import Path

import pytest

from gradsan.fix import proofs
from gradsan.fix.editing import ChangedFileError
from gradsan.fix.snapshot import Snapshot


@pytest.mark.parametrize("most", [100, 0])
def test_changed_file_is_noticed_and_others_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """By its content or, in a project that is too large to be read, by its time."""
    monkeypatch.setattr("gradsan.fix.snapshot._MOST", most)
    for name in ("one.py", "other.py"):
        (tmp_path / name).write_text("old\n", encoding="utf-8")
    snapshot = Snapshot.of(tmp_path)

    snapshot.demand_unchanged(["one.py", "other.py"])
    (tmp_path / "one.py").write_text("new\n", encoding="utf-8")

    snapshot.demand_unchanged(["other.py"])
    with pytest.raises(ChangedFileError):
        snapshot.demand_unchanged(["one.py"])
    assert not snapshot.is_current()


def test_file_can_be_looked_at_later_if_it_is_as_old_as_the_rest(tmp_path: Path) -> None:
    """From then on its content counts."""
    file = tmp_path / "one.py"
    file.write_text("old", encoding="utf-8")
    snapshot = Snapshot.of_nothing(tmp_path).with_files(["one.py"])

    before = file.stat()
    file.write_text("new", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(ChangedFileError):
        snapshot.demand_unchanged(["one.py"])


def test_proof_is_known_by_all_that_it_depends_on(tmp_path: Path) -> None:
    """Any source, any other file, and whatever was asked."""
    (tmp_path / "data.csv").write_text("1", encoding="utf-8")
    before = Snapshot.of(tmp_path)
    names = {proofs.name_of(before, "python a.py"), proofs.name_of(before, "python b.py")}
    (tmp_path / "data.csv").write_text("12", encoding="utf-8")
    names.add(proofs.name_of(Snapshot.of(tmp_path), "python a.py"))
    (tmp_path / "new.py").write_text("", encoding="utf-8")
    names.add(proofs.name_of(Snapshot.of(tmp_path), "python a.py"))

    assert len(names) == 4
    assert proofs.name_of(before, "python a.py") in names


def test_proofs_are_kept_in_a_folder_of_the_users_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link could lead anywhere, and a file that is no proof is none."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "gradsan" / "proofs"

    proofs.keep("name", {"a": 1})
    assert proofs.kept("name", dict[str, int]) == {"a": 1}
    (folder / "name.json").write_text("no proof", encoding="utf-8")
    assert proofs.kept("name", dict[str, int]) is None
    (tmp_path / "precious").write_text('{"a": 1}', encoding="utf-8")
    (folder / "name.json").unlink()
    (folder / "name.json").symlink_to(tmp_path / "precious")
    assert proofs.kept("name", dict[str, int]) is None
    proofs.keep("name", {"a": 2})
    assert (tmp_path / "precious").read_text(encoding="utf-8") == '{"a": 1}'

    (folder.parent / "proofs").rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert proofs.kept("name", dict[str, int]) is None
