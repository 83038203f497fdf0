"""The same fixes where programs are written otherwise: crowded lines, meters, returned dicts, loops that measure."""

from dataclasses import replace
from pathlib import Path

import pytest

from fix.programs import Case, live
from gradsan.facts.held import TENSOR, Held, container, record
from gradsan.fix.proposing import candidates
from gradsan.fix.ranking import ranked
from gradsan.report import Fix

ONE_LINE = """\
def main():
    for x in data:
        rec, sup = losses(x)
        opt.zero_grad(); rec.backward(); sup.backward(); opt.step()
"""


def test_losses_of_one_line_are_combined(tmp_path: Path) -> None:
    """Both passes stand on one line; the edit gives every statement a line of its own."""
    case = Case(tmp_path, ONE_LINE)
    # Places are distinguished by identity: a run makes two of them for one line.
    found = case.diagnosis("GS102", "code", freed=case.at("rec.backward"), used=case.at("rec.backward"))

    fixed = case.fixed("combine-losses", found)

    assert fixed == ONE_LINE.replace(
        "opt.zero_grad(); rec.backward(); sup.backward(); opt.step()",
        "opt.zero_grad()\n        (rec + sup).backward()\n        opt.step()",
    )


def test_gradients_are_cleared_above_a_pass_that_shares_its_line_with_the_step(tmp_path: Path) -> None:
    """And in a block that stands on the line of its header."""
    source = "def main():\n    for x in data: loss = f(x); loss.backward(); opt.step()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS303", "opt", used=case.at("backward"), changed=case.at("backward"))

    fixed = case.fixed("zero-grad", found)

    body = "".join(f"        {line}\n" for line in ("loss = f(x)", "opt.zero_grad()", "loss.backward()", "opt.step()"))
    assert fixed == "def main():\n    for x in data:\n" + body


METER = """\
def main():
    for x in data:
        opt.zero_grad()
        meter.update(criterion(model(x)))
        loss = meter.average
        loss.backward()
        opt.step()

def inner_1(self, value):
    self.total = self.total + value
"""


def test_meter_gets_the_number_and_the_loss_is_back_propagated(tmp_path: Path) -> None:
    """The total lies in the meter; what was to be trained on is what the meter was given."""
    case = Case(tmp_path, METER)
    adds = case.at("meter.update", "self.total = self.total")
    found = case.diagnosis("GS105", "self.total", made=adds, enters=adds, used=case.at("loss.backward"))

    fixed = case.fixed("item", found)

    assert fixed == METER.replace(
        "        meter.update(criterion(model(x)))\n        loss = meter.average\n",
        "        loss = criterion(model(x))\n        meter.update(float(loss))\n",
    )


def test_total_may_be_an_item(tmp_path: Path) -> None:
    """The explanation names the dict."""
    source = 'def main():\n    for x in data:\n        m["loss"] += loss\n        m["loss"].backward()\n'
    case = Case(tmp_path, source)
    adds = case.at("+=")
    found = case.diagnosis("GS105", "m", made=adds, enters=adds, used=case.at("backward"))

    fixed = case.fixed("item", found)

    assert fixed == source.replace("+= loss", "+= float(loss)").replace('m["loss"].backward', "loss.backward")


LOGS = """\
def main():
    for batch in data:
        logs.append(step(batch))

def inner_1(batch):
    loss = criterion(batch)
    loss.backward()
    return {"loss": loss, "size": len(batch)}
"""


def test_number_is_taken_where_the_loss_enters_what_is_returned(tmp_path: Path) -> None:
    """A dict has no `item`."""
    case = Case(tmp_path, LOGS)
    found = case.diagnosis("GS301", "logs", held=case.at("append"), made=case.at("append", "criterion"))

    assert case.fixed("item", found) == LOGS.replace('"loss": loss,', '"loss": float(loss),')


def test_only_the_loss_of_several_things_that_are_kept_becomes_a_number(tmp_path: Path) -> None:
    """The others may be anything."""
    source = "def main():\n    for x in data:\n        loss = f(x)\n        kept.append((step, loss, x))\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS301", "kept", held=case.at("append"), made=case.at("loss = f"))

    assert case.fixed("item", found) == source.replace("(step, loss, x)", "(step, float(loss), x)")


LOST = """\
def main():
    losses, total = [], 0.0
    for x in data:
        losses.append(f(x))
        total += f(x).item()
    loss = torch.tensor(BUILT)
    loss.backward()
"""


