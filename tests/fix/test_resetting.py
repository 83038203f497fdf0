"""State is reset as its own class or the lines beside do it; which of the two is meant, the cause asks the source."""

from pathlib import Path

import pytest

from fix.programs import MAIN, Case, live
from gradsan.facts.held import TENSOR, container
from gradsan.facts.location import Frame, Location
from gradsan.fix.ranking import ranked
from gradsan.fix.reading.resets import left_open
from gradsan.fix.writing.detaching import for_each
from gradsan.report import Diagnosis, Fix

SOURCE = """\
class Layer:
    def forward(self, x):
        self.charge = leak(self.charge) + self.weights(x)
    def reset(self):
        self.charge = torch.zeros(self.size)
def main():
    for x in loader:
        loss = upper(lower(x))
        loss.backward()
"""
TWO = live(reached_as="lower.charge", beside=["upper.charge"])
FIXES = (Fix("detach", "cut", "changes-gradients"), Fix("reset-state", "reset", "changes-gradients"))


def carried(case: Case) -> Diagnosis:
    """The charge of two layers, from one batch to the next."""
    place = case.at("upper(lower", "leak(", inner="Layer.forward")
    return case.diagnosis("GS103", "self.charge", made=place, enters=place, used=case.at("backward"))


def test_class_is_asked_to_reset_its_own_state(tmp_path: Path) -> None:
    """That of every layer that carries some, where the iteration begins: others may use them in between."""
    case = Case(tmp_path, SOURCE)

    reset = "        lower.reset()\n        upper.reset()\n"
    assert case.fixed("reset-state", carried(case), TWO) == SOURCE.replace("        loss =", reset + "        loss =")


EVALUATING = """\
def reset_all(layers):
    for each in layers:
        each.reset()
def evaluate(layers):
    reset_all(layers)
    return accuracy(layers)
"""


@pytest.mark.parametrize("evaluated", ["", "        evaluate([lower, upper])\n"])
def test_state_that_is_reset_for_other_forwards_is_reset_first(tmp_path: Path, evaluated: str) -> None:
    """To evaluate, the program begins with a new state; to train, it forgot to, also where it does both by turns."""
    case = Case(tmp_path, SOURCE + evaluated + EVALUATING)

    best, _ = ranked(FIXES, case.program(carried(case), TWO))

    assert best.kind == "reset-state"


@pytest.mark.parametrize("again", ["    lower.reset()\n", "    reset_all([lower, upper])\n"])
def test_state_that_training_resets_now_and_then_is_detached_first(tmp_path: Path, again: str) -> None:
    """Once an epoch: between the batches of one, it is to be carried on."""
    case = Case(tmp_path, SOURCE.replace("    for x", f"{again}    for x") + EVALUATING)

    best, _ = ranked(FIXES, case.program(carried(case), TWO))

    assert best.kind == "detach"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def reset(self)", "def reset(self, size)"),
        ("torch.zeros(self.size)", "0 * self.charge"),  # the graph would stay
    ],
)
def test_method_that_needs_something_or_keeps_the_graph_resets_nothing(tmp_path: Path, old: str, new: str) -> None:
    """Nobody can say what to give it."""
    case = Case(tmp_path, SOURCE.replace(old, new))

    assert "reset()" not in str(case.fixed("reset-state", carried(case), TWO))


def test_state_that_its_class_can_reset_is_detached_first(tmp_path: Path) -> None:
    """Whether the next batch has anything to do with it, nothing in the source shows."""
    case = Case(tmp_path, SOURCE)

    best, _ = ranked(FIXES, case.program(carried(case), TWO))

    assert best.kind == "detach"


@pytest.mark.parametrize("again", ["", "    lower.reset()\n", "    reset_all([lower, upper])\n"])
def test_state_that_training_never_resets_between_two_passes_is_left_open(tmp_path: Path, again: str) -> None:
    """Its class can: was that forgotten, or is it to be carried on through all of training?"""
    case = Case(
        tmp_path, SOURCE.replace("    for x", f"{again}    for x") + EVALUATING.replace("reset_all(layers)\n", "")
    )

    assert "carried on, or to begin again as at train.py:5" in str(left_open(case.program(carried(case), TWO)))


