"""Every kind of fix makes the edit that an expert would make, where one would make it, and no other."""

from dataclasses import replace
from pathlib import Path

import pytest

from fix.programs import MAIN, Case, live
from gradsan.facts.held import SOMETHING, TENSOR, Held, container, record
from gradsan.facts.live_evidence import GraphLine, LiveEvidence
from gradsan.fix.proposing import candidates
from gradsan.fix.ranking import ranked
from gradsan.report import Fix, FixKind

LSTM = """\
def main():
    h = torch.zeros(1)
    c = torch.zeros(1)
    for x in data:
        opt.zero_grad()
        out, (h, c) = model(x, (h, c))  # one window
        loss = criterion(out)
        loss.backward()
        opt.step()
"""


def test_both_halves_of_a_carried_state_are_detached_where_they_enter(tmp_path: Path) -> None:
    """The name in the explanation is one of them; the error would come back through the other."""
    case = Case(tmp_path, LSTM)
    enters = case.at("model(x")
    found = case.diagnosis("GS103", "h", made=enters, enters=enters, used=case.at("loss.backward"))

    fixed = case.fixed("detach", found)

    assert fixed == LSTM.replace("model(x, (h, c))", "model(x, (h.detach(), c.detach()))")


def test_state_that_a_step_reads_many_times_is_detached_once_after_the_pass(tmp_path: Path) -> None:
    """Cut at every reading, the gradient would no longer flow within the step either."""
    source = """\
def main():
    h = torch.zeros(1)
    for episode in data:
        for x in episode:
            h = cell(x, h)
        criterion(h).backward()
        opt.step()
"""
    case = Case(tmp_path, source)
    enters = case.at("cell(x, h)")
    found = case.diagnosis("GS103", "h", made=enters, enters=enters, used=case.at("backward"))

    fixed = case.fixed("detach", found)

    assert fixed == source.replace("        opt.step()", "        h = h.detach()\n        opt.step()")


def test_state_that_begins_as_none_is_detached_after_the_pass(tmp_path: Path) -> None:
    """There is nothing to detach in the first step."""
    source = """\
def main():
    state = None
    for x in data:
        out, state = model(x, state)
        out.sum().backward()
"""
    case = Case(tmp_path, source)
    enters = case.at("model(x")
    found = case.diagnosis(
        "GS103",
        "state",
        made=enters,
        enters=enters,
        used=case.at("backward"),
    )

    fixed = case.fixed("detach", found, live(container("tuple", [TENSOR]), "state"))

    assert fixed == source + "        state = tuple(each.detach() for each in state)\n"


def test_what_is_created_once_is_detached_there(tmp_path: Path) -> None:
    """It holds for every later use."""
    source = (
        "import torch\ndef main():\n    codes = encoder(raw) + 1\n    for x in codes:\n        loss(x).backward()\n"
    )
    case = Case(tmp_path, source)
    found = case.diagnosis("GS104", "codes", made=case.at("encoder"), enters=case.at("for x"), used=case.at("backward"))

    assert case.fixed("detach", found) == source.replace("encoder(raw) + 1", "(encoder(raw) + 1).detach()")
    assert case.fixed("no-grad", found) == source.replace(
        "    codes = encoder(raw) + 1", "    with torch.no_grad():\n        codes = encoder(raw) + 1"
    )


@pytest.mark.parametrize("stepped", ["its maker", "others"])
def test_output_of_another_network_is_detached_in_the_loss_that_must_not_train_it(tmp_path: Path, stepped: str) -> None:
    """Which of the two that is, only the optimizer's steps tell."""
    source = """\
def main():
    fake = generator(noise)
    first = critic(fake).mean()
    first.backward()
    opt.step()
    second = critic(fake).var()
    second.backward()
"""
    case = Case(tmp_path, source)
    found = case.diagnosis(
        "GS106",
        "fake",
        made=case.at("generator"),
        enters=case.at("second = "),
        freed=case.at("first.backward"),
        used=case.at("second.backward"),
        evidence={"earlier_pass_trains": stepped},
    )

    loss = "second = critic(fake" if stepped == "its maker" else "first = critic(fake"
    assert case.fixed("detach", found) == source.replace(loss, f"{loss}.detach()")


def test_output_of_another_network_goes_by_the_name_that_the_calling_function_gave_it(tmp_path: Path) -> None:
    """What both losses share is a local of the call; one of its two results enters the loss that must not train it."""
    source = """\
import torch
policy = density = critic = torch.nn.Linear(2, 2)
def act(state):
    mean = policy(state)
    return mean + noise, density(mean)
def main():
    action, chance = act(state)
    first = critic(action).mean()
    first.backward()
    second = (chance - critic(action)).mean()
    second.backward()
"""
    case = Case(tmp_path, source)
    found = case.diagnosis(
        "GS106",
        "mean",
        made=case.at("= act(state)", "policy"),
        enters=case.at("= act(state)", "density"),
        freed=case.at("first.backward"),
        used=case.at("second.backward"),
        evidence={"earlier_pass_trains": "others"},
    )

    assert case.fixed("detach", found) == source.replace("first = critic(action)", "first = critic(action.detach())")


