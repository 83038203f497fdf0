"""Edits that only a trial speaks for: offered to whoever tries them, and to nobody else."""

from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.proposing import candidates
from gradsan.fix.search import searched
from gradsan.report import Diagnosis, FixKind


def found(case: Case, kind: FixKind, diagnosis: Diagnosis) -> list[str]:
    """The program with each of the edits that are searched."""
    return [case.applied(edits) for edits in searched(kind, case.program(diagnosis))]


GUARDED = """\
def main():
    for x, y in batches:
        opt.zero_grad()
        {guard}
            loss = criterion(net(x), y)
        {other}
            skipped += 1
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(("guard", "other"), [("try:", "except ValueError:"), ("if len(x):", "else:")])
def test_branch_without_a_loss_skips_the_rest(tmp_path: Path, guard: str, other: str) -> None:
    """Whatever kind of branch it is."""
    source = GUARDED.format(guard=guard, other=other)
    case = Case(tmp_path, source)
    diagnosis = case.diagnosis("GS110", "loss", made=case.at("loss = "), used=case.at("loss.backward"))
    counting = "            skipped += 1\n"
    assert found(case, "reorder", diagnosis) == [source.replace(counting, f"{counting}            continue\n")]
    assert not list(candidates("reorder", case.program(diagnosis)))  # without a trial, nothing


def test_branch_that_jumps_already_is_left_alone(tmp_path: Path) -> None:
    """Then it is not what left the loss out."""
    source = GUARDED.format(guard="if len(x):", other="else:").replace("skipped += 1", "continue")
    case = Case(tmp_path, source)
    diagnosis = case.diagnosis("GS110", "loss", made=case.at("loss = "), used=case.at("loss.backward"))
    assert found(case, "reorder", diagnosis) == []


def test_function_that_gives_something_back_does_not_jump(tmp_path: Path) -> None:
    """What it would give back instead, nobody knows."""
    source = """\
def step(x, y):
    if len(x):
        loss = criterion(net(x), y)
    else:
        empty.add(1)
    loss.backward()
    return loss.item()
