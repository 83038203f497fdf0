"""`pytest --gradsan`, in real runs of pytest."""

import re

import pytest

pytestmark = pytest.mark.torch

SUITE = """
import pytest
import torch
from torch import nn

STORE = []


def train(retain=False, keep=None):
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(6):
        optimizer.zero_grad()
        loss = model(torch.ones(3, 4)).square().mean()
        loss.backward(retain_graph=retain)
        if keep is not None:
            keep.append(loss)
        optimizer.step()


@pytest.fixture(scope="module")
def shared():
    return torch.ones(2, requires_grad=True).exp().sum()


def test_clean():
    train()


def test_retains():
    train(retain=True)


def test_clean_after_it():
    train()


def test_leaks():
    train(keep=STORE)


def test_clean_after_the_leak():
    train()


@pytest.mark.gradsan(ignore=["GS302"])
def test_may_retain():
    train(retain=True)


@pytest.mark.gradsan(fail_on="never")
def test_is_noted():
    train(retain=True)


def test_commented():
    weight = torch.ones(2, requires_grad=True)
    for _ in range(6):
        weight.exp().sum().backward(retain_graph=True)  # gradsan: ignore[GS302]


def test_expects_the_error():
    loss = torch.ones(2, requires_grad=True).exp().sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_judges_by_itself(gradsan_watch):
    with gradsan_watch() as watched:
        train(retain=True)
    assert [each.code for each in watched.diagnoses] == ["GS302"]
    with gradsan_watch() as watched:
        train()
    assert watched.diagnoses == () and watched.summary.passes == 6


def test_first_of_two(shared):
    shared.backward()


def test_second_of_two(shared):
    shared.backward()


def test_fails_for_another_reason():
    train(retain=True)
    assert 1 == 2


def test_skipped():
    pytest.skip("not today")


@pytest.mark.gradsan("GS302")
def test_marked_badly():
    pass


@pytest.mark.gradsan(ignore=["GS999"])
def test_marked_with_what_is_no_code():
    pass
"""


def outcomes(result: pytest.RunResult) -> dict[str, str]:
    """By test, what `-rA` says of it."""
    lines = (re.match(r"(PASSED|FAILED|ERROR) \S+::(\w+)(?: - (.*))?$", line) for line in result.outlines)
    return {each[2]: f"{each[1]} {each[3] or ''}".strip() for each in lines if each}


@pytest.mark.parametrize("way", [(), ("-n", "1")], ids=["plain", "xdist"])
def test_each_test_answers_for_itself(pytester: pytest.Pytester, way: tuple[str, ...]) -> None:
    """Whichever process runs it: errors are explained, silent problems fail the test that has them, and no other."""
    pytester.makepyfile(test_suite=SUITE)
    # One worker runs them all: a graph that two tests share is freed by the first of them.
    result = pytester.runpytest_subprocess("--gradsan", "-rA", *way)
    found = outcomes(result)

    assert {test for test, said in found.items() if said == "PASSED"} - {"test_second_of_two"} == {
        "test_clean",
        "test_clean_after_it",
        "test_clean_after_the_leak",
        "test_may_retain",
        "test_is_noted",
        "test_commented",
        "test_expects_the_error",
        "test_judges_by_itself",
        "test_first_of_two",
    }
    assert found["test_retains"].startswith("FAILED GS302 needless-retain: ")
    assert found["test_leaks"].startswith("FAILED GS301 graph-leak: ")
    assert "GS" not in found["test_fails_for_another_reason"]
    assert found["test_marked_badly"].startswith("ERROR")
    assert found["test_marked_with_what_is_no_code"].startswith("ERROR")
    result.stdout.fnmatch_lines_random(
        [
            "test_suite.py::test_is_noted: GS302 needless-retain: *",
            '*@pytest.mark.gradsan takes ignore=[[]"GS302"[]] and fail_on="never" alone*',
            "*@pytest.mark.gradsan: *GS999*",
        ]
    )
    assert found["test_second_of_two"].startswith("FAILED GS101 same-loss-twice: ")
    result.stdout.fnmatch_lines(["*GS101 same-loss-twice: `shared`*", "*1 test_suite.py:22 *", "*2 test_suite.py:78 *"])