def test_of_two_calls_in_one_statement_the_one_that_freed_it_gets_the_detached_output(tmp_path: Path) -> None:
    """Detached in the other, too, the maker would not train any more."""
    source = """\
def main():
    fake = generator(noise)
    print(inner_1(real, fake), train_maker(fake))


def inner_1(real, fake):
    critic(fake).mean().backward()


def train_maker(fake):
    critic(fake).var().backward()
"""
    case = Case(tmp_path, source)
    found = case.diagnosis(
        "GS106",
        "fake",
        made=case.at("generator"),
        enters=case.at("inner_1(real, fake), t", "var"),
        freed=case.at("inner_1(real, fake), t", "mean"),
        used=case.at("inner_1(real, fake), t", "var"),
        evidence={"earlier_pass_trains": "others"},
    )

    assert case.fixed("detach", found) == source.replace("real, fake), t", "real, fake.detach()), t")


TWO_LOSSES = """\
def main():
    first, second = model(x)

    # both tasks
    first.backward(retain_graph=False)
    log(first)
    second.backward()
    opt.step()
"""


def test_losses_of_one_block_are_added_up(tmp_path: Path) -> None:
    """At the place of the last, where all of them are known."""
    case = Case(tmp_path, TWO_LOSSES)
    found = case.diagnosis("GS102", freed=case.at("first.backward"), used=case.at("second.backward"))

    fixed = case.fixed("combine-losses", found)

    assert fixed is not None
    assert "    log(first)\n    (first + second).backward()\n    opt.step()\n" in fixed
    assert "first.backward" not in fixed


@pytest.mark.parametrize(
    ("asking", "combined"),
    [
        ("[loss.backward() for loss in losses]", "sum(losses).backward()"),
        ("[loss.backward() for loss in losses if loss > 0]", "sum(loss for loss in losses if loss > 0).backward()"),
        (
            "[accelerator.backward(w * x) for w, x in losses]",
            "accelerator.backward(sum(w * x for w, x in losses))",
        ),
    ],
)
def test_comprehension_of_passes_becomes_one_pass(tmp_path: Path, asking: str, combined: str) -> None:
    """The loop around it is not counted: each of its iterations has passes of its own."""
    case = Case(tmp_path, f"def main():\n    for rows in batches:\n        {asking}\n        optimizer.step()\n")
    place = case.at("backward")
    found = case.diagnosis("GS102", "out", freed=place, used=place)

    assert case.fixed("combine-losses", found) == "\n".join(case.lines).replace(asking, combined) + "\n"
    assert "enumerate" not in (case.fixed("retain-graph", found) or "")


@pytest.mark.parametrize("between", ["opt.step()", "scaler.unscale_(opt)"])
def test_losses_are_not_added_up_over_a_step(tmp_path: Path, between: str) -> None:
    """The first update would be lost."""
    case = Case(tmp_path, TWO_LOSSES.replace("log(first)", between))
    found = case.diagnosis("GS102", freed=case.at("first.backward"), used=case.at("second.backward"))

    assert case.fixed("combine-losses", found) is None


def test_losses_of_a_loop_are_added_up_after_it(tmp_path: Path) -> None:
    """What else the loop does stays in it."""
    source = """\
def main():
    for weight, out in zip(weights, outputs):
        loss = weight * criterion(out)
        loss.backward()
        log(loss)
    opt.step()
"""
    case = Case(tmp_path, source)
    used = case.at("backward")
    found = case.diagnosis("GS102", freed=used, used=used)

    assert (
        case.fixed("combine-losses", found)
        == """\
def main():
    total_loss = 0.0
    for weight, out in zip(weights, outputs):
        loss = weight * criterion(out)
        total_loss = total_loss + loss
        log(loss)
    total_loss.backward()
    opt.step()
"""
    )


def test_graph_is_retained_by_the_earlier_pass_only(tmp_path: Path) -> None:
    """On the failing call it does nothing, on the last it costs memory."""
    source = "def main():\n    a.backward()\n    b.backward()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS102", freed=case.at("a.backward"), used=case.at("b.backward"))

    assert case.fixed("retain-graph", found) == source.replace("a.backward()", "a.backward(retain_graph=True)")


def test_last_pass_of_a_loop_retains_nothing(tmp_path: Path) -> None:
    """One line asks for all of them."""
    source = "def main():\n    for loss in losses:\n        loss.backward()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS102", freed=case.at("backward"), used=case.at("backward"))

    assert case.fixed("retain-graph", found) == (
        "def main():\n    for number, loss in enumerate(losses, start=1):\n"
        "        loss.backward(retain_graph=number < len(losses))\n"
    )


ONCE = """\
def main():
    # the scale is learnt
    std = log_std.exp()
    model = Normal(mean, std)
    other = 1
    for x in data:
        opt.zero_grad()
        loss = -model.log_prob(x)
        loss.backward()
"""


