"""What tests of every room share."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import golden_files
import small_process
import without_torch
from forking.starting import REAL_PYTHON, fork_server
from golden_files import golden

__all__ = ["golden"]

# What lands must not depend on luck: the same examples every time. `make explore` looks for others, and `make prove` at
# so many more.
settings.register_profile("same", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.register_profile("prove", derandomize=True, max_examples=3_000)
settings.load_profile("same")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Proofs of the tests are not kept among the user's, and none of those is used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _fork_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests start with `sys.executable` need not wait for torch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONUNBUFFERED", raising=False)  # which is settled when an interpreter starts
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # programs leave nothing behind, whoever runs the tests
        # Likewise settled, when torch is imported; and what is small is slowed down by more.
        patch.setenv("OMP_NUM_THREADS", "1")
        # Compiled programs need not be fast: which vectors a processor has takes torch ten seconds to find out.
        patch.setenv("TORCHINDUCTOR_VEC_ISA_OK", "0")
        with fork_server(tmp_path_factory.mktemp("forking")) as python:
            patch.setattr(sys, "executable", str(python))
            yield


READERS = ("gradsan.source.", "gradsan.check.", "gradsan.fix.")


@pytest.fixture(scope="module", autouse=True)
def _small_process(request: pytest.FixtureRequest) -> Iterator[None]:
    """Who looks through this process finds what a module of tests brings along, and nothing of the others."""
    with small_process.program_of(request.module):
        yield
    for module in [each for name, each in sys.modules.items() if name.startswith(READERS)]:
        for each in list(vars(module).values()):
            if hasattr(each, "cache_clear"):
                each.cache_clear()


@pytest.fixture(autouse=True)
def _cold_start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests marked `cold` have the real interpreter."""
    if request.node.get_closest_marker("cold"):
        monkeypatch.setattr(sys, "executable", REAL_PYTHON)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the Makefile asks for."""
    golden_files.pytest_addoption(parser)
    without_torch.add_option(parser)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not asked for."""
    golden_files.pytest_collection_modifyitems(config, items)
    without_torch.leave_out(config, items)


def pytest_collection_finish() -> None:
    """All tests are loaded."""
    small_process.set_all_aside()


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Where torch is missing and that is meant."""
    return without_torch.module_of(module_path, parent)
