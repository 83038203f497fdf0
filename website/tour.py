"""Installs what `make dist` built into empty environments, and takes the tour of the README there.

    python website/tour.py dist

With torch and without it, from the wheel and from the sdist, and with the oldest dependencies that are promised.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

PROJECT = Path(__file__).parents[1]
TORCH = "torch==2.13.0"  # a plain `torch` would bring several GB of CUDA libraries
BROKEN = "examples/own_cell/broken.py"
# A command, how it ends, and a word that it prints.
SOURCE_ONLY = (
    (("--version",), 0, "gradsan"),
    (("explain", "GS103"), 0, "carried-state"),
    (("check", "--no-cache", BROKEN), 1, "GS103"),
)
WITHOUT_TORCH = (*SOURCE_ONLY, (("run", BROKEN), 2, "torch is not installed"))
WITH_TORCH = (
    *SOURCE_ONLY,
    (("run", BROKEN), 1, "model.hidden = model.hidden.detach()"),
    (("fix", "--write", "--verify", f"python {BROKEN}", BROKEN), 0, "verified"),
    (("run", BROKEN), 0, "nothing found"),
)


def main(built: Path) -> None:
    """Every environment; the first thing that is not as it should be ends it."""
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    links_hold(wheel)
    tour("the wheel, without torch", [str(wheel)], WITHOUT_TORCH)
    tour("the sdist, without torch", [str(sdist)], WITHOUT_TORCH)
    tour("the wheel, with torch", [str(wheel), TORCH, "numpy"], WITH_TORCH)
    tour("the oldest dependencies", [str(wheel), *oldest()], WITHOUT_TORCH)


def links_hold(wheel: Path) -> None:
    """On a package index nothing stands beside the long description."""
    with zipfile.ZipFile(wheel) as packed:
        (metadata,) = (each for each in packed.namelist() if each.endswith(".dist-info/METADATA"))
        text = packed.read(metadata).decode()
    lost = re.findall(r"\]\((?!https?:|mailto:|#)([^)]*)\)", re.sub(r"(?ms)^```.*?^```$", "", text))
    if lost or "# gradsan" not in text:
        sys.exit(f"links of the long description lead nowhere on a package index: {lost}")


def oldest() -> list[str]:
    """The lower bounds of `pyproject.toml`, as versions."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [each.replace(">=", "==") for each in project["dependencies"]]


def tour(name: str, packages: list[str], commands: tuple[tuple[tuple[str, ...], int, str], ...]) -> None:
    """One environment: install, and run each command in a copy of the examples."""
    with tempfile.TemporaryDirectory() as place:
        home, work = Path(place, "environment"), Path(place, "work")
        venv.create(home, with_pip=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        subprocess.run([*pip, *packages], check=True)
        shutil.copytree(PROJECT / "examples", work / "examples")
        for words, status, word in commands:
            command = [str(home / "bin" / "gradsan"), *words]
            environment = {"PATH": f"{home / 'bin'}:/usr/bin:/bin", "HOME": place, "OMP_NUM_THREADS": "1"}
            done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
            said = re.sub(r"\s+", " ", done.stdout + done.stderr)
            if done.returncode != status or word not in said:
                sys.exit(f"{name}: gradsan {' '.join(words)} ended with status {done.returncode}:\n{said}")
    print(f"{name}: {len(commands)} commands as promised", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