def test_what_was_computed_once_moves_into_the_loop_with_all_that_uses_it(tmp_path: Path) -> None:
    """And stands above its first use, with its comment."""
    case = Case(tmp_path, ONCE)
    found = case.diagnosis("GS104", "std", made=case.at("std ="), used=case.at("loss.backward"))

    assert (
        case.fixed("move-into-loop", found)
        == """\
def main():
    other = 1
    for x in data:
        opt.zero_grad()
        # the scale is learnt
        std = log_std.exp()
        model = Normal(mean, std)
        loss = -model.log_prob(x)
        loss.backward()
"""
    )


def test_lines_do_not_move_where_they_would_mean_something_else(tmp_path: Path) -> None:
    """The loop has an `x` of its own."""
    source = "def main():\n    loss = model(x)\n    for x in data:\n        loss.backward()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS101", "loss", made=case.at("loss ="), used=case.at("backward"))

    assert case.fixed("move-into-loop", found) is None


def test_forward_is_run_again_for_the_later_pass_and_names_keep_their_values(tmp_path: Path) -> None:
    """`predictions` is used afterwards, as it was."""
    source = """\
def main():
    predictions = model(inputs)
    loss = criterion(predictions, targets)
    loss.backward()
    opt.first_step()
    loss.backward()  # at the perturbed weights
    report(predictions)
"""
    case = Case(tmp_path, source)
    used = case.at("perturbed")
    found = case.diagnosis(
        "GS101",
        "loss",
        made=case.at("criterion"),
        freed=case.at("loss.backward"),
        used=used,
    )
    seen = LiveEvidence(graph_lines=(GraphLine(MAIN, 2, 1), GraphLine(MAIN, 3, 1)))

    assert case.fixed("recompute", found, seen) == source.replace(
        "    loss.backward()  # at", "    criterion(model(inputs), targets).backward()  # at"
    )


def test_cache_is_filled_again_every_time(tmp_path: Path) -> None:
    """The question whether it is filled goes."""
    source = "def main():\n    if self.table is None:\n        self.table = build()\n    return self.table\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS109", "self.table", made=case.at("build()"))

    assert case.fixed("recompute", found) == "def main():\n    self.table = build()\n    return self.table\n"


def test_total_keeps_numbers_and_the_loss_is_back_propagated(tmp_path: Path) -> None:
    """Either change alone would be wrong."""
    source = "def main():\n    for x in data:\n        loss = f(x)\n        total += loss\n        total.backward()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS105", "total", enters=case.at("total +="), used=case.at("backward"))

    assert case.fixed("item", found) == source.replace("+= loss", "+= float(loss)").replace(
        "total.backward", "loss.backward"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("h += step", "h = h + step"),
        ("h -= a if b else c", "h = h - (a if b else c)"),
        ("h.mul_(2)", "h = h.mul(2)"),
        ("h = relu(h, inplace=True)", "h = relu(h)"),
        ("h[0] = 1", "h = h.clone()\n    h[0] = 1"),
        ("h[:, 2:].exp_()", "h = h.clone()\n    h[:, 2:].exp_()"),
    ],
)
def test_edit_in_place_makes_a_new_tensor_instead(tmp_path: Path, before: str, after: str) -> None:
    """The saved one stays as it was."""
    case = Case(tmp_path, f"def main(h):\n    {before}\n    return h\n")
    found = case.diagnosis("GS202", "h", changed=case.at(before))

    assert case.fixed("clone", found) == f"def main(h):\n    {after}\n    return h\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("h[0] = h[1] * 2", "h[0] = h.clone()[1] * 2"),
        ("h[:, a] = h[:, a] * scale + h[:, b]", "h[:, a] = h.clone()[:, a] * scale + h.clone()[:, b]"),
        ("h[0] += h[1]", "h[0] += h.clone()[1]"),
    ],
)
def test_what_is_written_into_a_copy_is_read_from_another(tmp_path: Path, before: str, after: str) -> None:
    """What the new values are computed from may be saved too; a copy of what is written into would be lost."""
    case = Case(tmp_path, f"def main(h):\n    {before}\n    return h\n")
    found = case.diagnosis("GS202", "h", changed=case.at(before), made=case.at(before))

    every = [case.applied(edits) for edits in candidates("clone", case.program(found))]

    copied = "def main(h):\n    h = h.clone()\n    {}\n    return h\n"
    assert every[:2] == [copied.format(before), copied.format(after)]
    assert not any("h.clone()[0] =" in each for each in every)


@pytest.mark.parametrize(
    ("edit", "after"),
    [("h[:2].sigmoid_()", None), ("h[:2].mul_(h[2:])", "h[:2].mul_(h.clone()[2:])")],
)
def test_edit_that_saves_a_value_itself_is_not_made_of_a_copy_that_nobody_has(
    tmp_path: Path, edit: str, after: str | None
) -> None:
    """`h.clone()[:2].sigmoid_()` would change nothing that anybody reads."""
    later = "h[2:].exp_()"
    case = Case(tmp_path, f"def main(h):\n    {edit}\n    {later}\n    return h\n")
    found = case.diagnosis("GS202", "h", made=case.at(edit), changed=case.at(later))

    every = [case.applied(edits) for edits in candidates("clone", case.program(found))]

    assert not any("clone()[:2]" in each for each in every)
    assert after is None or any(after in each for each in every)


