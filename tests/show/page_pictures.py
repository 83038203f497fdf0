"""The pictures of pages in the documents: `python -m show.page_pictures`, as `make page-pictures` does."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from show.chromium import FOUND, chromium

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs/pictures"
Scheme = Literal["light", "dark"]
# Program, view, colours, how much of the page is shown.
SHOWN: tuple[tuple[str, str, Scheme, int], ...] = (
    ("own_cell/broken.py", "Explanation", "light", 1060),
    ("own_cell/broken.py", "Graph", "light", 900),
    ("running_loss/broken.py", "Timeline", "light", 830),
    ("lightgcn/torch_broken.py", "Graph", "dark", 900),
)
ZOOMED_OUT = 0.8


def main() -> None:
    """Run each program, open its page, and keep what is seen."""
    with tempfile.TemporaryDirectory() as folder, chromium() as tab:
        for program, view, scheme, height in SHOWN:
            page = Path(folder) / f"{program.replace('/', '-')}.html"
            if not page.exists():
                command = [sys.executable, "-m", "gradsan", "run", "--format", "html", "-o", str(page)]
                subprocess.run([*command, f"examples/{program}"], cwd=ROOT, capture_output=True, check=False)
            tab.ask("Emulation.setDeviceMetricsOverride", width=1360, height=height, deviceScaleFactor=1, mobile=False)
            tab.open(page, scheme=scheme)
            tab.click("[role=tab]", view)
            tab.run("new Promise((done) => setTimeout(done, 300))")
            name = f"page-{program.partition('/')[0].replace('_', '-')}-{view.lower()}.webp"
            clip = {"x": 0, "y": 0, "width": 1360, "height": height, "scale": ZOOMED_OUT}
            tab.picture(PICTURES / name, clip=clip, quality=82)


if __name__ == "__main__":
    sys.exit("no Chromium is found") if FOUND is None else main()
