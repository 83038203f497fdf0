"""Which lines run only because a container has nothing under a key, and fill it."""

from pathlib import Path

import pytest

from gradsan.source.memos import memo_filled_at

FILLS = {
    "a question above": """\
def embed(self, key):
    if key in self.memo:
        return self.memo[key]
    value = compute(key)  # here
    self.memo[key] = value
    return value
""",
    "a question around": """\
def embed(key):
    if key not in memo:
        memo[key] = compute(key)  # here
    return memo[key]
""",
    "the other branch": """\
def embed(key):
    if key in memo and not fresh:
        value = memo[key]
    else:
        value = compute(key)
    if not (key in memo):
        memo[key] = compute(key)  # here
    return value
""",
    "a variable": """\
def embed(key):
    found = memo.get(key)
    if found is None:
        if key:
            found = compute(key)  # here
        else:
            found = other(key)
        memo[key] = found
    return found
""",
    "a variable in the question": """\
def embed(key):
    if (found := memo.get(key)) is not None:
        return found
    memo[key] = compute(key)  # here
    return memo[key]
""",
    "an exception": """\
def embed(key):
    try:
        return memo[key]
    except KeyError:
        memo[key] = compute(key)  # here
        return memo[key]
""",
    "below a handled exception": """\
def embed(key):
    try:
        return memo[key]
    except KeyError:
        pass
    memo[key] = compute(key)  # here
    return memo[key]
""",
    "a loop": """\
for key in keys:
    if key in memo:
        continue
    memo[key] = compute(key)  # here
""",
}
FILLS_NONE = {
    "a state that is carried on": """\
def visit(key, x):
    if key not in memo:
        memo[key] = zeros()
    memo[key] = cell(x, memo[key])  # here
""",
    "another key": """\
def visit(key, other):
    if key in memo:
        return memo[key]
    memo[other] = compute(other)  # here
""",
    "another container": """\
def visit(key):
    if key in seen:
        return None
    memo[key] = compute(key)  # here
""",
    "a key that is there": """\
def visit(key):
    if key in memo:
        memo[key] = compute(key)  # here
""",
    "a question that leads nowhere": """\
def visit(key):
    if key in memo:
        count()
    memo[key] = compute(key)  # here
""",
    "another function": """\
def visit(key):
    if key in memo:
        return memo[key]

    def later(key):
        memo[key] = compute(key)  # here
    return later
""",
    "another exception": """\
def visit(key):
    try:
        return memo[key]
    except ValueError:
        memo[key] = compute(key)  # here
""",
}


def filled(folder: Path, code: str) -> str | None:
    """The memo that the marked line fills."""
    file = folder / "program.py"
    file.write_text(code, encoding="utf-8")
    line = next(number for number, text in enumerate(code.splitlines(), start=1) if text.endswith("# here"))
    return memo_filled_at(str(file), line)


@pytest.mark.parametrize("how", FILLS)
def test_line_fills_a_memo(tmp_path: Path, how: str) -> None:
    """It is reached only where the item is missing."""
    assert filled(tmp_path, FILLS[how]) in ("memo", "self.memo")


@pytest.mark.parametrize("how", FILLS_NONE)
def test_line_runs_whatever_is_kept(tmp_path: Path, how: str) -> None:
    """Or it fills something else than was asked for."""
    assert filled(tmp_path, FILLS_NONE[how]) is None
