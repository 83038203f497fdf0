"""A trial is the user's program, elsewhere, with some files changed."""

from pathlib import Path

import pytest

from gradsan.fix.scratch import lay_out
from gradsan.fix.trials import Command, Trial, UnusableCommandError, command_of, cut_off, same_gradients


def test_changed_files_are_copies_and_everything_else_is_linked(tmp_path: Path) -> None:
    """Data is never copied, and Python finds its imports beside the script."""
    root, scratch = tmp_path / "root", tmp_path / "scratch"
    (root / "package").mkdir(parents=True)
    (root / "data").mkdir()
    (root / "data" / "large.bin").write_bytes(b"0" * 10)
    (root / "train.py").write_text("import package.model\n", encoding="utf-8")
    (root / "package" / "model.py").write_text("old\n", encoding="utf-8")
    (root / "package" / "other.py").write_text("other\n", encoding="utf-8")
    scratch.mkdir()

    lay_out(scratch, root, {"package/model.py": b"new\n"}, "train.py")

    assert (scratch / "package" / "model.py").read_text(encoding="utf-8") == "new\n"
    assert (root / "package" / "model.py").read_text(encoding="utf-8") == "old\n"
    assert (scratch / "train.py").resolve() == scratch / "train.py"
    assert (scratch / "package" / "other.py").read_text(encoding="utf-8") == "other\n"
    assert (scratch / "data").is_symlink()


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("python train.py --epochs 1", Command((), ("train.py", "--epochs", "1"))),
        ("python3.11 -W error -u -m pkg.train x", Command(("-W", "error", "-u"), ("-m", "pkg.train", "x"))),
        ("train.py", Command((), ("train.py",))),
    ],
)
def test_command_is_a_python_program(words: str, command: Command) -> None:
    """With Python's own options before it."""
    assert command_of(words) == command


@pytest.mark.parametrize("words", ["make train", "python", "python -c 'x'", "python -m"])
def test_command_that_is_none_is_refused(words: str) -> None:
    """Before anything is run."""
    with pytest.raises(UnusableCommandError):
        command_of(words)


def ended(*gradients: list[list[float] | None], status: int = 0) -> Trial:
    """A run whose only optimizer was given these, step after step."""
    return Trial(status, (), tuple({"optimizer": 0, "gradients": each} for each in gradients), "")


def test_gradients_are_compared_step_by_step() -> None:
    """A little rounding is allowed; a reference that failed says nothing."""
    one, close, other = [[1.0, 2.0]], [[1.0 + 1e-7, 2.0]], [[1.5, 2.0]]

    assert same_gradients(ended([*one]), ended([*close])) is True
    assert same_gradients(ended([*one]), ended([*other])) is False
    assert same_gradients(ended([*one], [*one]), ended([*one])) is False
    assert same_gradients(ended([*one]), ended([*one], status=1)) is None


def test_parameter_that_is_no_longer_trained_is_noticed() -> None:
    """It had a gradient in the program as it was."""
    before, now = ended([[1.0, 1.0], [1.0, 1.0]]), ended([[1.0, 1.0], None])

    assert cut_off(now, before) == ["parameter 1 of optimizer 0"]
    assert cut_off(before, now) == []


def test_nothing_outside_the_working_directory_is_laid_out(tmp_path: Path) -> None:
    """It would be the user's own file that is overwritten."""
    with pytest.raises(ValueError, match="working directory"):
        lay_out(tmp_path, tmp_path, {str(tmp_path / "train.py"): b""})