@pytest.mark.parametrize(
    ("built", "joined", "kept"),
    [
        ("losses", "torch.stack(losses)", "f(x).item()"),
        ("losses, requires_grad=True", "torch.stack(losses)", "f(x).item()"),
        ("total / len(data)", "total / len(data)", "f(x)"),
    ],
)
def test_tensor_that_is_built_of_others_keeps_their_history(tmp_path: Path, built: str, joined: str, kept: str) -> None:
    """`torch.tensor` copies values: tensors are stacked, and numbers stay the tensors they were taken from."""
    source = LOST.replace("BUILT", built)
    case = Case(tmp_path, source)

    fixed = case.fixed("re-attach", case.diagnosis("GS203", "loss", cut=case.at("torch.tensor")))

    assert fixed == source.replace(f"torch.tensor({built})", joined).replace("f(x).item()", kept)


@pytest.mark.parametrize(
    ("before", "after", "cut"),
    [
        ("    with torch.no_grad():\n        z = f(x)\n", "    z = f(x)\n", "z = f"),
        ("    with torch.no_grad():\n        z = f(x)\n", "    z = f(x)\n", "with"),
        ("    with torch.no_grad(), timer():\n        z = f(x)\n", "    with timer():\n        z = f(x)\n", "z = f"),
    ],
)
def test_what_is_to_be_trained_is_recorded_again(tmp_path: Path, before: str, after: str, cut: str) -> None:
    """The cut may be told at the block or within it."""
    source = f"def main():\n{before}    return z\n"
    case = Case(tmp_path, source)

    assert case.fixed("re-attach", case.diagnosis("GS306", "z", cut=case.at(cut))) == source.replace(before, after)


@pytest.mark.parametrize("cut", ["z = f", "@torch.no_grad"])
def test_decorator_that_switches_recording_off_is_taken_away(tmp_path: Path, cut: str) -> None:
    """The others stay. The cut may be told at the decorator itself."""
    source = "@timed\n@torch.no_grad()\ndef main():\n    z = f(x)\n    return z\n"
    case = Case(tmp_path, source)

    fixed = case.fixed("re-attach", case.diagnosis("GS306", "z", cut=case.at(cut)))

    assert fixed == source.replace("@torch.no_grad()\n", "")


MEASURED = """\
import torch
def main():
    model.train()
    for x in train:
        f(x).backward()
    model.eval()
    for x in held_out:
        total += f(x)
"""


def test_loop_that_only_measures_needs_no_graph(tmp_path: Path) -> None:
    """That is better than to take the numbers out of graphs; the loop that trains is another."""
    case = Case(tmp_path, MEASURED)
    found = case.diagnosis("GS301", "total", held=case.at("total +="), made=case.at("total +="))
    fixes = (Fix("item", "", "same-gradients"), Fix("no-grad", "", "same-gradients"))

    first = ranked(fixes, case.program(replace(found, fixes=fixes)))[0]

    assert first.kind == "no-grad"
    assert case.fixed("no-grad", found) == MEASURED.replace(
        "    for x in held_out:\n        total += f(x)\n",
        "    with torch.no_grad():\n        for x in held_out:\n            total += f(x)\n",
    )


TRAINING_TOO = """import torch
def train_epoch():
    for x in batches:
        loss = f(x)
        loss.backward()
def validate():
    model.eval()
    return f(held_out)
def main():
    {mode}
    for epoch in range(9):
        {first}
        total += validate()
"""


@pytest.mark.parametrize(
    ("mode", "first"), [("model.eval()", "train_epoch()"), ("model.eval()", "opt.step()"), ("pass", "print(epoch)")]
)
def test_loop_that_leads_to_a_pass_does_more_than_measure(tmp_path: Path, mode: str, first: str) -> None:
    """Whoever asks for the pass may stand in a function, and a function that switches the mode is none of the loop."""
    source = TRAINING_TOO.format(mode=mode, first=first)
    case = Case(tmp_path, source)
    found = case.diagnosis("GS301", "total", held=case.at("total +="), made=case.at("total +="))

    assert case.fixed("no-grad", found) is None