def test_lines_that_begin_again_need_not_be_a_method_of_the_state(tmp_path: Path) -> None:
    """Whoever gives it the value of the beginning; in a loop that leads to the pass, it says when."""
    plain = "def calm(layers):\n    for each in layers:\n        each.charge = None\n"
    source = SOURCE.replace("self.charge = torch.zeros(self.size)", "pass") + plain

    def is_open(source: str) -> bool:
        case = Case(tmp_path, source)
        return left_open(case.program(carried(case), TWO)) is not None

    assert is_open(source)
    assert is_open(source.replace("    for x in loader", "    lower.charge = None\n    for x in loader"))
    assert not is_open(source.replace("        loss =", "        if end(x): calm([lower])\n        loss ="))
    assert not is_open(source.replace("        loss =", "        if end(x): lower.charge = None\n        loss ="))
    assert not is_open(source.replace("each.charge = None", "each.charge = given[each]"))  # it is put there


def test_state_that_is_reset_in_every_epoch_is_carried_between_its_batches(tmp_path: Path) -> None:
    """Then the program says what it wants; nor is anything open where its class cannot reset it."""
    looped = SOURCE.replace(
        "    for x in loader:\n", "    for _ in range(3):\n     lower.reset()\n     for x in loader:\n"
    )
    case = Case(tmp_path, looped)
    assert left_open(case.program(carried(case), TWO)) is None

    case = Case(tmp_path, SOURCE.replace("self.charge = torch.zeros(self.size)", "pass"))
    assert left_open(case.program(carried(case), TWO)) is None


@pytest.mark.parametrize(
    ("helpers", "called"),
    [
        ("    def clear(self):\n        self.layer.reset()\n", "net.clear()"),
        ("def clear(layers):\n    for each in layers:\n        each.reset()\n", "clear([lower])"),
        (
            "    def clear(self):\n        self.layer.reset()\ndef all_clear(nets):\n    for n in nets: n.clear()\n",
            "all_clear([net])",
        ),
    ],
)
def test_reset_that_another_file_leads_to_says_when_the_state_begins_again(
    tmp_path: Path, helpers: str, called: str
) -> None:
    """The helper lies beside the model, over as many calls as it takes, and training calls it once an epoch."""
    model, training = SOURCE.split("def main():\n")
    (tmp_path / "model.py").write_text(model + helpers, encoding="utf-8")
    epochs = f"    for _ in range(3):\n     {called}\n"
    looped = training.replace("    for x in loader:\n", f"{epochs}     for x in loader:\n")

    def is_open(text: str) -> bool:
        case = Case(tmp_path, f"def main():\n{text}")
        outer = case.at("upper(lower")
        inner = Frame("model.py", 3, "Layer.forward")
        place = Location("model.py", 3, function="Layer.forward", stack=(*outer.stack, inner))
        found = case.diagnosis("GS103", "self.charge", made=place, enters=place, used=case.at("backward"))
        return left_open(case.program(found, TWO)) is not None

    assert not is_open(looped)
    if "all_clear" not in helpers:  # else somebody resets it, and not training
        assert is_open(looped.replace(called, "other.prepare()"))


@pytest.mark.parametrize(
    ("wiring", "is_open"),
    [
        ("handlers = {'begin': [lower.reset]}\n", False),
        ("loader.on_begin(calm)\n\ndef calm():\n    lower.reset()\n", False),
        ("hooks.append(lambda: other.clear())\n\ndef calm():\n    lower.reset()\n", True),
    ],
)
def test_reset_that_is_handed_on_as_a_callback_is_called_by_training(
    tmp_path: Path, wiring: str, *, is_open: bool
) -> None:
    """Whoever has it calls it by another name; one that nobody is given stays uncalled."""
    case = Case(tmp_path, SOURCE + wiring)

    assert (left_open(case.program(carried(case), TWO)) is not None) is is_open


def test_state_of_a_part_of_each_layer_is_treated_in_every_layer(tmp_path: Path) -> None:
    """The same attribute of the items of one list is one loop; another one is not lost."""
    case = Case(tmp_path, SOURCE)
    source = case.program(carried(case)).source(MAIN)
    assert source is not None

    def cleared(names: list[str]) -> list[str]:
        return for_each(names, source, lambda name: [f"{name} = None"])

    parts = ["net.blocks[0].cell.h", "net.blocks[1].cell.h"]
    in_a_loop = "for layer in net.blocks:\n    layer.cell.h = None\n"
    assert cleared(parts) == [in_a_loop]
    assert cleared([*parts, "net.blocks[0].gate.h"]) == [in_a_loop, "net.blocks[0].gate.h = None"]


