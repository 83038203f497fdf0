"""Which sources the script and the styles of the page were built from: `python -m show.bundle_sources` notes it."""

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "page"
BUNDLE = ROOT / "src/gradsan/show/bundle"
NOTED = BUNDLE / "sources.sha256"
SETTINGS = ("package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")


def digest() -> str:
    """Of all that decides what is built."""
    files = [*(PAGE / name for name in SETTINGS), *sorted(each for each in PAGE.glob("src/**/*") if each.is_file())]
    found = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        found.update(f"{file.relative_to(PAGE).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()


if __name__ == "__main__":
    NOTED.write_text(digest() + "\n", encoding="utf-8")