@pytest.mark.parametrize(
    ("loop", "first"), [("for x in loader:", "move-into-loop"), ("for x in views(batch):", "combine-losses")]
)
def test_loop_over_batches_trains_on_each_and_one_within_a_step_on_their_sum(
    tmp_path: Path, loop: str, first: str
) -> None:
    """What a step's loop goes over comes from that step."""
    source = (
        f"def main():\n    for batch in epochs:\n        {loop}\n            loss = f(x)\n        loss.backward()\n"
    )
    case = Case(tmp_path, source + "        opt.step()\n")
    fixes = (Fix("combine-losses", "", "changes-gradients"), Fix("move-into-loop", "", "changes-gradients"))
    found = replace(case.diagnosis("GS304", "loss", made=case.at("loss = f")), fixes=fixes)

    assert ranked(fixes, case.program(found))[0].kind == first


def test_output_that_a_call_has_trained_on_already_is_detached_where_it_is_handed_over(tmp_path: Path) -> None:
    """All that follows may read it as often as it likes."""
    source = "def main():\n    rewards = rm.fit(x)\n    loss = g(rewards, rewards.mean())\n    loss.backward()\n"
    case = Case(tmp_path, source + "def inner_1(x):\n    scores = net(x)\n    scores.sum().backward()\n")
    found = case.diagnosis(
        "GS106",
        "rewards",
        made=case.at("rm.fit", "net(x)"),
        freed=case.at("rm.fit", "scores.sum"),
        enters=case.at("loss = g"),
        used=case.at("loss.backward"),
    )

    fixed = case.fixed("detach", found)

    assert fixed is not None
    assert fixed.startswith(source.replace("rm.fit(x)", "rm.fit(x).detach()"))


def test_tensor_that_must_be_edited_in_place_is_saved_as_a_copy(tmp_path: Path) -> None:
    """Where the edit has no form that returns a new one."""
    source = "def main():\n    y = x @ memory\n    memory.zero_()\n    y.sum().backward()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS202", "memory", made=case.at("y = x"), changed=case.at("zero_"), used=case.at("backward"))

    assert case.fixed("clone", found) == source.replace("x @ memory", "x @ memory.clone()")


GAN = """\
def main():
    for x in data:
        fake = G(noise)
        score = D(fake)
        d_loss = real(x) + f(score)
        g_loss = g(score)
        d_loss.backward(retain_graph=True)
        opt_d.step()
        opt_g.zero_grad()
        g_loss.backward()
"""


def test_forward_is_run_again_behind_the_step_with_all_that_follows_from_it(tmp_path: Path) -> None:
    """What only the later pass needs moves there; what the earlier loss needs too is computed twice."""
    case = Case(tmp_path, GAN)
    found = case.diagnosis(
        "GS201",
        "score",
        made=case.at("score = D"),
        enters=case.at("g_loss = g"),
        changed=case.at("opt_d.step"),
        used=case.at("g_loss.backward"),
    )

    fixed = case.fixed("recompute", found)

    again = "        score = D(fake)\n        g_loss = g(score)\n        g_loss.backward()\n"
    assert fixed == GAN.replace("        g_loss = g(score)\n", "").replace("        g_loss.backward()\n", again)


def test_buffer_that_every_iteration_writes_to_is_created_in_every_iteration(tmp_path: Path) -> None:
    """It is never assigned again, so there is no state that is meant to go on."""
    source = (
        "def main():\n    est = torch.zeros(9)\n    for x in data:\n        y = unroll(est, x)\n        y.backward()\n"
    )
    case = Case(tmp_path, source)
    found = case.diagnosis("GS103", "est", enters=case.at("unroll"), used=case.at("backward"))
    fixes = (Fix("detach", "", "changes-gradients"),)

    first = ranked(fixes, case.program(replace(found, fixes=fixes)))[0]

    assert first.kind == "move-into-loop"
    assert case.fixed("move-into-loop", found) == source.replace("    est = torch.zeros(9)\n", "").replace(
        "        y = unroll", "        est = torch.zeros(9)\n        y = unroll"
    )


def test_what_a_constructor_created_is_not_created_in_every_iteration(tmp_path: Path) -> None:
    """Every iteration would begin with a model that nothing has trained."""
    source = (
        "def main():\n    net = Net()\n    for x in data:\n        net(x).backward()\ndef inner_1():\n    y = f(w)\n"
    )
    case = Case(tmp_path, source)
    made = case.at("net = Net()", "y = f(w)")
    stack = (made.stack[0], replace(made.stack[1], function="Net.__init__"))
    found = case.diagnosis("GS104", "self.y", made=replace(made, stack=stack), used=case.at("backward"))

    assert case.fixed("move-into-loop", found) is None