@pytest.mark.parametrize("edit", ["w.clamp_(-1, 1)", "w *= 0.9", "w[0] = 0", "w[:2].clamp_(-1, 1)"])
def test_edit_that_is_meant_for_others_is_not_made_of_a_copy(tmp_path: Path, edit: str) -> None:
    """The loop's variable would have the new tensor, and the model keep the old one."""
    case = Case(tmp_path, f"def clip(model):\n    for w in model.parameters():\n        {edit}\n")
    found = case.diagnosis("GS202", "w", changed=case.at(edit))

    assert case.fixed("clone", found) is None


@pytest.mark.parametrize(
    ("over", "edit", "after"),
    [
        ("key, w in fast.items()", "w -= rate * grads[key]", "fast[key] = w - rate * grads[key]"),
        ("(key, w), g in zip(fast.items(), grads)", "w.sub_(g, alpha=rate)", "fast[key] = w.sub(g, alpha=rate)"),
        ("n, (w, g) in enumerate(zip(self.fast, grads))", "w += g + rate", "self.fast[n] = w + (g + rate)"),
    ],
)
def test_item_of_a_container_is_replaced_there(tmp_path: Path, over: str, edit: str, after: str) -> None:
    """The loop's variable alone would be forgotten."""
    source = "def adapt(self, fast, grads):\n    for {}:\n        {}\n    return fast\n"
    case = Case(tmp_path, source.format(over, edit))

    fixed = case.fixed("clone", case.diagnosis("GS202", "w", changed=case.at(edit)))

    assert fixed == source.format(over, after)


def test_list_of_which_every_item_is_edited_is_computed_again(tmp_path: Path) -> None:
    """No name says which item it is; where the loop does something else too, that would be lost."""
    source = "def adapt(fast, grads):\n    for w, g in zip(fast, grads):\n        w -= 0.1 * g\n    return fast\n"
    case = Case(tmp_path, source)

    fixed = case.fixed("clone", case.diagnosis("GS202", "w", changed=case.at("w -=")))

    assert fixed == (
        "def adapt(fast, grads):\n    fast = [w - 0.1 * g for w, g in zip(fast, grads)]\n    return fast\n"
    )
    case = Case(tmp_path, source.replace("    return", "        print(g)\n    return"))
    assert case.fixed("clone", case.diagnosis("GS202", "w", changed=case.at("w -="))) is None


def test_name_of_a_loop_that_means_something_else_below_it_is_no_reason_for_a_copy(tmp_path: Path) -> None:
    """Nobody reads the copy: each iteration has another tensor."""
    case = Case(tmp_path, "def clip(model):\n    for w in model.parameters():\n        w[0] = 0\n    return w\n")

    assert case.fixed("clone", case.diagnosis("GS202", "w", changed=case.at("w[0]"))) is None


STEPPED_BETWEEN = "def main():\n    a.backward(retain_graph=True)\n    {between}\n    {later}\n    {below}\n"


def stepped_between(folder: Path, between: str, later: str, below: str) -> str | None:
    """What becomes of a step that stands between two passes."""
    case = Case(folder, STEPPED_BETWEEN.format(between=between, later=later, below=below))
    found = case.diagnosis("GS201", changed=case.at("opt.step"), used=case.at(later))
    return case.fixed("reorder", found)


def test_step_that_follows_the_pass_anyway_is_kept_once(tmp_path: Path) -> None:
    """Nothing clears the gradients between the passes: that step was to have both."""
    fixed = stepped_between(tmp_path, "opt.step()", "b.backward()", "opt.step()")

    assert fixed == "def main():\n    a.backward(retain_graph=True)\n    b.backward()\n    opt.step()\n"


def test_step_moves_behind_a_pass_that_gives_nobody_a_gradient(tmp_path: Path) -> None:
    """What `autograd.grad` computes is returned."""
    fixed = stepped_between(tmp_path, "opt.step()", "grads = torch.autograd.grad(b, w)", "log()")

    assert fixed == (
        "def main():\n    a.backward(retain_graph=True)\n    grads = torch.autograd.grad(b, w)\n    opt.step()\n"
        "    log()\n"
    )


@pytest.mark.parametrize(
    ("between", "below"),
    [
        ("opt.step()", "other.step()"),
        ("opt.step()\n    opt.zero_grad()", "opt.step()"),
        ("opt.step()\n    c.backward()", "opt.step()"),
    ],
    ids=["the pass is another optimizer's", "it clears before the pass", "another pass lies between"],
)
def test_step_never_takes_gradients_that_it_was_not_to_be_given(tmp_path: Path, between: str, below: str) -> None:
    """Behind the pass it would train its parameters for that loss, too."""
    assert stepped_between(tmp_path, between, "b.backward()", below) is None


def test_superfluous_pass_is_taken_out_where_the_calls_part(tmp_path: Path) -> None:
    """Both passes are one line of a wrapper, which other callers need."""
    source = "def main():\n    first(loss)\n    engine.backward(loss)\n\ndef wrapped(loss):\n    loss.backward()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis(
        "GS101",
        freed=case.at("first(", "    loss.backward"),
        used=case.at("engine", "    loss.backward"),
    )

    assert case.fixed("remove-backward", found) == source.replace("    engine.backward(loss)\n", "")


