"""A trial touches nothing of the user's, and nothing of it is left."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gradsan.fix.trials.sandbox.copies import copy_project
from gradsan.fix.trials.sandbox.plans import Plan
from gradsan.fix.trials.sandbox.supervised import TrialError, can_have_layers, new_folder, supervised
from gradsan.fix.trials.sandbox.unsupervised import unsupervised

pytestmark = pytest.mark.cold  # what a program leaves running is told by who started it
needs_layers = pytest.mark.skipif(not can_have_layers(), reason="this system lets nobody have a file system")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no supervisor")

# All that a program may do to files: Python, a database, a C library, child processes, links, whole folders.
HARM = """\
import ctypes, os, shutil, sqlite3, subprocess, sys
open("log.csv", "a").write("more\\n")
open("new.txt", "w").write("new")
open("../data/numbers.txt", "w").write("overwritten")
open(sys.argv[1] + "/data/absolute.txt", "w").write("overwritten")
open("hard.txt", "w").write("overwritten")
open("soft.txt", "w").write("overwritten")
with sqlite3.connect("runs.db") as base:
    base.execute("create table more (a)")
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.fclose.argtypes = [ctypes.c_void_p]
libc.fclose(libc.fopen(b"by_c.txt", b"w"))
subprocess.run(["sh", "-c", "echo overwritten > by_child.txt; chmod 600 log.csv; mkdir made"], check=True)
shutil.rmtree("results")
os.rename("moved.txt", "../moved.txt")
os.truncate("cut.txt", 1)
os.makedirs(os.path.expanduser("~/.cache/of_a_trial"))
print(os.getcwd(), open("train.py").read())
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with data beside it, and files of every kind."""
    root = tmp_path.resolve() / "project"
    for folder in (root / "results", tmp_path / "data"):
        folder.mkdir(parents=True)
    names = ("log.csv", "moved.txt", "cut.txt", "by_c.txt", "by_child.txt", "results/best.pt", "../data/numbers.txt")
    for name in (*names, "../data/absolute.txt", "../data/linked.txt"):
        (root / name).write_text("precious", encoding="utf-8")
    (root / "train.py").write_text("old\n", encoding="utf-8")
    (root / "harm.py").write_text(HARM, encoding="utf-8")
    (root / "hard.txt").hardlink_to(tmp_path / "data" / "linked.txt")
    (root / "soft.txt").symlink_to(tmp_path / "data" / "linked.txt")
    (root / "runs.db").write_bytes(b"")
    return root


def everything(folder: Path) -> dict[str, tuple[int, int, bytes | str]]:
    """Each file with its mode, its time and its content, each link with where it leads."""
    found: dict[str, tuple[int, int, bytes | str]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = str(path.readlink()) if path.is_symlink() else "" if path.is_dir() else path.read_bytes()
        found[str(path.relative_to(folder))] = status.st_mode, status.st_mtime_ns, content
    return found


def plan_of(project: Path, command: str, *, layers: bool = True, **changed: bytes) -> Plan:
    """A trial of that command."""
    folder = new_folder()
    home = {**os.environ, "HOME": str(project.parent), "TRIAL": str(folder)}
    named = {f"{name}.py": content for name, content in changed.items()}
    return Plan(folder, project, layers, f"{sys.executable} {command}", environment=home, changed=named)


@needs_layers
def test_whatever_a_program_does_every_byte_is_as_before(project: Path) -> None:
    """It runs where it always runs, sees what is changed for it, and what it writes is gone."""
    before = everything(project.parent)

    with supervised(plan_of(project, f"harm.py {project.parent}", train=b"new\n"), seconds=60) as ended:
        assert (ended.status, ended.said) == (0, f"{project} new\n\n")

    assert everything(project.parent) == before


PLAIN_USER = """\
import ctypes, sys
ctypes.CDLL(None).prctl(24, 21, 0, 0, 0)  # programs that are started from here on have no right to mount
sys.path.insert(0, sys.argv[2])
from fix.test_sandbox import *
project = Path(sys.argv[1])
with supervised(plan_of(project, f"harm.py {project.parent}", train=b"new"), seconds=60) as ended:
    print(ended.status, ended.said)
