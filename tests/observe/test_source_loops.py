"""The loops of a source file, by function."""

from pathlib import Path

from gradsan.observe.log.source_loops import Loop, loops_of

SOURCE = """\
for a in x:
    pass

@decorated
def f():
    while (one and
           two):
        for b in y:
            def g():
                for c in z:
                    use(c)
            g()
    else:
        after()

class C:
    async def h(self):
        async for d in w: use(d)
"""


def test_each_function_has_its_own_loops(tmp_path: Path) -> None:
    """A loop belongs to the function it stands in, not to those around; an `else` branch is no part of it."""
    file = tmp_path / "loops.py"
    file.write_text(SOURCE)

    assert loops_of(str(file), "<module>", 1) == (Loop(1, 2, 2),)
    assert loops_of(str(file), "f", 4) == (Loop(6, 8, 12), Loop(8, 9, 12))
    assert loops_of(str(file), "f.<locals>.g", 9) == (Loop(10, 11, 11),)
    assert loops_of(str(file), "C.h", 17) == (Loop(18, 18, 18),)
    assert loops_of(str(file), "missing", 3) == ()


def test_source_that_cannot_be_read_has_no_loops(tmp_path: Path) -> None:
    """Never an error."""
    broken = tmp_path / "broken.py"
    broken.write_text("for x in\n")

    assert loops_of(str(broken), "<module>", 1) == ()
    assert loops_of(str(tmp_path / "absent.py"), "f", 1) == ()