def test_gradient_that_becomes_part_of_the_loss_is_recorded(tmp_path: Path) -> None:
    """Retaining alone would leave it without a history of its own."""
    source = "def main():\n    (du,) = grad(\n        u.sum(),\n        xy,\n    )\n    loss.backward()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS107", freed=case.at("grad("), used=case.at("backward"))

    assert case.fixed("create-graph", found) == source.replace("xy,\n", "xy,\n        create_graph=True,\n")


def test_gradient_of_a_gradient_is_recorded_along(tmp_path: Path) -> None:
    """A trial takes the first of both that trains as meant; what differentiates something else stays."""
    source = (
        "def main():\n    du = grad(u.sum(), x)[0]\n    flux = k * du\n    d2u = grad(flux.sum(), x)[0]\n"
        "    dv = grad(v.sum(), x)[0]\n    loss.backward()\n"
    )
    case = Case(tmp_path, source)
    program = case.program(case.diagnosis("GS203", "du", cut=case.at("grad(u"), used=case.at("backward")))

    first, both = (case.applied(each) for each in candidates("create-graph", program))

    assert first == source.replace("u.sum(), x)", "u.sum(), x, create_graph=True)", 1)
    assert both == first.replace("flux.sum(), x)", "flux.sum(), x, create_graph=True)")


def test_needless_retain_is_taken_out(tmp_path: Path) -> None:
    """The rest of the call stays as it is written."""
    source = "def main():\n    loss.backward(ones, retain_graph=True)\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS302", used=case.at("backward"))

    assert case.fixed("remove-retain", found) == "def main():\n    loss.backward(ones)\n"


def test_call_that_cuts_the_graph_is_taken_out(tmp_path: Path) -> None:
    """Or replaced by the one that keeps it."""
    source = "def main():\n    code = encoder(x).detach()\n    z = normal.sample()\n"
    case = Case(tmp_path, source)

    assert "code = encoder(x)\n" in str(case.fixed("re-attach", case.diagnosis("GS306", cut=case.at("detach"))))
    assert "z = normal.rsample()" in str(case.fixed("re-attach", case.diagnosis("GS203", cut=case.at("sample"))))


def test_file_that_reads_differently_now_is_not_edited(tmp_path: Path) -> None:
    """What ran is not what is there."""
    case = Case(tmp_path, LSTM)
    enters = case.at("model(x")
    found = case.diagnosis("GS103", "h", made=enters, enters=enters, used=case.at("loss.backward"))
    (tmp_path / "train.py").write_text("# moved\n" + LSTM, encoding="utf-8")

    assert case.fixed("detach", found) is None


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("fast = w - grads", "create-graph"),
        ("log(grads)", "retain-graph"),
        ("fast = (w - grads).detach()", "retain-graph"),
        ("fast = w - grads.relu()", "create-graph"),
    ],
)
def test_gradient_that_is_merely_looked_at_needs_no_graph_of_its_own(tmp_path: Path, line: str, first: str) -> None:
    """What flows from it to the later pass decides, not which loss it was taken of."""
    source = f"def main():\n    fast = w\n    grads = grad(loss, w)\n    {line}\n    (f(fast) + loss).backward()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS107", "loss", freed=case.at("grad(loss"), used=case.at("backward"))
    fixes = (Fix("retain-graph", "", "same-gradients"), Fix("create-graph", "", "changes-gradients"))

    assert ranked(fixes, case.program(found))[0].kind == first


@pytest.mark.parametrize(
    ("held", "statements"),
    [
        (
            container("list", [container("tuple", [TENSOR])]),
            "s = [tuple(inner_each.detach() for inner_each in each) for each in s]",
        ),
        (container("dict", [TENSOR]), "s = {key: value.detach() for key, value in s.items()}"),
        (container("named tuple", [TENSOR]), "s = s._make(each.detach() for each in s)"),
        (record(["h", "c"]), "s.h = s.h.detach()\n        s.c = s.c.detach()"),
        (record(["h"], frozen=True), "s = replace(s, h=s.h.detach())"),
        (container("deque", [TENSOR]), "for index, each in enumerate(s):\n            s[index] = each.detach()"),
        (SOMETHING, None),
    ],
    ids=str,
)
def test_whatever_holds_the_tensors_all_of_them_are_detached(
    tmp_path: Path, held: Held, statements: str | None
) -> None:
    """Below the pass, by the name that the function has for it."""
    source = (
        "from dataclasses import replace\ndef main():\n    for x in y:\n        s = f(x, s)\n        s.l.backward()\n"
    )
    case = Case(tmp_path, source)
    enters = case.at("f(x, s)")
    found = case.diagnosis("GS103", "s", made=enters, enters=enters, used=case.at("backward"))

    fixed = case.fixed("detach", found, live(held, "s"))

    assert fixed == (None if statements is None else f"{source}        {statements}\n")


