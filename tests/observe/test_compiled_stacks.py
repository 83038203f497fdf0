"""Where an op of a compiled function was made: at the line that called it, on every Python."""

from pathlib import Path

from gradsan.facts.location import Frame
from gradsan.observe.failure.scene import outside_of_compiled

SOURCE = """\
@torch.compile(
    backend="aot_eager",
)
def scores(
    x,
):
    "Says how real they are."
    return critic(x)

short = torch.compile(lambda x: critic(x)); plain = [critic(x) for x in batch]
def on_one_line(x): return critic(x)
out = scores(short(x)), on_one_line(x)
"""


def test_op_is_created_where_a_compiled_function_is_called(tmp_path: Path) -> None:
    """From 3.12 on the interpreter reports compiled code as well, all of it at the head of its function."""
    file = str(tmp_path / "program.py")
    Path(file).write_text(SOURCE, encoding="utf-8")
    asking = Frame(file, 12, "<module>")

    for line in (1, 4):
        assert outside_of_compiled((asking, Frame(file, line, "scores"))) == (asking,)
    for function, line in (("scores", 8), ("<lambda>", 10), ("<listcomp>", 10), ("on_one_line", 11)):
        stack = (asking, Frame(file, line, function))
        assert outside_of_compiled(stack) == stack
    assert outside_of_compiled((asking,)) == (asking,)