"""
    case = Case(tmp_path, source)
    made, used = (case.at(each, function="step") for each in ("loss = ", "loss.backward"))
    assert found(case, "reorder", case.diagnosis("GS110", "loss", made=made, used=used)) == []


LISTED = """\
def main():
    outputs = {made}
    for name, out, y in {taken}:
        loss = criterion(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def _computed_first(case: Case) -> Diagnosis:
    made, used = case.at("outputs = "), case.at("loss.backward")
    return case.diagnosis("GS201", "outputs", made=made, enters=case.at("loss = "), used=used, changed=case.at("step"))


@pytest.mark.parametrize(
    ("made", "taken", "lazy", "taken_lazily"),
    [
        ("[(n, net(x), y) for n, x, y in data]", "outputs", "((n, net(x), y) for n, x, y in data)", "outputs"),
        ("[net(x) for x in xs]", "zip(names, outputs, ys)", "(net(x) for x in xs)", "zip(names, outputs, ys)"),
        ("{n: net(x) for n, x in data}", "outputs.items()", "((n, net(x)) for n, x in data)", "outputs"),
    ],
)
def test_list_that_one_loop_goes_over_becomes_a_generator(
    tmp_path: Path, made: str, taken: str, lazy: str, taken_lazily: str
) -> None:
    """Each item is computed when the loop takes it, with the parameters as they are then."""
    case = Case(tmp_path, LISTED.format(made=made, taken=taken))
    expected = LISTED.format(made=lazy, taken=taken_lazily)
    assert expected in found(case, "recompute", _computed_first(case))


def test_list_that_is_read_twice_stays(tmp_path: Path) -> None:
    """A generator can be gone over once."""
    source = LISTED.format(made="[net(x) for x in xs]", taken="zip(names, outputs, ys)") + "    print(len(outputs))\n"
    case = Case(tmp_path, source)
    assert not any("(net(x) for x in xs)" in each for each in found(case, "recompute", _computed_first(case)))


def test_loop_that_fills_a_list_and_the_loop_over_it_become_one(tmp_path: Path) -> None:
    """What is taken out is what was put in."""
    case = Case(
        tmp_path,
        """\
def main():
    outputs = []
    for x, y in data:
        outputs.append((net(x), y))
    for out, y in outputs:
        loss = criterion(out, y)
        loss.backward()
        opt.step()
""",
    )
    made, enters, used = map(case.at, ("append", "loss = ", "loss.backward"))
    expected = """\
def main():
    outputs = []
    for x, y in data:
        outputs.append((net(x), y))
        out, y = (net(x), y)
        loss = criterion(out, y)
        loss.backward()
        opt.step()
"""
    assert expected in found(case, "recompute", case.diagnosis("GS201", "outputs", made=made, enters=enters, used=used))


CACHED = """\
class Net:
    def weights(self, key):
        {asked}
        w = self.make(self.codes(key))
        self.cache[key] = w
        return w

    def forward(self, x, key):
        return x @ self.weights(key)

def main():
    for x, key in batches:
        loss = net.forward(x, key).sum()
        loss.backward()
"""


def test_early_return_of_what_is_kept_is_left_out(tmp_path: Path) -> None:
    """Then it is computed in every call."""
    asked = "if key in self.cache:\n            return self.cache[key]"
    case = Case(tmp_path, CACHED.format(asked=asked))
    made = case.at("loss = ", "return x @", "w = self.make", inner="Net.weights")
    diagnosis = case.diagnosis("GS109", "self.cache", made=made, enters=made, used=case.at("loss.backward"))
    assert CACHED.replace("        {asked}\n", "") in found(case, "recompute", diagnosis)


def test_choice_between_what_is_kept_and_a_call_is_the_call(tmp_path: Path) -> None:
    """`x if x is not None else f()` computes once."""
    line = "        self.gain = {}\n"
    kept, computed = "self.gain if self.gain is not None else self.scale.exp()", "self.scale.exp()"
    source = "class Net:\n    def forward(self, x):\n" + line + "        return x * self.gain\n\n"
    source += "def main():\n    for x in xs:\n        loss = net.forward(x).sum()\n        loss.backward()\n"
    case = Case(tmp_path, source.format(kept))
    made = case.at("loss = ", "self.gain = ", inner="Net.forward")
    enters = case.at("loss = ", "return x *", inner="Net.forward")
    diagnosis = case.diagnosis("GS109", "self.gain", made=made, enters=enters, used=case.at("loss.backward"))
    assert source.format(computed) in found(case, "recompute", diagnosis)


PREPARED = """\
class Shots:
    def prepare(self, support):
        self.rows = self.encoder(support).mean(0)

    def forward(self, x):
        return self.encoder(x) @ self.rows

def main():
    model.prepare(support)
    for x in xs:
        loss = model.forward(x).sum()
        loss.backward()
"""


def _prepared(case: Case) -> Diagnosis:
    made = case.at("model.prepare", "self.rows = ", inner="Shots.prepare")
    enters = case.at("loss = ", "return self.encoder", inner="Shots.forward")
    used = case.at("loss.backward")
    return case.diagnosis("GS104", "self.rows", made=made, enters=enters, freed=used, used=used)


def test_call_that_prepares_moves_into_the_loop(tmp_path: Path) -> None:
    """It gives nothing back, and changes an object: it comes first in the loop."""
    case = Case(tmp_path, PREPARED)
    call, loop = "    model.prepare(support)\n", "    for x in xs:\n"
    expected = PREPARED.replace(call, "").replace(loop, f"{loop}    {call}")
    assert found(case, "move-into-loop", _prepared(case))[0] == expected


def test_method_without_arguments_is_called_again(tmp_path: Path) -> None:
    """Above the line that reads what it computes."""
    source = PREPARED.replace("(self, support)", "(self)").replace("prepare(support)", "prepare()")
    case = Case(tmp_path, source.replace("encoder(support)", "encoder(self.support)"))
    texts = found(case, "move-into-loop", _prepared(case))
    assert any("        self.prepare()\n        return self.encoder(x)" in each for each in texts)


def test_what_a_constructor_was_given_is_kept_to_compute_again(tmp_path: Path) -> None:
    """All that leads to it is computed where it is read."""
    source = """\
class Trainer:
    def __init__(self, model, graph):
        self.model = model
        normal = graph / graph.sum()
        self.nodes = model(normal)

    def score(self, pairs):
        return self.nodes[pairs]

def main():
    trainer = Trainer(model, graph)
    for pairs in batches:
        loss = trainer.score(pairs).sum()
        loss.backward()
"""
    case = Case(tmp_path, source)
    made = case.at("trainer = ", "self.nodes = ", inner="Trainer.__init__")
    enters, used = case.at("loss = ", "return self.nodes", inner="Trainer.score"), case.at("loss.backward")
    diagnosis = case.diagnosis("GS104", "self.nodes", made=made, enters=enters, freed=used, used=used)
    kept = source.replace("        self.nodes = model", "        self.graph = graph\n        self.nodes = model")
    again = "        normal = self.graph / self.graph.sum()\n        self.nodes = self.model(normal)\n"
    reading = "        return self.nodes[pairs]\n"
    assert kept.replace(reading, again + reading) in found(case, "recompute", diagnosis)


def test_what_creates_a_network_is_not_run_again(tmp_path: Path) -> None:
    """Each iteration would begin with an untrained one."""
    source = PREPARED.replace("self.encoder(support).mean(0)", "torch.nn.Linear(3, 3)(support)")
    case = Case(tmp_path, "import torch\n" + source)
    assert not any("self.support" in each for each in found(case, "recompute", _prepared(case)))


def test_old_value_is_cut_at_every_place_that_it_passes(tmp_path: Path) -> None:
    """Where it is put away, where it is handed on, where it is read."""
    source = """\
class Memory:
    def push(self, features):
        self.last = features

def main():
    for x in xs:
        z = net(x)
        loss = (z - memory.last).sum()
        loss.backward()
        memory.push(z)
"""
    case = Case(tmp_path, source)
    made, enters, used = map(case.at, ("z = net", "loss = ", "loss.backward"))
    texts = found(case, "detach", case.diagnosis("GS103", "memory.last", made=made, enters=enters, used=used))
    for old, new in (
        ("(z - memory.last)", "(z - memory.last.detach())"),
        ("self.last = features", "self.last = features.detach()"),
        ("memory.push(z)", "memory.push(z.detach())"),
        ("z = net(x)", "z = net(x).detach()"),
    ):
        assert any(new in each and source.replace(old, "") == each.replace(new, "") for each in texts), new


def test_what_an_item_is_put_into_and_what_says_which_item_have_no_graph(tmp_path: Path) -> None:
    """To cut `losses` or `task` in `losses[task] = …` would lose the loss, or fail."""
    source = """\
def main():
    features = trunk(x)
    losses = {}
    for task in tasks:
        losses[task] = heads[task](features)
    for task in tasks:
        losses[task].backward()
        optimizer.step()
"""
    case = Case(tmp_path, source)
    made, enters, used = case.at("features = "), case.at("losses[task] = "), case.at("losses[task].backward")
    texts = found(case, "detach", case.diagnosis("GS201", "features", made=made, enters=enters, used=used))
    assert any("heads[task](features.detach())" in each for each in texts)
    assert not any("task.detach()" in each or "losses[task] = " not in each for each in texts)


NESTED = """\
def main():
    weights = {values}
    for epoch in range(3):
        total = 0.0
        for i, (code, y) in enumerate(tasks):
            loss = criterion(weights[i], y)
            loss.backward()
            opt.step()
"""


@pytest.mark.parametrize("values", ["{i: net(code) for i, (code, _) in enumerate(tasks)}", "net(codes)"])
def test_what_was_computed_once_is_moved_into_each_of_the_loops_around_its_use(tmp_path: Path, values: str) -> None:
    """Once an epoch, or for every batch: names of a comprehension are its own, whatever the loops bind."""
    source = NESTED.format(values=values)
    case = Case(tmp_path, source)
    made, used = case.at("weights = "), case.at("loss.backward")
    line = f"    weights = {values}\n"
    without = source.replace(line, "")
    drafts = found(case, "move-into-loop", case.diagnosis("GS104", "weights", made=made, enters=used, used=used))
    assert drafts[:2] == [
        without.replace("        for i", f"    {line}        for i"),
        without.replace("            loss = ", f"        {line}            loss = "),
    ]


def test_what_an_inner_loop_binds_is_not_computed_in_it(tmp_path: Path) -> None:
    """There, it would be computed of something else."""
    source = NESTED.format(values="net(code)")
    case = Case(tmp_path, source)
    made, used = case.at("weights = "), case.at("loss.backward")
    drafts = found(case, "move-into-loop", case.diagnosis("GS104", "weights", made=made, enters=used, used=used))
    assert drafts == []


EDITED = """\
def main(self, p, h, x, table):
    {edit}
    loss.backward()
"""


@pytest.mark.parametrize(
    ("edit", "base"),
    [
        ("p[..., 2:4].exp_()", "p"),
        ("self.rows[0][1].mul_(gate)", "self.rows"),
        ("h += skip(x)", "h"),
        ("table[i] = step(table[i - 1])", "table"),
    ],
)
def test_what_is_edited_through_a_part_is_copied_as_a_whole(tmp_path: Path, edit: str, base: str) -> None:
    """Where a run has not shown the edit, every statement that may be one is tried."""
    source = EDITED.format(edit=edit)
    case = Case(tmp_path, source)
    diagnosis = case.diagnosis("GS202", used=case.at("loss.backward"))
    copied = source.replace(f"    {edit}", f"    {base} = {base}.clone()\n    {edit}")
    assert copied in found(case, "clone", diagnosis)


@pytest.mark.parametrize("edit", ["count += 1", "meter.update(loss)", "self.history.append(loss)"])
def test_what_edits_no_tensor_by_how_it_is_written_is_left_alone(tmp_path: Path, edit: str) -> None:
    """A trial of each such line would take its time for nothing."""
    case = Case(tmp_path, EDITED.format(edit=edit))
    assert found(case, "clone", case.diagnosis("GS202", used=case.at("loss.backward"))) == []


def test_copy_that_is_written_into_and_copy_that_is_read_go_together(tmp_path: Path) -> None:
    """The product saves what it reads, and a view that was taken before keeps what is written into."""
    source = EDITED.format(edit="x[:, half:] = x[:, half:] * scale")
    case = Case(tmp_path, source)
    edit = case.at("x[:, half:] =")
    diagnosis = case.diagnosis("GS202", "x", made=edit, changed=edit, used=case.at("loss.backward"))
    both = "x = x.clone()\n    x[:, half:] = x[:, half:].clone() * scale"
    assert EDITED.format(edit=both) in found(case, "clone", diagnosis)


SEVERAL = """\
def main():
    {computed}
    opt.zero_grad()
    first.backward()
    opt.step()
    {last}
"""


@pytest.mark.parametrize(
    ("computed", "last", "again"),
    [
        ("first, second = losses(batch)", "second.backward()", "_, second = losses(batch)"),
        ("second, first, log = agent(x)", "(2 * second).backward()", "second, _, _ = agent(x)"),
        ("second = net(x).mean()", "second.backward()", "second = net(x).mean()"),
    ],
)
def test_loss_that_comes_with_others_is_computed_again_by_itself(
    tmp_path: Path, computed: str, last: str, again: str
) -> None:
    """What else the call gives has been trained on, and stays what it was."""
    source = SEVERAL.format(computed=computed, last=last)
    case = Case(tmp_path, source)
    diagnosis = case.diagnosis("GS201", "second", made=case.at(computed), changed=case.at("step"), used=case.at(last))
    assert SEVERAL.format(computed=computed, last=f"{again}\n    {last}") in found(case, "recompute", diagnosis)


def test_lines_that_do_more_than_compute_are_not_repeated(tmp_path: Path) -> None:
    """A total would be added to twice."""
    case = Case(tmp_path, SEVERAL.format(computed="second += term(x)", last="second.backward()"))
    made, used = case.at("second +="), case.at("second.backward")
    diagnosis = case.diagnosis("GS201", "second", made=made, changed=case.at("step"), used=used)
    assert not any(each.count("second += term(x)") > 1 for each in found(case, "recompute", diagnosis))


CARRIED = """\
def main():
    for x in batches:
        loss = criterion(net(x, memory))
        {passing}
        opt.step()
        memory = update(memory, x)
"""


@pytest.mark.parametrize("passing", ["loss.backward()", "scaler.scale(loss).backward()", "loss.sum().backward()"])
def test_state_is_cut_between_its_pass_and_what_the_step_computes_from_it(tmp_path: Path, passing: str) -> None:
    """Then the next pass trains that one computation, and nothing older."""
    source = CARRIED.format(passing=passing)
    case = Case(tmp_path, source)
    made, enters, used = case.at("memory = "), case.at("loss = "), case.at("backward")
    diagnosis = case.diagnosis("GS103", "memory", made=made, enters=enters, used=used, freed=used)
    cut = source.replace(f"        {passing}\n", f"        {passing}\n        memory = memory.detach()\n")
    assert found(case, "detach", diagnosis)[0] == cut


def test_pass_that_a_function_returns_has_nothing_below_it(tmp_path: Path) -> None:
    """The line would never be reached."""
    case = Case(tmp_path, CARRIED.format(passing="return loss.backward()"))
    made, enters, used = case.at("memory = "), case.at("loss = "), case.at("backward")
    diagnosis = case.diagnosis("GS103", "memory", made=made, enters=enters, used=used, freed=used)
    cut = "backward()\n        memory = memory.detach()"
    assert not any(cut in each for each in found(case, "detach", diagnosis))