EPOCHS = """\
class Memory:
    def reset(self):
        self.inbox = {}
    def read(self):
        return use(self.inbox)
def main():
    for _ in range(3):
        total = inner_1()
def inner_1():
    memory.reset()
    return [inner_2(batch) for batch in batches]
def inner_2(batch):
    loss = net(memory.read(), batch)
    loss.backward()
"""


def test_function_that_is_called_in_a_loop_may_reset_it(tmp_path: Path) -> None:
    """Training comes to it between two passes, too; where nobody repeats it, it does not."""

    def is_open(source: str) -> bool:
        case = Case(tmp_path, source)
        used = case.at("total =", "return [inner_2", "loss.backward")
        reading = case.at("use(self.inbox)", function="read")
        found = case.diagnosis("GS103", "self.inbox", made=reading, enters=reading, freed=used, used=used)
        return left_open(case.program(found)) is not None

    assert not is_open(EPOCHS)
    assert is_open(EPOCHS.replace("    memory.reset()\n", ""))
    assert is_open(EPOCHS.replace("    for _ in range(3):\n        total", "    if ready():\n        total"))


COLLECTED = """\
def select(policy):
    policy.chosen.append(policy.log_prob())
def main():
    for episode in range(9):
        select(policy)
        loss = sum(-each for each in policy.chosen)
        loss.backward()
        step()
        del policy.rewards[:]
"""


@pytest.mark.parametrize(
    ("emptying", "expected"),
    [
        ("del policy.rewards[:]", "del policy.chosen[:]"),
        ("policy.rewards.clear()", "policy.chosen.clear()"),
        ("policy.rewards = []", "policy.chosen = []"),
        ("print(policy.rewards)", None),  # a window of memories goes on
    ],
)
def test_list_that_was_forgotten_is_emptied_as_the_others_are(
    tmp_path: Path, emptying: str, expected: str | None
) -> None:
    """What every iteration adds to and nobody empties is not to be cut off, but to begin again."""
    source = COLLECTED.replace("del policy.rewards[:]", emptying)
    case = Case(tmp_path, source)
    made = case.at("        select(policy)", "append", inner="select")
    diagnosis = case.diagnosis("GS103", "policy.chosen", made=made, enters=case.at("sum("), used=case.at("backward"))

    best, _ = ranked(FIXES, case.program(diagnosis))

    assert best.kind == ("detach" if expected is None else "reset-state")
    if expected is not None:
        assert case.fixed("reset-state", diagnosis) == f"{source}        {expected}\n"


LAYERS = """\
class Layer:
    def __init__(self):
        self.penalty = start()
    def forward(self, x):
        {adding}
        return x
def main():
    for x in data:
        {calling}
        loss = f(out) + sum(each.penalty for each in model.layers)
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("adding", "begun"),
    [
        ("self.penalty = self.penalty + x.abs().mean()", "self.penalty = x.abs().mean()"),
        ("self.penalty += norm(x)", "self.penalty = norm(x)"),
        ("self.penalty = self.penalty + a * b", "self.penalty = a * b"),
        ("self.penalty = self.penalty + 0.5 * self.penalty", None),  # nothing would be left to begin with
        ("self.penalty = x.mean() - self.penalty", None),  # no total
    ],
)
def test_total_that_nobody_can_begin_again_begins_where_it_is_added_to(
    tmp_path: Path, adding: str, begun: str | None
) -> None:
    """Every layer has one of its own, and what it begins with means nothing where the pass is asked for."""
    source = LAYERS.format(adding=adding, calling="out = model(x)")
    case = Case(tmp_path, source)
    place = case.at("model(x)", adding, inner="Layer.forward")
    found = case.diagnosis("GS105", "self.penalty", made=place, enters=place, used=case.at("backward"))

    assert case.fixed("reset-state", found) == (None if begun is None else source.replace(adding, begun))


@pytest.mark.parametrize(
    ("loop", "call", "begins"),
    [
        ("for layer in model.layers:", "out = layer(x)", True),
        ("for layer in model.layers:", "out = layer.forward(x)", True),
        ("for part in x.split(2):", "out = model(part)", False),  # several terms of one layer make its total
        ("while out.sum() < 1:", "out = model(out)", False),
    ],
)
def test_total_begins_where_it_is_added_to_only_once_for_every_pass(
    tmp_path: Path, loop: str, call: str, *, begins: bool
) -> None:
    """A loop that calls one object again and again adds several terms to its total."""
    source = LAYERS.format(adding="self.penalty += norm(x)", calling=f"{loop}\n            {call}")
    case = Case(tmp_path, source)
    place = case.at(call, "norm(x)", inner="Layer.forward")
    found = case.diagnosis("GS105", "self.penalty", made=place, enters=place, used=case.at("backward"))

    assert (case.fixed("reset-state", found) is not None) == begins


HOOKED = """\
class Tap:
    def __init__(self, net, layers):
        self.features = []
        self.handles = [net[i].register_forward_hook(self._keep) for i in layers]

    def _keep(self, module, args, output):
        self.features.append(output)

