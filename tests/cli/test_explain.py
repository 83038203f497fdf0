"""`gradsan explain`: pages and the table, for people and for programs."""

import json

import pytest

from cli.conftest import Workshop
from gradsan.causes import all_causes
from gradsan.report import Diagnosis, Report
from gradsan.show.json import write

REPORT = Report(
    gradsan="0.1.0",
    python="3.12.3",
    torch="2.13.0",
    argv=("train.py",),
    diagnoses=(
        Diagnosis("GS103", "carried-state", "error", "run", "certain", "`h` still carries the graph of step 1"),
    ),
)


@pytest.mark.parametrize("asked", ["GS103", "gs103", "carried-state"])
def test_page_is_found_by_code_and_by_name(asked: str, workshop: Workshop) -> None:
    """In whatever case it was copied."""
    ended = workshop.gradsan("explain", asked)

    assert ended.stdout.startswith("GS103 carried-state\n")
    assert (ended.status, ended.stderr) == (0, "")


def test_page_says_where_it_is_on_the_site(workshop: Workshop) -> None:
    """If the project says where that is: its base address, or the address of a page."""
    assert "On the site" not in workshop.gradsan("explain", "carried-state").stdout

    for address, there in (
        ("https://example.org/gradsan/", "https://example.org/gradsan/docs/codes/GS103.html"),
        ("https://example.org/{code}.md", "https://example.org/GS103.md"),
    ):
        workshop.write("pyproject.toml", f"[tool.gradsan]\ndocs-url = '{address}'\n")
        assert workshop.gradsan("explain", "carried-state").stdout.endswith(f"\nOn the site: {there}\n")


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "command:quit", "https://a b", "https://a)[b](c", "https://"]
)
def test_what_is_no_address_of_a_site_is_refused(address: str, workshop: Workshop) -> None:
    """Editors make a link of it, and the project may be anybody's."""
    workshop.write("pyproject.toml", f"[tool.gradsan]\ndocs-url = '{address}'\n")

    refused = workshop.gradsan("explain", "GS103")

    assert refused.status == 2
    assert "`docs-url` in [tool.gradsan]" in refused.stderr
    assert "is no address; begin it with https://" in refused.stderr


def test_unknown_code_names_the_nearest(workshop: Workshop) -> None:
    """One sentence, and the way to the list of all."""
    ended = workshop.gradsan("explain", "GS9")

    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr.startswith("gradsan: there is no code 'GS9'; did you mean GS")
    assert len(ended.stderr.splitlines()) == 1


def test_table_lists_every_cause(workshop: Workshop) -> None:
    """Each under its code, once."""
    ended = workshop.gradsan("explain")

    listed = [line.split()[0] for line in ended.stdout.splitlines() if line.startswith("  GS")]
    assert sorted(listed) == [each.code for each in all_causes()]


def test_page_as_json_has_its_fields(workshop: Workshop) -> None:
    """For documentation and editors; no text is written twice."""
    one = json.loads(workshop.gradsan("explain", "GS103", "--format", "json").stdout)
    every = json.loads(workshop.gradsan("explain", "--format", "json").stdout)

    assert list(one) == ["code", "name", "severity", "summary", "explanation", "example", "fix", "unless", "tempting"]
    assert list(one["example"]) == ["program", "shows", "fixed", "fixed_shows"]
    assert one in every
    assert len(every) == len(all_causes())


@pytest.mark.parametrize("form", ["concise", "sarif", "github", "gitlab"])
def test_formats_of_reports_are_not_those_of_a_page(form: str, workshop: Workshop) -> None:
    """A page has no places that a tool could mark."""
    workshop.write("report.json", write(REPORT))

    page = workshop.gradsan("explain", "GS103", "--format", form)
    report = workshop.gradsan("explain", "report.json", "--format", form)

    assert (page.status, page.stdout) == (2, "")
    assert page.stderr == f"gradsan: the page of a code has no format {form!r}; use text or json\n"
    assert (report.status, report.stderr) == (0, "")
    assert "GS103" in report.stdout


def test_colour_can_be_asked_for(workshop: Workshop) -> None:
    """By option or by environment; a pipe has none by itself."""
    plain = workshop.gradsan("explain", "GS103").stdout

    assert "\x1b" not in plain
    assert "\x1b" in workshop.gradsan("explain", "GS103", "--color", "always").stdout
    assert "\x1b" in workshop.gradsan("explain", "GS103", FORCE_COLOR="1").stdout
    assert plain == workshop.gradsan("explain", "GS103", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_terminal_that_lacks_a_letter_shows_the_rest(workshop: Workshop) -> None:
    """A page is no reason to fail."""
    ended = workshop.gradsan("explain", "GS103", PYTHONIOENCODING="ascii")

    assert (ended.status, ended.stderr) == (0, "")
    assert "a second time ..." in ended.stdout
    assert ended.stdout.isascii()


def test_page_fits_the_width_of_the_terminal(workshop: Workshop) -> None:
    """Prose is wrapped to it, and no wider than can be read."""
    narrow = workshop.gradsan("explain", "GS103", COLUMNS="60").stdout
    wide = workshop.gradsan("explain", "GS103", COLUMNS="400").stdout

    assert 50 < max(map(len, narrow.partition("Example")[0].splitlines())) <= 60
    assert 110 < max(map(len, wide.partition("Example")[0].splitlines())) <= 120


def test_saved_report_is_shown_again(workshop: Workshop) -> None:
    """As it was shown when it was created; as JSON it comes out as it was saved."""
    workshop.write("report.json", write(REPORT))

    as_text = workshop.gradsan("explain", "report.json")
    as_json = workshop.gradsan("explain", "report.json", "--format", "json")

    assert (as_text.status, as_text.stderr) == (0, "")
    assert "GS103 carried-state" in as_text.stdout
    assert (as_json.status, as_json.stdout) == (0, write(REPORT))


@pytest.mark.parametrize("content", [None, "", "[]", '{"schema": 1}'])
def test_file_that_is_no_report_is_reported_with_status_2(content: str | None, workshop: Workshop) -> None:
    """Missing or not ours: one message, no traceback."""
    if content is not None:
        workshop.write("report.json", content)

    ended = workshop.gradsan("explain", "report.json")

    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr.startswith("gradsan: ")
    assert "Traceback" not in ended.stderr