def test_cached_property_is_still_read_like_an_attribute(tmp_path: Path) -> None:
    """Without any decorator it would be a method, which nobody calls."""
    source = "class Filter:\n    @cached_property\n    def kernel(self):\n        return self.width.exp()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS109", "self.kernel", made=case.at("exp", function="Filter.kernel"))

    assert case.fixed("recompute", found) == source.replace("@cached_property", "@property")


def test_state_that_gradients_are_asked_for_stays_one_that_has_them(tmp_path: Path) -> None:
    """Detached alone, `autograd.grad` would refuse it in the next iteration."""
    source = """\
def main():
    for batch in data:
        (slope,) = torch.autograd.grad(energy(theta), [theta], create_graph=True)
        theta = theta - learned(slope)
        loss = energy(theta)
        loss.backward()
"""
    case = Case(tmp_path, source)
    passing = case.at("loss.backward")
    found = case.diagnosis("GS103", "theta", made=case.at("learned"), freed=passing, used=passing)

    fixed = case.fixed("detach", found, live(reached_as="theta"))

    assert fixed == f"{source}        theta = theta.detach().requires_grad_()\n"


def test_state_is_detached_below_what_moves_it_on(tmp_path: Path) -> None:
    """A method of the object that has it may give it another value after the pass."""
    source = "def main():\n    for x in data:\n        loss = f(net(x), probe)\n        loss.backward()\n"
    source += "        opt.step()\n        probe.advance()\n"
    case = Case(tmp_path, source)
    passing = case.at("loss.backward")
    found = case.diagnosis("GS103", "probe.old", made=case.at("net(x)"), freed=passing, used=passing)

    fixed = case.fixed("detach", found, live(reached_as="probe.old"))

    assert fixed == f"{source}        probe.old = probe.old.detach()\n"


def test_forward_is_not_run_again_for_both_passes_at_once(tmp_path: Path) -> None:
    """The loop that repeats the pass stands further in: both would still share one graph."""
    source = """\
def main():
    loss = net(x).mean()
    backward(loss)


def backward(loss):
    for group in groups:
        loss.backward(inputs=group)
"""
    case = Case(tmp_path, source)
    passing = case.at("backward(loss)", "inputs=group", inner="backward")
    found = case.diagnosis("GS101", "loss", made=case.at("net(x)"), freed=passing, used=passing)

    assert case.fixed("recompute", found) is None


def test_record_that_was_created_once_is_detached_field_by_field(tmp_path: Path) -> None:
    """It has no `detach()` of its own."""
    source = "def main():\n    rollout = collect(agent)\n    for _ in range(3):\n        learn(rollout).backward()\n"
    case = Case(tmp_path, source)
    passing = case.at("backward")
    found = case.diagnosis("GS104", "rollout", made=case.at("collect"), freed=passing, used=passing)

    fixed = case.fixed("detach", found, live(record(["values"])))

    line = "    rollout = collect(agent)\n"
    assert fixed == source.replace(line, f"{line}    rollout.values = rollout.values.detach()\n")


CLOSURE = """\
def main():
    step = inner_0()
    for x in data:
        loss = step(x).sum()
        loss.backward()

def inner_0():
    state = zeros(3)

    def inner_1(x):
        nonlocal state
        state = cell(x, state)
        return state

    return inner_1
"""


@pytest.mark.parametrize(
    ("source", "held", "cut"),
    [
        (CLOSURE, TENSOR, "state.detach()"),
        (CLOSURE, container("named tuple", [TENSOR]), "state._make(each.detach() for each in state)"),
        (CLOSURE.replace("nonlocal", "global"), container("tuple", [TENSOR]), "tuple(each.detach() for each in state)"),
    ],
)
def test_state_that_only_inner_functions_can_name_is_cut_where_one_declares_it(
    tmp_path: Path, source: str, held: Held, cut: str
) -> None:
    """The function that asks for the pass has no name for it; the one that binds it again begins with the old one."""
    case = Case(tmp_path, source)
    moves = case.at("step(x)", "cell(x")
    used = case.at("backward")
    found = case.diagnosis("GS103", "state", made=moves, enters=moves, used=used)

    declared = next(line for line in source.splitlines(keepends=True) if line.endswith("al state\n"))
    edits = [case.applied(each) for each in candidates("detach", case.program(found, live(held)))]
    assert source.replace(declared, f"{declared}        state = {cut}\n") in edits


