"""What tests of every room share."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from golden_files import Golden

# What lands must not depend on luck: the same examples every time. `make explore` looks for others.
settings.register_profile("same", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile("same")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Proofs of the tests are not kept among the user's, and none of those is used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    """Read in review what `pytest --update-golden` changed."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files with what is rendered now")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Golden files under `tests/golden`."""
    return Golden(update=request.config.getoption("--update-golden"))
