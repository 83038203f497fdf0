"""Explanations as HTML: complete, and harmless whatever the program calls its variables."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from golden_files import Golden
from gradsan.report import Diagnosis, Edit
from gradsan.show.notebook import COPY, explanation, report
from show.scenes import CARRIED, FOREIGN, LEAK, LOST, SHARED, at
from show.scenes import report as report_of

TAGS = {"div", "b", "code", "button", "table", "tr", "td"}
HOSTILE = "</code></script><img src=x onerror=alert(1)>\"'><b onclick=alert(2)>\u202e\x1b[31m"


class Reader(HTMLParser):
    """All tags with their attributes, and the text between."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One more."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Some text."""
        self.text += data


def test_golden_html(golden: Golden) -> None:
    """Read it in a browser, with a light and a dark theme."""
    golden.check("html/carried_state.html", explanation(CARRIED) + "\n")


@pytest.mark.parametrize("scene", [CARRIED, SHARED, LOST, LEAK, FOREIGN], ids=lambda each: each.name)
def test_all_of_the_explanation_is_there(scene: Diagnosis) -> None:
    """The sentence, the fix, every place and every note; and a button for each edit, which copies the new lines."""
    reader = Reader(explanation(scene))

    copied = [attributes["data-code"] for tag, attributes in reader.tags if tag == "button"]
    wanted = [scene.message, *(fix.title for fix in scene.fixes), *scene.notes, "created here" if scene.made else ""]
    assert [each for each in wanted if each.replace("`", "") not in reader.text] == []
    assert len(copied) == sum(len(fix.edits) for fix in scene.fixes[:1])
    assert all(
        code and code in edit.new for fix in scene.fixes[:1] for edit, code in zip(fix.edits, copied, strict=True)
    )


def test_text_of_others_is_text() -> None:
    """No tag, attribute or control character comes from the program."""
    place = at(HOSTILE, 3, HOSTILE)
    fix = replace(CARRIED.fixes[0], title=f"detach {HOSTILE}", edits=(Edit(HOSTILE, 3, 3, "x = 1", f"x = {HOSTILE}"),))
    scene = replace(CARRIED, message=f"`{HOSTILE}` is old", made=place, used=place, notes=(HOSTILE,), fixes=(fix, fix))

    html = explanation(scene)
    reader = Reader(html)

    assert {tag for tag, _ in reader.tags} <= TAGS
    assert {name for tag, attributes in reader.tags for name in attributes if tag != "button"} <= {"style"}
    assert {attributes["onclick"] for tag, attributes in reader.tags if tag == "button"} == {COPY}
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "<img src=x onerror=alert(1)>" in reader.text


def test_values_show_themselves() -> None:
    """As notebooks ask of them."""
    found = report_of(CARRIED, LEAK)

    assert CARRIED._repr_html_() == explanation(CARRIED)
    assert found._repr_html_() == report(found)
    assert "2 problems found" in report(found)
    assert "nothing found" in report(report_of())
