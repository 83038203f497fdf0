"""`gradsan fix --write` under random kills and faults: every file is the old or the new one, and nothing is left.

`python -m fix.chaos 100` (part of `make prove`) makes a hundred; `test_chaos.py` a few.
"""

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BAD = "import torch\nw = torch.ones(1, requires_grad=True)\nl = (w * w).sum()\nl.backward()\nl.backward()\n"
TYPED = "print('typed meanwhile')\n"
FILES = ("a.py", "b.py", "deep/c.py")
# Writes where it can, and leaves a daemon behind. It plays the user, too, who needs not be enclosed.
PROGRAM = """\
import os, shutil, subprocess, sys, time
open("log.csv", "a").write("a line\\n")
open("../beside.txt", "w").write("overwritten")
os.path.exists("results") and shutil.rmtree("results")
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
time.sleep(0.3)
"""
_MARK = "GRADSAN_CHAOS"
_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_LONGEST = 4.0  # seconds after which a signal comes, at most
_PATIENCE = 30.0  # seconds for what was killed to be gone


@dataclass(frozen=True, slots=True)
class Scene:
    """A project with three files that can be fixed, one of them behind a link, and things that must not change."""

    folder: Path
    mark: str

    @property
    def project(self) -> Path:
        """The working directory."""
        return self.folder / "project"

    def set_up(self) -> None:
        """As it is before anything happens."""
        for folder in ("project/deep", "project/results", "temporary", "cache"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "beside.txt").write_text("precious", encoding="utf-8")
        for file, text in {**dict.fromkeys(FILES, BAD), "run.py": PROGRAM, "results/best.txt": "precious"}.items():
            (self.project / file).write_text(text, encoding="utf-8")
        (self.project / "link.py").symlink_to("deep/c.py")

    def start(self, *, verify: bool, before: Callable[[], None] | None = None) -> "subprocess.Popen[bytes]":
        """`gradsan fix --write`."""
        command = [sys.executable, "-m", "gradsan", "fix", "--write", "a.py", "b.py", "link.py"]
        own = {"TMPDIR": str(self.folder / "temporary"), "XDG_CACHE_HOME": str(self.folder / "cache"), _MARK: self.mark}
        return subprocess.Popen(
            [*command, *(["--verify", "python run.py"] if verify else [])],
            cwd=self.project,
            env=os.environ | own | {"PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=before,  # noqa: PLW1509 # limits, before there are threads
        )

    def faults(self, new: str) -> list[str]:
        """All that is not as it must be, when everything has ended."""
        found = [f"still running: {each}" for each in self._running()]
        allowed = {BAD, new, BAD + TYPED, new + TYPED}
        texts = {file: (self.project / file).read_text(encoding="utf-8") for file in FILES}
        found += [f"{file} is neither old nor new" for file, text in texts.items() if text not in allowed]
        if not (self.project / "link.py").is_symlink():
            found.append("the link was replaced")
        precious = [self.folder / "beside.txt", self.project / "results" / "best.txt"]
        found += [f"{file.name} was changed" for file in precious if file.read_text(encoding="utf-8") != "precious"]
        known = {*FILES, "link.py", "run.py", "deep", "results", "results/best.txt"}
        there = {path.relative_to(self.project).as_posix() for path in self.project.rglob("*")}
        found += [f"left: {each}" for each in sorted(there - known)]
        return found + [f"left: {each.name}" for each in (self.folder / "temporary").iterdir()]

    def _running(self) -> list[str]:
        """Processes of this scene that do not end."""
        until = time.monotonic() + _PATIENCE
        while (left := _marked(self.mark)) or any((self.folder / "temporary").iterdir()):
            if time.monotonic() > until:
                return left
            time.sleep(0.05)
        return []


def _marked(mark: str) -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{_MARK}={mark}".encode() in file.read_bytes() and int(file.parent.name) != os.getpid():
                found.append((file.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # it has ended
            continue
    return found


def killed(scene: Scene, choice: random.Random) -> str:
    """A signal, at any moment."""
    process = scene.start(verify=choice.random() < 0.6)  # most of the time there is more to end
    number, wait = choice.choice(_SIGNALS), choice.uniform(0.1, _LONGEST)
    time.sleep(wait)
    process.send_signal(number)
    process.communicate()
    return f"{number.name} after {wait:.2f} s"


def full_disk(scene: Scene, choice: random.Random) -> str:
    """No file can be longer than some bytes: as where the disk is full, writing fails in the middle."""
    most = choice.choice((0, 1, 64, len(BAD)))
    process = scene.start(verify=False, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    _, said = process.communicate()
    assert process.returncode == 2, said  # and it says so
    return f"full after {most} bytes"


def read_only(scene: Scene, choice: random.Random) -> str:
    """A file that is not to be written is not written, nor are the others."""
    (scene.project / choice.choice(FILES)).chmod(0o444)
    process = scene.start(verify=False)
    _, said = process.communicate()
    assert process.returncode == 2, said  # as above
    assert b"read-only" in said
    return "read-only"


def typed(scene: Scene, choice: random.Random) -> str:
    """Somebody saves a file in an editor meanwhile; what they typed is there afterwards."""
    process = scene.start(verify=choice.random() < 0.5)  # either way
    time.sleep(choice.uniform(0.1, _LONGEST))
    file = scene.project / choice.choice(FILES)
    saved = file.with_name(".saved")
    saved.write_text(file.read_text(encoding="utf-8") + TYPED, encoding="utf-8")
    saved.replace(file)
    process.communicate()
    assert file.read_text(encoding="utf-8").endswith(TYPED)
    return "typed"


def two_at_once(scene: Scene, choice: random.Random) -> str:
    """Two commands for the same files; one of them may be killed."""
    both = [scene.start(verify=False), scene.start(verify=choice.random() < 0.5)]  # as above
    if choice.random() < 0.5:  # as above
        time.sleep(choice.uniform(0.5, 2.0))
        both[0].send_signal(choice.choice(_SIGNALS))
    for process in both:
        process.communicate()
    return "two at once"


_ALL = (killed, killed, killed, killed, full_disk, read_only, typed, two_at_once)


def clean(folder: Path) -> str:
    """What a file becomes when nothing goes wrong."""
    scene = Scene(folder, "clean")
    scene.set_up()
    process = scene.start(verify=True)
    _, said = process.communicate()
    new = (scene.project / "a.py").read_text(encoding="utf-8")
    assert process.returncode == 0, said
    assert new != BAD
    assert scene.faults(new) == []
    return new


def play(seed: int, new: str) -> tuple[str, list[str]]:
    """One scene: what was done, and what is wrong after it."""
    choice = random.Random(seed)  # no secret
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        scene = Scene(Path(folder).resolve(), f"{os.getpid()}-{seed}")
        scene.set_up()
        act = _ALL[seed % len(_ALL)]
        return f"{act.__name__}: {act(scene, choice)}", scene.faults(new)


def main() -> int:
    """As many scenes as asked for; the status says whether all ended well."""
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        new = clean(Path(folder).resolve())
    counted: Counter[str] = Counter()
    wrong = 0
    for seed in range(int(sys.argv[1])):
        what, faults = play(seed, new)
        counted[what.partition(":")[0]] += 1
        wrong += bool(faults)
        for fault in faults:
            print(f"{seed}: {what}: {fault}")  # noqa: T201 # a command
    print(f"{sum(counted.values())} kills and faults ({dict(counted)}), {wrong} of them left something wrong")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