# What `pytest --forked` does. pytest-forked itself cannot send the reports of pytest 9.2, with or without gradsan.
FORKED = """
import json
import os

import pytest
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    read, write = os.pipe()
    if not os.fork():
        reports = [vars(each) | {"_id": None, "longrepr": each.longrepr and str(each.longrepr)}
                   for each in runtestprotocol(item, log=False)]
        os.write(write, json.dumps(reports).encode())
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as sent:
        reports = json.load(sent)
    os.wait()
    for each in reports:
        each = each | {"nodeid": item.nodeid, "location": tuple(each["location"])}
        each.pop("_id")
        item.ihook.pytest_runtest_logreport(report=pytest.TestReport(**each))
    return True
"""


def test_each_test_in_a_process_of_its_own(pytester: pytest.Pytester) -> None:
    """Its report comes as text, and has the code in its line all the same."""
    pytester.makepyfile(test_suite=SUITE)
    pytester.makeconftest(FORKED)
    tests = "test_retains or test_clean_after_it or test_second_of_two or test_is_noted"
    result = pytester.runpytest_subprocess("--gradsan", "-rA", "-k", tests)
    found = outcomes(result)

    assert found.pop("test_retains").startswith("FAILED GS302 needless-retain: ")
    assert found == dict.fromkeys(("test_clean_after_it", "test_second_of_two", "test_is_noted"), "PASSED")
    result.stdout.fnmatch_lines(["fix: remove `retain_graph=True`*", "test_suite.py::test_is_noted: GS302 *"])


SMALL = """
import torch

def test_retains():
    weight = torch.ones(2, requires_grad=True)
    for _ in range(6):
        weight.exp().sum().backward(retain_graph=True)
"""


def test_project_decides_in_its_files(pytester: pytest.Pytester) -> None:
    """`gradsan = true` for everybody; what `[tool.gradsan]` ignores fails no test; the command line decides."""
    pytester.makepyfile(test_small=SMALL)
    on = "[tool.pytest.ini_options]\ngradsan = true\n"

    def failed(settings: str, *words: str) -> int:
        pytester.makepyprojecttoml(settings)
        return pytester.runpytest_subprocess(*words).parseoutcomes().get("failed", 0)

    assert failed(on) == 1
    assert failed(on, "--no-gradsan") == 0
    assert failed(on, "--gradsan-fail-on=error") == 0
    assert failed(f'{on}gradsan_ignore = ["GS302"]\n') == 0
    assert failed(f'{on}gradsan_fail_on = "never"\n', "--gradsan-fail-on=warning") == 1
    assert failed(f'{on}[tool.gradsan]\nignore = ["GS302"]\n') == 0
    assert failed(f'{on}[tool.gradsan]\nper-file-ignores = {{ "test_*.py" = ["GS3"] }}\n') == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('gradsan_fail_on = "sometimes"', "*--gradsan: problems of the level 'sometimes' do not exist; take one of *"),
        ('gradsan_ignore = ["GS999"]', "*--gradsan: *GS999*"),
    ],
)
def test_wrong_settings_are_said_in_a_sentence(pytester: pytest.Pytester, settings: str, said: str) -> None:
    """As pytest says what is wrong with its own."""
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\n{settings}\n")
    result = pytester.runpytest_subprocess("--gradsan")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])


def test_torch_that_is_missing_is_said_in_a_sentence(pytester: pytest.Pytester) -> None:
    """With the line that installs it."""
    pytester.makeconftest("")
    pytester.makepyfile(no_torch="import sys; sys.modules['torch'] = None")
    result = pytester.runpytest_subprocess("-p", "no_torch", "--gradsan")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--gradsan: torch is not installed for this Python; install it with `pip install torch`"]
    )


@pytest.mark.cold  # what is loaded is not there before
def test_nothing_is_loaded_until_it_is_asked_for(pytester: pytest.Pytester) -> None:
    """Every project that has gradsan installed loads the plugin."""
    pytester.makepyfile("""
        import sys

        def test_loaded():
            ours = {name for name in sys.modules if name.split(".")[0] == "gradsan"}
            assert ours == {"gradsan", "gradsan.plug", "gradsan.plug.pytest_plugin"}
            assert "torch" not in sys.modules and "click" not in sys.modules
    """)
    result = pytester.runpytest_subprocess("--strict-markers")

    result.assert_outcomes(passed=1)