def test_state_of_a_closure_that_runs_several_times_a_step_is_not_cut_at_its_head(tmp_path: Path) -> None:
    """What one call hands to the next within a step is to be trained through."""
    source = CLOSURE.replace(
        "        loss = step(x).sum()",
        "        loss = sum(x)\n        for part in x:\n            loss = loss + step(part)",
    )
    case = Case(tmp_path, source)
    moves = case.at("step(part)", "cell(x")
    found = case.diagnosis("GS103", "state", made=moves, enters=moves, used=case.at("backward"))

    edits = [case.applied(each) for each in candidates("detach", case.program(found))]
    assert not any("nonlocal state\n        state = state.detach()" in each for each in edits)


ADAPTED = """\
def main():
    fast = {first}
    for step in range(9):
        for task in tasks:
            fast = adapt(net, fast, task)
            loss = measure(net, fast, task)
            loss.backward()
        opt.step()
"""


def _adapted(folder: Path, first: str) -> str | None:
    """The program after the weights were moved into a loop."""
    case = Case(folder, ADAPTED.format(first=first))
    made = case.at("fast = adapt")
    used = case.at("backward")
    return case.fixed("move-into-loop", case.diagnosis("GS102", "fast", made=made, enters=made, freed=used, used=used))


@pytest.mark.parametrize(
    "first",
    [
        "dict(net.named_parameters())",
        "list(net.parameters())",
        "{name: each.clone() for name, each in net.named_parameters()}",
    ],
)
def test_adapted_weights_begin_again_as_the_parameters_for_every_task(tmp_path: Path, first: str) -> None:
    """To carry trained weights on is the optimizer's work."""
    source = ADAPTED.format(first=first)
    line = f"    fast = {first}\n"

    moved = source.replace(line, "").replace("            fast = adapt", f"        {line}            fast = adapt")
    assert _adapted(tmp_path, first) == moved


@pytest.mark.parametrize("first", ["net.first_state", "sum(each.norm() for each in net.parameters())"])
def test_state_that_begins_with_something_learned_is_carried_on(tmp_path: Path, first: str) -> None:
    """It is computed from parameters, and is no weight."""
    assert _adapted(tmp_path, first) is None


def test_adapted_weights_begin_again_from_between_two_loops(tmp_path: Path) -> None:
    """They were set once for all tasks of a step."""
    source = """\
def main():
    for step in range(9):
        fast = dict(net.named_parameters())
        for task in tasks:
            fast = adapt(net, fast, task)
            loss = measure(net, fast, task)
            loss.backward()
        opt.step()
"""
    case = Case(tmp_path, source)
    made, used = case.at("fast = adapt"), case.at("backward")
    found = case.diagnosis("GS102", "fast", made=made, enters=made, freed=used, used=used)

    line = "        fast = dict(net.named_parameters())\n"
    moved = source.replace(line, "").replace("            fast = adapt", f"    {line}            fast = adapt")
    assert case.fixed("move-into-loop", found) == moved


@pytest.mark.parametrize(
    ("built", "stacked"),
    [
        ("[a, -b]", "torch.stack([a, -b])"),
        ("[[a, -b], [b, a]]", "torch.stack([torch.stack([a, -b]), torch.stack([b, a])])"),
        ("(a.item(), 0.0, -1)", "torch.stack((a, torch.full_like(a, 0.0), torch.full_like(a, -1)))"),
        ("[[f(a), 0], [b]]", "torch.stack([torch.stack([f(a), torch.full_like(f(a), 0)]), torch.stack([b])])"),
    ],
)
def test_tensor_of_lists_is_a_stack_of_stacks(tmp_path: Path, built: str, stacked: str) -> None:
    """Numbers among tensors are tensors too: a stack takes nothing else."""
    source = "def main():\n    turned = torch.tensor({})\n    loss = f(turned)\n    loss.backward()\n"
    case = Case(tmp_path, source.format(built))
    found = case.diagnosis("GS203", "turned", cut=case.at("turned ="), used=case.at("loss.backward"))

    fixed = case.fixed("re-attach", found)

    assert fixed == source.replace("torch.tensor({})", stacked)
