import pytest
import torch

from main import MultiTask, MultiTaskTrainer, make_data, task_losses


@pytest.fixture
def trainer():
    return MultiTaskTrainer(MultiTask())


def test_losses_have_both_tasks(trainer):
    x, targets = make_data(1)[0]
    assert set(task_losses(trainer.model(x), targets)) == {"depth", "segment"}


def test_training_improves_both_tasks(trainer):
    history = trainer.fit(make_data(), epochs=4)
    assert history[-1]["depth"] < history[0]["depth"]
    assert history[-1]["segment"] < history[0]["segment"]


def test_weights_move_apart(trainer):
    trainer.fit(make_data(2), epochs=1)
    weights = trainer.balancer.weights
    assert weights["depth"] != pytest.approx(weights["segment"])
    assert torch.tensor(list(weights.values())).gt(0).all()
