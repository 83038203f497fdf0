"""The call that computed an old value, made again where the later loss reads it."""

from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.proposing import candidates
from gradsan.fix.reading.program import Program

CRITIC = """\
def main():
    for step in range(9):
        for _ in range(2):
            fake = maker(noise())
            real_score, fake_score = critic(real), critic(fake)
            (fake_score.mean() - real_score.mean()).backward(retain_graph=True)
            opt_critic.step()
        loss = -fake_score.mean()
        loss.backward()
"""
ONE_LOOP = """\
def main():
    for x in data:
        fake = maker(x)
        fake_score = critic(fake)
        bce(fake_score, zeros).backward(retain_graph=True)
        opt_critic.step()
        loss = bce(fake_score, ones) + fake_score.norm()
        loss.backward()
"""
CODE = """\
def main():
    for x in data:
        fake, z = vae(x)
        fake_score = critic(z, scale=2)
        (recon(fake, x) + fake_score.mean()).backward(retain_graph=True)
        opt_vae.step()
        loss = bce(fake_score, zeros)
        loss.backward()
"""


def _edited(folder: Path, source: str, made: str) -> list[str]:
    """The program after each edit that runs the forward again."""
    case = Case(folder, source)
    found = case.diagnosis(
        "GS201",
        "fake_score",
        made=case.at(made),
        enters=case.at("loss = "),
        used=case.at("loss.backward"),
        changed=case.at(".step()"),
    )
    return [case.applied(each) for each in candidates("recompute", Program(found, folder))]


@pytest.mark.parametrize(
    ("source", "made", "again"),
    [
        (CRITIC, "fake_score = critic", "fake_score = critic(fake)"),
        (ONE_LOOP, "fake_score = critic", "fake_score = critic(fake)"),
        (CODE, "vae(x)", "fake_score = critic(detached(z), scale=2)"),
    ],
)
def test_call_is_created_again_above_the_loss_that_reads_it(tmp_path: Path, source: str, made: str, again: str) -> None:
    """With what it was given, which is a constant where that alone led to what has changed."""
    source = f"import torch\n\n\n{source}"
    edited = _edited(tmp_path, source, made)

    called = [each for each in edited if f"        {again}\n        loss = " in each]
    assert called
    assert ("def detached(" in called[0]) == ("detached(" in again)  # nothing shows what `z` is


@pytest.mark.parametrize(
    "source",
    [
        CRITIC.replace("        loss =", "        fake = noise()\n        loss ="),
        CRITIC.replace(
            "            real_score, fake_score =", "            if step:\n                real_score, fake_score ="
        ),
        CRITIC.replace("        loss.backward", "        opt_critic.step()\n        loss.backward").replace(
            "            opt_critic.step()\n", ""
        ),
    ],
)
def test_call_is_not_created_again_of_what_has_another_value_now(tmp_path: Path, source: str) -> None:
    """Nor where a branch may have left the call out (it may be an earlier iteration's), or the step comes later."""
    assert not any(
        "fake_score = critic(fake)\n        loss" in each for each in _edited(tmp_path, source, "critic(real)")
    )
