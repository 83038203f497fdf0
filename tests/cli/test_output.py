import pytest

from gradsan.entry.screen import ColorChoice, wants_color


@pytest.mark.parametrize(
    ("choice", "terminal", "environment", "expected"),
    [
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("auto", False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("auto", True, {"TERM": "dumb"}, False),
    ],
)
def test_option_beats_environment_beats_terminal(
    *, choice: ColorChoice, terminal: bool, environment: dict[str, str], expected: bool
) -> None:
    """And of the two variables, the one that asks for less wins; empty means unset (no-color.org)."""
    assert wants_color(choice, terminal=terminal, environment=environment) is expected