@pytest.mark.parametrize(
    ("states", "added"),
    [
        (("lower.h", "upper.h"), "        lower.h = lower.h.detach()\n        upper.h = upper.h.detach()\n"),
        (
            ("net.cells[0].h", "net.cells[1].h"),
            "        for layer in net.cells:\n            layer.h = layer.h.detach()\n",
        ),
        (  # what lies between may have no such state
            ("net[1].h", "net[3].h"),
            "        for layer in (net[1], net[3]):\n            layer.h = layer.h.detach()\n",
        ),
    ],
)
def test_state_of_every_layer_is_detached(tmp_path: Path, states: tuple[str, str], added: str) -> None:
    """Cut in one of them, the pass would walk into the past through the other."""
    source = "def main():\n    for x in data:\n        loss = net(x)\n        loss.backward()\n"
    case = Case(tmp_path, source)
    enters = case.at("net(x)")
    found = case.diagnosis("GS103", "self.h", made=enters, enters=enters, used=case.at("backward"))

    assert case.fixed("detach", found, live(reached_as=states[0], beside=states[1:])) == source + added


READ, DONE = "self.cell(x, self.h)", "        loss.backward()\n"


@pytest.mark.parametrize(
    ("begins", "old", "new"),
    [
        ("self.cell, self.h = GRU(3), None", DONE, f"{DONE}        net.h = net.h.detach()\n"),
        # In a descriptor, or in another file.
        ("self.cell = GRU(3)", READ, "self.cell(x, None if self.h is None else self.h.detach())"),
        ("self.cell, self.h = GRU(3), zeros(3)", READ, "self.cell(x, self.h.detach())"),
        ("self.register_buffer('h', zeros(3))", READ, "self.cell(x, self.h.detach())"),
    ],
)
def test_state_that_may_be_none_at_first_is_not_detached_then(tmp_path: Path, begins: str, old: str, new: str) -> None:
    """But below the pass, or after a question."""
    source = f"""\
def main():
    for x in data:
        loss = net(x)
{DONE}
class Net:
    def __init__(self):
        {begins}

    def forward(self, x):
        out, self.h = {READ}
        return out
"""
    case = Case(tmp_path, source)
    enters = case.at("net(x)", "self.cell(x", inner="Net.forward")
    found = case.diagnosis("GS103", "self.h", made=enters, enters=enters, used=case.at("backward"))

    assert case.fixed("detach", found) == source.replace(old, new)


def test_queue_of_a_closure_is_detached_item_by_item(tmp_path: Path) -> None:
    """The function that asks for passes has no name for it; where it is read, a list does."""
    source = """\
def main():
    for x in data:
        loss = compare(x, negatives())
        loss.backward()

def make_queue():
    queue = deque(maxlen=3)
    def push(key):
        queue.append(key)
    def negatives():
        return torch.cat(list(queue))
"""
    case = Case(tmp_path, source)
    enters = case.at("negatives()", "torch.cat", inner="make_queue.<locals>.negatives")
    places = {"made": case.at("compare"), "enters": enters, "used": case.at("backward")}
    found = case.diagnosis("GS103", "queue", evidence={}, **places)

    fixed = case.fixed("detach", found, live(container("deque", [TENSOR])))

    assert fixed == source.replace("list(queue)", "list([each.detach() for each in queue])")


def test_state_of_a_closure_is_detached_above_the_loop_that_reads_it(tmp_path: Path) -> None:
    """The function that asks for passes has no name for it."""
    source = """\
def main():
    for x in data:
        advance(x).backward()

def advance(x):
    global y
    for _ in range(9):
        y = y + f(y)
    return y
"""
    case = Case(tmp_path, source)
    enters = case.at("advance(x).b", "y + f(y)")
    found = case.diagnosis("GS103", "y", made=enters, enters=enters, used=case.at("advance(x).b"))

    assert case.fixed("detach", found) == source.replace("    for _ in", "    y = y.detach()\n    for _ in")


def test_state_two_calls_away_is_written_as_the_training_function_sees_it(tmp_path: Path) -> None:
    """`self` of the memory is `model.memory` there."""
    source = """\
def main():
    for episode in data:
        for x in episode:
            loss = loss + torch.dist(model(x), x)
        loss.backward()

def forward(self, x):
    return self.memory.read(x)

def read(self, x):
    return x @ self.slots
"""
    case = Case(tmp_path, source)
    enters = case.at("model(x)", "self.memory", "self.slots")
    stack = tuple(
        replace(each, function=name) for each, name in zip(enters.stack, ("main", "C.forward", "M.read"), strict=True)
    )
    enters = replace(enters, stack=stack, function="M.read")
    found = case.diagnosis("GS103", "self.slots", made=enters, enters=enters, used=case.at("loss.backward"))

    statement = "        model.memory.slots = model.memory.slots.detach()\n"
    assert case.fixed("detach", found) == source.replace("loss.backward()\n", f"loss.backward()\n{statement}")


def test_function_that_only_measures_is_run_without_recording(tmp_path: Path) -> None:
    """It puts the model into evaluation mode, and asks for no pass."""
    source = "import torch as t\ndef validate():\n    model.eval()\n    total += model(x)\n    return total\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS301", "total", held=case.at("total +=", function="validate"))

    assert case.fixed("no-grad", found) == source.replace("def", "@t.no_grad()\ndef")


