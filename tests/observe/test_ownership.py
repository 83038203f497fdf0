"""Whose file it is."""

import linecache
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import torch

import gradsan.observe.ownership
from gradsan.observe.ownership import Ownership


def test_a_script_is_the_users(tmp_path: Path) -> None:
    """Whatever is nobody's library."""
    assert Ownership().owns(str(tmp_path / "train.py"))


@pytest.mark.parametrize(
    "file",
    [
        os.__file__,
        torch.__file__,
        gradsan.observe.ownership.__file__,
        "/project/.venv/lib/python3.12/site-packages/lightning/trainer.py",
        "/usr/lib/python3/dist-packages/yaml/__init__.py",
        str(Path(sysconfig.get_path("scripts")) / "torchrun"),
        "<string>",
        "<frozen importlib._bootstrap>",
        "<attrs generated init model.Point>",
    ],
)
def test_libraries_and_generated_code_are_not(file: str) -> None:
    """Installed packages, Python itself, gradsan, and code that nobody wrote."""
    assert not Ownership().owns(file)


def test_code_without_a_file_is_the_users_if_its_source_can_be_shown() -> None:
    """A notebook's cell, a doctest, what is typed in."""
    linecache.cache["<cell 3>"] = (5, None, ["x = 1\n"], "<cell 3>")
    try:
        assert Ownership().owns("<cell 3>")
    finally:
        del linecache.cache["<cell 3>"]
    assert Ownership().owns("<stdin>")
    assert not Ownership().owns("<cell 4>")


def test_include_and_exclude_take_prefixes_and_globs(tmp_path: Path) -> None:
    """`include` wins over the rules, `exclude` over all."""
    library = "/project/.venv/lib/python3.12/site-packages/mine"
    ownership = Ownership(include=[library], exclude=[f"{tmp_path}/generated", f"{tmp_path}/*_pb2.py"])

    assert ownership.owns(f"{library}/model.py")
    assert not ownership.owns(f"{library}_not/model.py")
    assert not ownership.owns(str(tmp_path / "generated" / "deep" / "model.py"))
    assert not ownership.owns(str(tmp_path / "message_pb2.py"))
    assert ownership.owns(str(tmp_path / "model.py"))


def test_gradsan_imported_through_a_link_is_not_the_users(tmp_path: Path) -> None:
    """It would write down its own writing, without end."""
    package = Path(gradsan.__file__).parent
    (tmp_path / "gradsan").symlink_to(package)
    program = "from gradsan.observe import ownership; print(ownership.Ownership().owns(ownership.__file__))"

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "False\n"