"""


@needs_layers
def test_a_user_without_rights_can_have_it_too(project: Path) -> None:
    """By a user namespace, in which what is mounted over another cannot be taken away: folder by folder is overlaid."""
    before = everything(project.parent)

    tests = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", PLAIN_USER, str(project), tests]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)

    if "TrialError" in done.stderr:
        pytest.skip("this system has no namespaces for users")
    assert done.stdout.startswith(f"0 {project} new"), done.stderr + done.stdout
    assert everything(project.parent) == before


@needs_fork
def test_a_copy_keeps_the_project_as_it_is(project: Path) -> None:
    """Nothing in it is a link: what a program does to it, it does to the copy."""
    before = everything(project)
    harm = HARM.replace('open("../data', 'open("data_').replace('open(sys.argv[1] + "/data', 'open("data_')
    (project / "harm.py").write_text(harm.replace('"data_/', '"data_'), encoding="utf-8")
    before = everything(project)

    with supervised(plan_of(project, "harm.py", layers=False, train=b"new\n"), seconds=60) as ended:
        assert ended.status == 0, ended.said
        assert ended.said.endswith("/work new\n\n")

    assert everything(project) == before
    assert (project.parent / "data" / "linked.txt").read_text(encoding="utf-8") == "precious"


def test_copies_are_limited_and_know_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small files come first; environments and caches are not part of a project."""
    for name, size in {"train.py": 10, "data/large.bin": 2000, "env/pyvenv.cfg": 1, "env/lib/a.py": 1}.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_bytes(b"0" * size)
    monkeypatch.setattr("gradsan.fix.trials.sandbox.copies._ALL", 1000)

    copy_project(tmp_path / "root", tmp_path / "copy", {"train.py": b"new"})

    there = {path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*")}
    assert there == {"train.py", "data", "env"}
    assert (tmp_path / "copy" / "train.py").read_bytes() == b"new"


def test_without_a_supervisor_a_copy_is_all_there_is(project: Path) -> None:
    """As on Windows."""
    plan = plan_of(project, "-c \"print(open('train.py').read()); open('log.csv', 'w')\"", layers=False, train=b"new\n")

    with unsupervised(plan, seconds=60) as ended:
        assert (ended.status, ended.said.strip()) == (0, "new")

    assert (project / "log.csv").read_text(encoding="utf-8") == "precious"
    assert not plan.folder.exists()


WITHIN = """\
import socket, sys
from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(create=True, size=9)
memory.buf[0] = 7
other = shared_memory.SharedMemory(memory.name)
print(other.buf[0])
memory.unlink()
with socket.socket(socket.AF_UNIX) as client:
    client.connect(sys.argv[1])
    print(client.recv(9).decode())
"""


def _answer(server: socket.socket) -> None:
    client, _ = server.accept()
    with client:
        client.send(b"heard")


@needs_layers
def test_processes_share_memory_and_reach_sockets_that_listen(project: Path) -> None:
    """Workers of a data loader need the first; agents and servers of the user's are at the second."""
    (project / "within.py").write_text(WITHIN, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        name = f"{folder}/here.sock"  # which must be short
        server.bind(name)
        server.listen()
        threading.Thread(target=_answer, args=[server], daemon=True).start()
        with supervised(plan_of(project, f"within.py {name}"), seconds=60) as ended:
            said = ended.said

    assert said.splitlines()[0] == "7", said
    assert said.splitlines()[1] == "heard", said


DAEMON = "import os, time; os.fork() or (os.setsid(), os.fork(), time.sleep(300))"


@pytest.mark.parametrize("layers", [pytest.param(True, marks=needs_layers), pytest.param(False, marks=needs_fork)])
def test_daemons_end_with_their_trial(project: Path, *, layers: bool) -> None:
    """Also those that have left their group."""
    plan = plan_of(project, f'-c "{DAEMON}"', layers=layers)
    began = time.monotonic()

    with supervised(plan, seconds=60) as ended:
        assert ended.status == 0

    assert list(running(plan.folder)) == []
    assert time.monotonic() - began < 60
    assert not plan.folder.exists()


@pytest.mark.parametrize("layers", [pytest.param(True, marks=needs_layers), pytest.param(False, marks=needs_fork)])
def test_what_takes_too_long_is_ended(project: Path, *, layers: bool) -> None:
    """With all that it has started, and what it had printed is known."""
    plan = plan_of(project, "-uc \"print('here'); import time; time.sleep(300)\"", layers=layers)

    with supervised(plan, seconds=2) as ended:
        assert ended.status is None

    assert list(running(plan.folder)) == []
    assert not plan.folder.exists()


@needs_fork
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_the_one_who_waits_is_killed(project: Path, number: int) -> None:
    """The supervisor notices, and tidies up."""
    plan = plan_of(project, f'-c "{DAEMON}; import time; time.sleep(300)"', layers=can_have_layers())
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with supervised(plan, seconds=60):
            os._exit(0)
    wait_until(lambda: len(list(running(plan.folder))) > 1)

    os.kill(child, number)
    os.waitpid(child, 0)

    wait_until(lambda: not plan.folder.exists() and not list(running(plan.folder)))


@needs_layers
def test_program_dies_with_its_supervisor(project: Path) -> None:
    """Also where somebody kills that one; whoever waits hears of it, and the folder is removed."""
    plan = plan_of(project, f'-c "{DAEMON}; import time; time.sleep(300)"')
    killer = threading.Thread(target=_kill_supervisor, args=[plan.folder])
    killer.start()

    with pytest.raises(TrialError, match="was ended"), supervised(plan, seconds=60):
        pass

    killer.join()
    wait_until(lambda: not list(running(plan.folder)))
    assert not plan.folder.exists()


def _kill_supervisor(folder: Path) -> None:
    wait_until(lambda: len(list(running(folder))) > 1)
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            parent = int((file.parent / "stat").read_text(encoding="utf-8").rpartition(") ")[2].split()[1])
            if parent == os.getpid() and b"sandbox.supervisor" in file.read_bytes():
                os.kill(int(file.parent.name), signal.SIGKILL)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Half a minute at most."""
    until = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def running(folder: Path) -> Iterator[int]:
    """Processes of a trial, by a variable that they have."""
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            if str(folder).encode() in file.read_bytes():
                yield int(file.parent.name)
        except OSError:  # it has ended
            continue
