"""What somebody typed while the command was at work is noticed."""

import os
from pathlib import Path

import pytest

from gradsan.errors import ChangedFileError
from gradsan.fix.trials import proofs
from gradsan.fix.trials.snapshot import Snapshot
from gradsan.source.disk import load


@pytest.mark.parametrize("most", [100, 0])
def test_changed_file_is_noticed_and_others_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """By its content: as it was for the snapshot or, in a project that is too large for one, when it was first read."""
    monkeypatch.setattr("gradsan.fix.trials.snapshot._MOST", most)
    for name in ("one.py", "other.py"):
        (tmp_path / name).write_text("old\n", encoding="utf-8")
        load(str(tmp_path / name))
    snapshot = Snapshot.of(tmp_path)

    snapshot.demand_unchanged(["one.py", "other.py"])
    (tmp_path / "one.py").write_text("new\n", encoding="utf-8")

    snapshot.demand_unchanged(["other.py"])
    with pytest.raises(ChangedFileError):
        snapshot.demand_unchanged(["one.py"])
    assert not snapshot.is_current()


@pytest.mark.parametrize("name", ["one.py", "script"])
def test_file_must_say_what_it_said_when_it_was_first_read(tmp_path: Path, name: str) -> None:
    """Its times prove nothing: what unpacks an archive sets them back."""
    file = tmp_path / name
    file.write_text("old", encoding="utf-8")
    snapshot = Snapshot.of_nothing(tmp_path)
    load(str(file))
    snapshot.demand_unchanged([name])

    before = file.stat()
    file.write_text("new", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    load(str(file))

    with pytest.raises(ChangedFileError):
        snapshot.demand_unchanged([name])


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