def main():
    taught, learned = Tap(teacher, layers), Tap(student, layers)
    for x in batches:
        teacher(x)
        logits = student(x)
        pairs = zip(learned.features, taught.features)
        gaps = [mse(s, t) for s, t in pairs]
        loss = sum(gaps) + ce(logits)
        loss.backward()
        optimizer.step()
"""
WATCHED = HOOKED.replace("register_forward_hook(self._keep)", "watch(self._keep)")


def begun_again(folder: Path, source: str) -> str | None:
    """The program whose lists begin again."""
    case = Case(folder, source)
    created, enters, used = case.at("logits ="), case.at("gaps ="), case.at("loss.backward")
    found = case.diagnosis("GS103", "learned.features", made=created, enters=enters, freed=used, used=used)
    return case.fixed("reset-state", found)


def test_what_forward_hooks_keep_is_for_one_forward(tmp_path: Path) -> None:
    """All lists that are gone over together are emptied, of whichever object."""
    step = "        optimizer.step()\n"
    cleared = f"{step}        learned.features.clear()\n        taught.features.clear()\n"
    assert begun_again(tmp_path, HOOKED) == HOOKED.replace(step, cleared)


def test_what_nobody_knows_to_be_of_one_forward_is_not_emptied(tmp_path: Path) -> None:
    """Whether it is to grow, only its author knows."""
    assert begun_again(tmp_path, WATCHED) is None


EVERY_FOURTH = """\
import torch

def main():
    running = 0
    for i, x in enumerate(batches, start=1):
        running += criterion(model(x))
        if i % 4 == 0:
            (running / 4).backward()
            optimizer.step()
    return running
"""


@pytest.mark.parametrize(("read", "begins"), [("running", "0"), ("running.item()", "torch.zeros(())")])
def test_total_begins_again_as_what_it_is_read_as(tmp_path: Path, read: str, begins: str) -> None:
    """Below the step, for the iterations that make the next loss; a number has no `.item()`."""
    source = EVERY_FOURTH.replace("return running", f"return {read}")
    case = Case(tmp_path, source)
    enters, used = case.at("running += "), case.at(".backward()")
    found = case.diagnosis("GS105", "running", made=enters, enters=enters, freed=used, used=used)
    step = "            optimizer.step()\n"
    assert case.fixed("reset-state", found) == source.replace(step, f"{step}            running = {begins}\n")


TWO_PASSES = """\
def main():
    for x in batches:
        total = 0.0
        for head in heads:
            total += head(x)
        total.backward()
        climb(model)
        {below}
        optimizer.step()
