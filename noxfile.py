"""The suite on every interpreter found here, and on the oldest torch that gradsan supports."""

import nox

nox.options.error_on_missing_interpreters = False
nox.options.default_venv_backend = "venv"

OLDEST_TORCH = "2.4.0"


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def newest(session: nox.Session) -> None:
    """What CI installs, on this interpreter."""
    session.install("-r", "requirements/test.txt")
    session.install("--no-deps", "--no-build-isolation", "--editable", ".")
    session.run("pytest", *session.posargs)


@nox.session(python="3.11")
def oldest(session: nox.Session) -> None:
    """The lowest torch, with whatever else goes with it."""
    session.install(
        "hatchling", "editables", "hypothesis", "ipython", "jsonschema", "pytest", "numpy<2.3", f"torch=={OLDEST_TORCH}"
    )
    session.install("--no-build-isolation", "--editable", ".")
    session.run("pytest", *session.posargs)
