import torch

import main as forecast


def rows():
    return torch.stack([forecast.series(41, p) for p in (0.0, 1.0, 2.0)])


def test_windows_are_consecutive():
    cut = list(forecast.windows(rows(), 10))
    assert len(cut) == 4
    assert torch.equal(cut[0][1][:, -1], cut[1][0][:, 0])


def test_fit_lowers_the_loss():
    torch.manual_seed(0)
    result = forecast.Trainer(forecast.Forecaster()).fit(rows(), epochs=5)
    assert result.steps == 20
    assert result.losses[-1] < result.losses[0]


def test_state_is_carried_between_windows():
    torch.manual_seed(0)
    model = forecast.Forecaster()
    x = rows()[:, :5]
    first = model(x)
    second = model(x)
    assert not torch.allclose(first, second)
    model.reset()
    assert torch.allclose(model(x), first)
