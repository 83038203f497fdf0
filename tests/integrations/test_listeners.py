"""Findings of a job in TensorBoard and in Weights & Biases: what these have on disk when it is over."""

import os
from pathlib import Path

import pytest

from integrations.running import Run

# What the page about production shows; and near it, a job that keeps numbers.
JOBS = Path(__file__).parents[2] / "docs" / "production"
KEPT = "losses.append(loss)"


def job(name: str, kept: str) -> str:
    """One of the page's, that keeps something else."""
    text = (JOBS / name).read_text(encoding="utf-8")
    assert text.count(KEPT) == 1
    return text.replace(KEPT, f"losses.append({kept})")


@pytest.mark.parametrize(("kept", "times"), [("loss", 1), ("loss.item()", 0)])
def test_tensorboard_has_the_explanation_under_its_code(run: Run, kept: str, times: int) -> None:
    """Read back by TensorBoard itself: the text of a finding, at the step of the job; none of a right job."""
    from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-not-found,unused-ignore] # in its own environment
        EventAccumulator,
    )

    run.write("job.py", job("with_tensorboard.py", kept))

    done = run("job.py")

    assert done.returncode == 0, done.stderr
    events = EventAccumulator(str(run.folder / "runs"))
    events.Reload()
    tags = events.Tags()["tensors"]
    assert tags == ["gradsan/GS301 graph-leak/text_summary"] * times
    for tag in tags:
        (event,) = events.Tensors(tag)
        assert 0 < event.step < 1499  # while it trained
        assert "`losses`" in event.tensor_proto.string_val[0].decode()


@pytest.mark.cold
@pytest.mark.parametrize(("kept", "has_alert"), [("loss", True), ("loss.item()", False)])
def test_wandb_has_an_alert(run: Run, kept: str, *, has_alert: bool) -> None:
    """Of a run that is offline, as it lies in the file that `wandb sync` would send."""
    run.write("job.py", job("with_wandb.py", kept))

    done = run("job.py", environment={"WANDB_MODE": "offline", "WANDB_SILENT": "true", "HOME": os.fspath(run.folder)})

    assert done.returncode == 0, done.stderr
    (record,) = Path(run.folder).glob("wandb/offline-run-*/run-*.wandb")
    written = record.read_bytes()
    assert written.count(b"gradsan: GS301 graph-leak") == has_alert
    assert (b"`losses` keeps" in written) == has_alert
