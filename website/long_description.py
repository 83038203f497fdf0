"""What the package index shows of the README: there, a link into the project leads nowhere.

Hatchling asks this file when it builds. `base` in `pyproject.toml` is the address of the project's files, under which
links go on; while there is none, a link becomes the words that it stands on, and a picture goes.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)")
_CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def described(readme: str, base: str) -> str:
    """The README with no link that only holds beside the project's files; what stands in blocks of code stays."""

    def led_on(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if base:
            return f"{picture}[{words}]({base.rstrip('/')}/{target})"
        return "" if picture else words

    parts = _CODE.split(readme)
    return "".join(each if place % 2 else _LINK.sub(led_on, each) for place, each in enumerate(parts))


class LongDescription(MetadataHookInterface):
    """Puts it into the metadata."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """As hatchling asks."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = described(readme, self.config["base"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