def test_losses_that_were_back_propagated_leave_their_list(tmp_path: Path) -> None:
    """Below the loop over them."""
    source = "def flush(self):\n    for loss in self.pending:\n        (loss / 4).backward()\n    self.opt.step()\n"
    case = Case(tmp_path, source)
    used = case.at("backward", function="flush")
    found = case.diagnosis("GS101", "loss", freed=used, used=used)

    assert case.fixed("reset-state", found) == source.replace("    self.opt", "    self.pending.clear()\n    self.opt")


def test_item_is_found_however_its_key_is_quoted(tmp_path: Path) -> None:
    """The explanation writes it in its own way."""
    source = "def main():\n    for x in data:\n        s['h'] = f(x, s['h'])\n        s['h'].backward()\n"
    case = Case(tmp_path, source)
    enters = case.at("f(x")
    found = case.diagnosis("GS103", 's["h"]', made=enters, enters=enters, used=case.at("backward"))

    assert case.fixed("detach", found) == source.replace("f(x, s['h'])", 'f(x, s["h"].detach())').replace('"', "'")


def test_state_that_is_assigned_below_the_pass_is_detached_there(tmp_path: Path) -> None:
    """Cut at the pass, it would be overwritten with a history again."""
    source = (
        "def main():\n    h = None\n    for x in y:\n        new = f(x, h)\n        new.backward()\n        h = new\n"
    )
    case = Case(tmp_path, source)
    enters = case.at("f(x, h)")
    found = case.diagnosis("GS103", "h", made=enters, enters=enters, used=case.at("backward"))

    assert case.fixed("detach", found) == source + "        h = h.detach()\n"


def test_state_that_a_call_below_the_pass_writes_is_detached_there(tmp_path: Path) -> None:
    """The line that created it stands in a method; the call of it, below the pass."""
    source = """\
class Bank:
    def update(self, features):
        self.vectors = mix(self.vectors, features)
def main():
    for x in data:
        loss = bank(net(x))
        loss.backward()
        bank.update(x)
        log()
"""
    case = Case(tmp_path, source)
    found = case.diagnosis(
        "GS103",
        "self.vectors",
        made=case.at("bank.update", "mix"),
        enters=case.at("bank(net"),
        used=case.at("backward"),
    )

    assert case.fixed("detach", found, live(reached_as="bank.vectors")) == source.replace(
        "        log()", "        bank.vectors = bank.vectors.detach()\n        log()"
    )


def test_update_that_saw_the_last_loss_only_moves_into_the_loop(tmp_path: Path) -> None:
    """With all that belongs to it, and nothing else."""
    source = """\
def main():
    for x in data:
        loss = f(x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss)
"""
    case = Case(tmp_path, source)
    found = case.diagnosis("GS304", "loss", made=case.at("f(x)"))

    assert (
        case.fixed("move-into-loop", found)
        == """\
def main():
    for x in data:
        loss = f(x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss)
"""
    )


def test_loss_that_is_left_out_is_not_added_to_itself(tmp_path: Path) -> None:
    """It is no total that is overwritten."""
    case = Case(tmp_path, "for x in data:\n    penalty = f(x)\n    loss = g(x)\n    loss.backward()\n")
    found = case.diagnosis("GS304", "penalty", evidence={"parameters_alone": 0}, made=case.at("f(x)"))

    assert case.fixed("combine-losses", found) is None


@pytest.mark.parametrize(("derived", "fixes"), [("self.raw.exp()", True), ("self.raw[:size].exp()", False)])
def test_what_a_constructor_derived_is_computed_where_it_is_read(tmp_path: Path, derived: str, *, fixes: bool) -> None:
    """If the object alone is enough for that."""
    source = f"def init(self, size):\n    self.scale = {derived}\n\ndef forward(self, x):\n    return x * self.scale\n"
    case = Case(tmp_path, source)
    found = case.diagnosis(
        "GS104",
        "self.scale",
        made=case.at("self.scale =", function="Model.__init__"),
        enters=case.at("x * self", function="Model.forward"),
    )

    assert case.fixed("recompute", found) == (source.replace("x * self.scale", f"x * {derived}") if fixes else None)


@pytest.mark.parametrize(
    ("code", "kind", "line"),
    [
        ("GS202", "clone", "h.copy_(x)"),
        ("GS202", "clone", "h.fill_diagonal_(0)"),
        ("GS203", "re-attach", "rows = x.detach().numpy()"),
    ],
)
def test_edit_that_could_not_run_is_not_offered(tmp_path: Path, code: str, kind: FixKind, line: str) -> None:
    """There is no `copy` of a tensor, and NumPy takes nothing that has a history."""
    case = Case(tmp_path, f"def main():\n    {line}\n")

    assert case.fixed(kind, case.diagnosis(code, "h", changed=case.at(line), cut=case.at(line))) is None


