"""gradsan: a sanitizer for PyTorch's autograd graph.

PYTEST_DONT_REWRITE: pytest warns of a package with a plugin that was loaded before it, as `gradsan run` loads this one.
"""

TYPE_CHECKING = False  # importing it would import all of `typing`

if TYPE_CHECKING:
    from typing import Any

    from gradsan.entry.installing import explain, install, uninstall, watch
    from gradsan.errors import GradsanError
    from gradsan.plug.graph_assertions import assert_graph_freed, no_graph_leak
    from gradsan.report import Diagnosis, Report

    __version__: str

__all__ = [
    "Diagnosis",
    "GradsanError",
    "Report",
    "assert_graph_freed",
    "explain",
    "install",
    "no_graph_leak",
    "uninstall",
    "watch",
]

_HOMES = {
    "Diagnosis": "gradsan.report",
    "GradsanError": "gradsan.errors",
    "Report": "gradsan.report",
    "assert_graph_freed": "gradsan.plug.graph_assertions",
    "explain": "gradsan.entry.installing",
    "install": "gradsan.entry.installing",
    "no_graph_leak": "gradsan.plug.graph_assertions",
    "uninstall": "gradsan.entry.installing",
    "watch": "gradsan.entry.installing",
}


def __getattr__(name: str) -> "Any":  # noqa: ANN401 # whatever the name stands for
    """Each name is loaded when it is first asked for: `import gradsan` costs nothing."""
    if name == "__version__":
        from importlib import metadata

        return metadata.version("gradsan")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def load_ipython_extension(shell: object) -> None:
    """`%load_ext gradsan` in a notebook: explain errors from the next statement on; `%%gradsan` watches a cell."""
    from gradsan.entry.installing import install
    from gradsan.entry.notebook import add_magic

    install()
    add_magic(shell)


def unload_ipython_extension(shell: object) -> None:
    """`%unload_ext gradsan`: no longer."""
    from gradsan.entry.installing import uninstall
    from gradsan.entry.notebook import remove_magic

    uninstall()
    remove_magic(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
