"""No file holds its reader up."""

import os
import sys
from pathlib import Path

import pytest

from gradsan.source.bounded import content_of


@pytest.mark.skipif(sys.platform == "win32", reason="it has other devices")
def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    """A pipe would wait for whoever writes to it, a device would never end."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")

    for name in ("pipe", "link", "."):
        with pytest.raises(OSError, match=r"plain file|directory"):
            content_of(tmp_path / name)


def test_file_is_read_to_its_end_or_not_at_all(tmp_path: Path) -> None:
    """Half a program would be another one."""
    (tmp_path / "a.py").write_bytes(b"x" * 3_000_000)

    assert len(content_of(tmp_path / "a.py")) == 3_000_000
    with pytest.raises(OSError, match="larger than 2 MB"):
        content_of(tmp_path / "a.py", 2_000_000)


def test_name_that_no_file_can_have_is_an_error_of_the_system() -> None:
    """Whoever reads expects those."""
    with pytest.raises(OSError, match="name"):
        content_of("a\0b")