"""
IN_A_LOOP = "for head in heads:\n            total += weight * head(x)\n        total.backward(create_graph=False)"
IN_A_LINE = "total += weight * head(x)\n        total.backward(create_graph=False)"
GUARDED = f"if x.is_long:\n            {IN_A_LINE.replace('        ', '            ')}"


@pytest.mark.parametrize("below", [IN_A_LOOP, IN_A_LINE, f"out = model(x)\n        {IN_A_LOOP}", GUARDED])
def test_total_begins_again_between_two_passes_of_one_iteration(tmp_path: Path, below: str) -> None:
    """Below the pass that took what it had, and above all that is added to it next."""
    source = TWO_PASSES.format(below=below)
    case = Case(tmp_path, source)
    enters = case.at("total += weight")
    freed, used = case.at("total.backward()"), case.at("total.backward(create")
    found = case.diagnosis("GS105", "total", made=case.at("total += head"), enters=enters, freed=freed, used=used)

    adding = below.removeprefix("out = model(x)\n        ")
    begun = source.replace(adding, f"total = 0.0\n        {adding}")
    assert case.fixed("reset-state", found) == begun


def test_total_of_a_pass_below_begins_where_the_iteration_does(tmp_path: Path) -> None:
    """The pass that took it came in the iteration before: nothing in this one stands between the two."""
    source = TWO_PASSES.format(below="total.backward(create_graph=False)")
    begun_once = source.replace("        total = 0.0\n", "").replace("    for x", "    total = 0.0\n    for x")
    case = Case(tmp_path, begun_once)
    enters = case.at("total += head")
    freed, used = case.at("total.backward(create"), case.at("total.backward()")
    found = case.diagnosis("GS105", "total", made=enters, enters=enters, freed=freed, used=used)

    assert case.fixed("reset-state", found) == source


MEMO = """\
codes = {}
class Net:
    def of(self, key):
        if key not in self.memo:
            self.memo[key] = self.layer(key)
        return self.memo[key]
def code_of(key):
    if key not in codes:
        codes[key] = layer(key)
    return codes[key]
def main(net):
    for key in keys:
        loss = net.of(key) + code_of(key)
        loss.backward()
"""


@pytest.mark.parametrize(
    ("name", "made", "function", "as_written"),
    [
        ("self.memo", "self.layer", "Net.of", "net.memo"),
        ("self.memo", "self.layer", "Net.of", None),
        ("codes", "= layer", "code_of", "codes"),
    ],
)
def test_memo_is_emptied_below_the_pass(
    tmp_path: Path, name: str, made: str, function: str, as_written: str | None
) -> None:
    """It stays the same object; nothing is written where the function that asks for the pass cannot name it."""
    case = Case(tmp_path, MEMO)
    created = case.at("net.of", made, inner=function)
    used = case.at("backward")
    found = case.diagnosis("GS109", name, made=created, enters=case.at("net.of"), used=used)
    seen = live(container("dict", [TENSOR]), reached_as=as_written if as_written == "net.memo" else "")

    emptied = None if as_written is None else f"{MEMO}        {as_written}.clear()\n"
    assert case.fixed("reset-state", found, seen) == emptied


SAME_NAMES = """\
import torch
class Encoder:
    def __init__(self):
        self.state = torch.zeros(1, 4)
    def forward(self, x):
        return self.cell(x, self.state)
class Decoder:
    def __init__(self):
        self.state = torch.zeros(1, 3)
    def forward(self, z):
        self.state = self.cell(z, self.state)
def main():
    for x in batches:
        loss = dec(enc(x)).sum()
        loss.backward()
        step()
"""


@pytest.mark.parametrize(
    ("old", "new", "begins"),
    [
        ("", "", "torch.zeros(1, 3)"),
        ("torch.zeros(1, 3)", "torch.ones(1, 3)", "torch.ones(1, 3)"),
        ("class Decoder:", "class Decoder(Base):", "torch.zeros(1, 3)"),
    ],
)
def test_state_begins_as_its_own_class_has_it(tmp_path: Path, old: str, new: str, begins: str) -> None:
    """Two classes may have an attribute of the same name."""
    case = Case(tmp_path, SAME_NAMES.replace(old, new) if old else SAME_NAMES)
    place = case.at("dec(enc", "self.cell(z", inner="Decoder.forward")
    found = case.diagnosis("GS103", "self.state", made=place, enters=place, used=case.at("backward"))

    fixed = case.fixed("reset-state", found, live(reached_as="dec.state"))

    assert fixed is not None
    assert f"        dec.state = {begins}\n" in fixed


OF_A_DECORATOR = """\
def memoize(function):
    seen = {}
    def inner(key):
        if key not in seen:
            seen[key] = function(key)
        return seen[key]
    return inner
@memoize
def encode(key):
    return table[key].tanh()
for step in range(3):
    loss = encode(step).sum()
    loss.backward()
"""


def test_variable_of_a_function_is_not_reset_from_outside(tmp_path: Path) -> None:
    """A module that assigns to a name of its own changes nothing in the function that has one."""
    case = Case(tmp_path, OF_A_DECORATOR)
    found = case.diagnosis(
        "GS103", "seen", made=case.at("tanh", function="encode"), enters=case.at("loss ="), used=case.at("backward")
    )

    assert case.fixed("reset-state", found) is None
