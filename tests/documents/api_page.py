"""The page `docs/api.md`: what a program may import, as the functions and classes say it themselves."""

import dataclasses
import inspect
import re

import gradsan

_SCHEMA = "../src/gradsan/schema/report-1.json"
_HEAD = """\
# In Python

What a program may import from `gradsan`; all else may change. Nothing of it imports torch before it is needed.
"""


def api_page() -> str:
    """All of it."""
    return _HEAD + "".join(_section(name, getattr(gradsan, name)) for name in gradsan.__all__)


def _section(name: str, value: object) -> str:
    text = f"\n## `gradsan.{name}`\n\n"
    if dataclasses.is_dataclass(value):
        fields = ", ".join(f"`{each.name}`" for each in dataclasses.fields(value))
        return f"{text}{_said(value)}\n\nIts fields, as in the [JSON Schema of reports]({_SCHEMA}): {fields}.\n"
    if inspect.isclass(value):
        return f"{text}{_said(value)}\n"
    assert callable(value)
    signature = re.sub(r"\b(\w+\.)+(?=[A-Z])", "", str(inspect.signature(value)))  # `Iterable`, wherever it lives
    return f"{text}```python\ngradsan.{name}{signature}\n```\n\n{_said(value)}\n"


def _said(value: object) -> str:
    return inspect.getdoc(value) or ""
