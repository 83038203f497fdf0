"""No source makes the checker fail: what cannot be read is reported in one sentence, and the run goes on."""

import sys
import sysconfig
import tracemalloc
from pathlib import Path
from random import Random

import pytest

from gradsan.check.reading import check_content

CALL = "x.backward()\n"
STANDARD = Path(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"def f(:\n", "syntax error"),
        (b"x = 1\0\n", "null bytes"),
        (b"# -*- coding: nonsense -*-\n", "unknown encoding"),
        (b"\xff\xfe\xfa", "encoding"),
        (b"x = [\n" + b"0,\n" * 3_000_000 + b"]\n", "larger than"),
        (("(" * 1_000 + ")" * 1_000).encode(), "nested"),
        (b"# coding: undefined\nx.backward()\n", "encoding"),
        (b"# coding: punycode\nx.backward()\n", "encoding"),
        (b"# coding: rot13\nx.backward()\n", "encoding"),
        (b"# coding: utf-7\n+2AA-.backward()\n", "surrogates"),
    ],
    ids=["syntax", "nulls", "encoding", "bytes", "size", "parentheses", "undefined", "punycode", "rot13", "utf-7"],
)
def test_unreadable_file_is_reported(content: bytes, problem: str) -> None:
    """What is wrong with it, and no traceback."""
    checked = check_content("odd.py", content)

    assert checked.problem is not None
    assert problem in checked.problem or "syntax error" in checked.problem
    assert not checked.internal


@pytest.mark.parametrize(
    "source",
    [
        "-" * 900 + "x\n" + CALL,
        "+".join(["x"] * 2_000) + "\n" + CALL,  # of 3,000, Python 3.12.1 itself makes nothing
        "".join("    " * depth + f"for i{depth} in y:\n" for depth in range(19)) + "    " * 19 + CALL,
        "def f():\n    return f()\nf()\n" + CALL,
        "class A(A): pass\nA().b.c[0](1).backward()\n",
        "x = []\nx.append(x)\nfor y in x: y.backward()\n",
        "d = {}\nd['d'] = d\nd['d']['d'].backward()\n",
        "a, (b, *c), d = e\n*f, g = h\n" + CALL,
        "def g():\n    yield from g()\nfor x in g(): x.backward()\n",
        "import torch\nx = 10 ** 10 ** 10\n" + CALL,
        "match x:\n    case {'a': [1, *r]}: x.backward()\n",
        "async def f():\n    async with a as b:\n        async for c in d: await c.backward()\n",
        "x: int\ndel x, y.z, w[0]\nglobal q\n" + CALL,
        "lambda *a, b=1, **k: (yield)\n" + CALL,
        "from . import *\nfrom .a.b import c as d\nimport e.f.g as h, i.j\n" + CALL,
        "\N{GREEK SMALL LETTER ALPHA} = 'ü'; \N{GREEK SMALL LETTER ALPHA}.backward()\n",
    ],
)
def test_odd_source_is_read(source: str) -> None:
    """Deep, circular or endless: it is read as far as it goes."""
    assert check_content("odd.py", source.encode()).problem is None


@pytest.mark.parametrize(
    "statement",
    [
        "s = s + s",
        "s += s",
        "x = x + x",
        "x += x",
        "x.extend(x)",
        "x = [*x, *x]",
        "x = x * 9",
        "x = [x, x]",
        "d = {**d, 'd': d}",
        "x = list(zip(x, x))",
        "x = sum([x, x], [])",
        "f = (lambda g: lambda y: g(g(y)))(f)",
        "n = n * n",
        "l = l + l",
    ],
)
def test_what_is_doubled_again_and_again_stays_small(statement: str) -> None:
    """Nothing is built that grows with every line; what the lines around it show is found all the same."""
    start = "import torch\nw = torch.ones(1, requires_grad=True)\nl = (w * w).sum()\n"
    names = "s, x, d, n, f = 'abc', [w], {}, 3, lambda y: y\n"
    program = start + names + f"{statement}\n" * 40 + "m = w.exp().sum()\nm.backward()\nm.backward()\n"
    tracemalloc.start()

    found = check_content("growing.py", program.encode())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [each.code for each in found.diagnoses] == ["GS101"]
    assert peak < 100_000_000


def test_form_feeds_end_no_line() -> None:
    """Lines are counted as Python counts them."""
    program = (
        b"import torch\nw = torch.ones(2, requires_grad=True)\n\x0c\nl = w.exp().sum()\nl.backward()\nl.backward()\n"
    )

    (diagnosis,) = check_content("odd.py", program).diagnoses

    assert diagnosis.used is not None
    assert (diagnosis.used.line, diagnosis.used.source) == (6, "l.backward()")


def test_encodings_and_line_ends_are_python_s_own() -> None:
    """A file in another encoding, with a mark at its start or with foreign line ends, is the same program."""
    program = "import torch\nw = torch.ones(2, requires_grad=True)\nü = w.exp().sum()\nü.backward()\nü.backward()\n"
    forms = [
        program.encode(),
        b"\xef\xbb\xbf" + program.encode(),
        b"# coding: latin-1\n" + program.encode("latin-1"),
        program.replace("\n", "\r\n").encode(),
    ]

    for form in forms:
        assert [each.code for each in check_content("odd.py", form).diagnoses] == ["GS101"]


@pytest.mark.parametrize("name", ["test_grammar.py", "test_syntax.py", "test_generators.py", "test_patma.py"])
def test_python_s_own_tests_are_read(name: str) -> None:
    """The strangest programs there are; each is made worth reading."""
    file = STANDARD / "test" / name
    if not file.exists():
        pytest.skip("this Python comes without its tests")

    assert not check_content(str(file), file.read_bytes() + b"\n" + CALL.encode()).internal


NAMES = ("loss", "model", "h", "opt", "torch", "self", "x")
SIMPLE = (
    "{0} = {1}({2}, {0})",
    "{0}.backward({1})",
    "{0}.append({1})",
    "{0} = {1}.detach()",
    "{0}.{1} = {2}",
    "{0} += {1}",
)
BLOCKS = ("for {0} in {1}:", "if {0}:", "while {0}:", "def {0}({1}):", "with {0} as {1}:", "class {0}({1}):")


def nonsense(random: Random, depth: int = 3) -> str:
    """A line, or a block, of a program that makes no sense."""
    chosen = random.choice(SIMPLE if depth == 0 or random.random() < 0.4 else BLOCKS)
    head = chosen.format(*random.choices(NAMES, k=3))
    if chosen in SIMPLE:
        return head
    body = "\n".join(nonsense(random, depth - 1) for _ in range(random.randint(1, 3)))
    return head + "\n" + "\n".join(f"    {each}" for each in body.splitlines())


@pytest.mark.parametrize("seed", range(60))
def test_no_program_makes_the_checker_raise(seed: int) -> None:
    """Random programs over the names that the checker listens for."""
    random = Random(seed)
    source = "\n".join([*(nonsense(random) for _ in range(6)), "loss.backward()"]) + "\n"

    assert check_content("random.py", source.encode()).problem is None


def test_recursion_limit_is_left_alone_for_others() -> None:
    """Reading deep programs needs depth; it is never lowered."""
    before = sys.getrecursionlimit()

    check_content("odd.py", CALL.encode())

    assert sys.getrecursionlimit() >= before
