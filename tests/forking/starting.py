"""The `python` that tests start, and the process behind it."""

import marshal
import os
import secrets
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REAL_PYTHON = sys.executable
CAN_FORK: bool = sys.platform == "linux" and sys.version_info < (3, 13)  # 3.13 does not survive a fork by such a thread
HERE = Path(__file__).parent
_SERVER = "import sys; sys.path.insert(0, sys.argv[1]); from forking.server import main; main(*sys.argv[2:])"


@contextmanager
def fork_server(folder: Path) -> Iterator[Path]:
    """A `python` whose programs need not wait for torch; it serves within the block."""
    if not CAN_FORK:
        yield Path(REAL_PYTHON)
        return
    python = folder / "bin" / "python"
    python.parent.mkdir()
    address = f"gradsan-tests-{secrets.token_hex(8)}"
    environment = {name: text for name, text in os.environ.items() if name != "GRADSAN"} | {"PYTHONHASHSEED": "0"}
    own = marshal.dumps({name.encode(): text.encode() for name, text in environment.items()}).hex()
    words = [REAL_PYTHON, "-I", "-S", str(HERE / "client.py"), REAL_PYTHON, address, own]
    python.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("\0" + address)
    listener.listen(64)
    server = subprocess.Popen(
        [REAL_PYTHON, "-c", _SERVER, str(HERE.parent), str(listener.fileno()), str(python)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,  # what most programs have
        pass_fds=[listener.fileno()],
        start_new_session=True,
    )
    listener.close()
    try:
        yield python
    finally:
        server.communicate()