@pytest.mark.parametrize(
    ("body", "fixed"),
    [
        ("total = 0\n    for x in data:\n        total += f(x)\n    return total", True),
        ("model.eval()\n    return f(data)", True),
        ("print(f(data))", True),
        ("", False),  # nothing is left that is to be computed so
    ],
)
def test_switch_that_is_left_off_holds_for_a_block(tmp_path: Path, body: str, *, fixed: bool) -> None:
    """For what follows it in its own block, and no longer."""
    switch = "torch.set_grad_enabled(False)"
    source = f"def main():\n    model.eval()\n    {switch}\n    {body}".rstrip() + "\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS203", "loss", cut=case.at(switch))

    indented = body.replace("\n", "\n    ")
    after = f"def main():\n    model.eval()\n    with {switch}:\n        {indented}\n"
    assert case.fixed("re-attach", found) == (after if fixed else None)


@pytest.mark.parametrize(
    ("value", "fixed"),
    [
        ("z + (code - z).detach()", None),
        ("(hard - soft).detach() + soft", None),
        ("z + (code - other).detach()", "z + (code - other)"),  # a difference, but not from what it is added to
        ("z + code.detach()", "z + code"),
    ],
)
def test_cut_of_a_straight_through_estimator_stays(tmp_path: Path, value: str, fixed: str | None) -> None:
    """Without it, nothing would be trained through what is added."""
    source = f"def main():\n    out = {value}\n    return out\n"
    case = Case(tmp_path, source)
    after = None if fixed is None else source.replace(value, fixed)

    found = case.fixed("re-attach", case.diagnosis("GS306", "out", cut=case.at("out = ")))

    assert found == after


def test_asking_for_a_size_does_not_keep_a_graph_from_being_joined_up(tmp_path: Path) -> None:
    """`x.size(0)` gives no values; only what goes into an array or a list is lost for good."""
    case = Case(tmp_path, "import torch\n\ndef main(x):\n    y = x.view(x.size(0), -1).detach()\n    return y\n")

    fixed = case.fixed("re-attach", case.diagnosis("GS203", "y", cut=case.at("detach")))

    assert "y = x.view(x.size(0), -1)\n" in str(fixed)


def test_what_a_constructor_derived_is_computed_wherever_the_class_reads_it(tmp_path: Path) -> None:
    """One old use that is left would still be old."""
    source = (
        "class Model:\n"
        "    def __init__(self):\n        self.scale = self.raw.exp()\n"
        "    def forward(self, x):\n        return x * self.scale\n"
        "    def penalty(self):\n        return self.scale.sum()\n"
    )
    case = Case(tmp_path, source)
    found = case.diagnosis(
        "GS308",
        "self.scale",
        made=case.at("self.scale =", function="Model.__init__"),
        enters=case.at("x * self", function="Model.forward"),
    )

    fixed = source.replace("x * self.scale", "x * self.raw.exp()").replace("self.scale.sum", "self.raw.exp().sum")
    assert case.fixed("recompute", found) == fixed


@pytest.mark.parametrize(
    "call",
    [
        "solve(lambda u: autograd.grad(f, z, u)[0] + g, g)",
        "rows = list(map(lambda v: torch.autograd.grad(f, z, v), basis))",
        "act = (lambda: f.backward(seed))",
    ],
)
def test_pass_that_a_lambda_asks_for_keeps_its_graph(tmp_path: Path, call: str) -> None:
    """It stands in the statement that writes the lambda down, and runs in a frame of its own."""
    source = f"def main():\n    {call}\n"
    case = Case(tmp_path, source)
    place = case.at(call, function="main.<locals>.<lambda>")
    fixed = case.fixed("retain-graph", case.diagnosis("GS107", "f", freed=place, used=place)) or ""
    assert fixed.count("retain_graph=True") == 1
    assert fixed.replace(", retain_graph=True", "") == source


def test_of_two_lambdas_that_ask_for_passes_none_is_chosen(tmp_path: Path) -> None:
    """Which of them ran is not known."""
    case = Case(tmp_path, "def main():\n    solve(lambda u: grad(f, z, u), lambda u: grad(g, z, u))\n")
    place = case.at("solve", function="main.<locals>.<lambda>")
    assert case.fixed("retain-graph", case.diagnosis("GS107", "f", freed=place, used=place)) is None


@pytest.mark.parametrize(
    ("cut", "attached"),
    [
        ("for name, value in self.model.state_dict().items():", "for name, value in self.model.named_parameters():"),
        ("for value in net.state_dict().values():", "for value in dict(net.named_parameters()).values():"),
        ("now = net.state_dict()", "now = dict(net.named_parameters())"),
    ],
)
def test_values_of_a_model_are_read_with_their_graph(tmp_path: Path, cut: str, attached: str) -> None:
    """What a penalty takes out of `state_dict()` trains nothing."""
    body = "\n        total = total + value.square().sum()" if cut.endswith(":") else ""
    case = Case(tmp_path, f"def penalty(self, net, total):\n    {cut}{body}\n    return total\n")

    fixed = case.fixed("re-attach", case.diagnosis("GS306", "value", cut=case.at(cut)))

    assert fixed == f"def penalty(self, net, total):\n    {attached}{body}\n    return total\n"
