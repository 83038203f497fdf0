from gradsan.causes.cause import Cause, Example


class GraphLeak(Cause):
    """The history of every step is kept alive by a total or a list.

    `running_loss += loss` and `losses.append(loss)` are meant to note numbers. But a loss is a tensor that leads to
    its graph, and what is noted keeps that graph alive, step after step. Nothing raises. Memory grows with every
    step, until the process or the GPU runs out of it, often hours later and in a line that has nothing to do with
    it.

    How fast depends on the backward pass. After `backward()` the saved values are freed, and only the chain of
    operations stays: little, but for ever, in the memory of the process. Without it, as in a validation loop that
    forgot `torch.no_grad()`, all saved activations stay, and the GPU is soon full. `model.eval()` does not switch
    the recording off.

    To see it, print what you collect: a number should stand there, without `grad_fn=`.
    """

    code = "GS301"
    name = "graph-leak"
    severity = "warning"
    summary = "history is kept alive step after step by a total or a list of losses"
    roles = Cause.roles | {"held": "kept, with all its history"}
    example = Example(
        program="""\
import torch

weight = torch.nn.Parameter(torch.tensor(4.0))
opt = torch.optim.SGD([weight], lr=0.25)
running_loss = 0.0
for _ in range(3):
    loss = weight.square()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running_loss += loss
print(running_loss)
""",
        shows="tensor(21., grad_fn=<AddBackward0>)\n",
        fixed="""\
import torch

weight = torch.nn.Parameter(torch.tensor(4.0))
opt = torch.optim.SGD([weight], lr=0.25)
running_loss = 0.0
for _ in range(3):
    loss = weight.square()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running_loss += loss.item()
print(running_loss)
""",
        fixed_shows="21.0\n",
    )
    fix = (
        "Note the number: `loss.item()`. On a GPU each `.item()` waits until the loss has been computed; where that "
        "matters, add up `loss.detach()` and call `.item()` once, when the total is printed. Put validation under "
        "`torch.no_grad()`. Outputs that are collected for a metric need `.detach()` as well."
    )
    unless = (
        "Not where the total is to be back-propagated, as in gradient accumulation over a few batches or the losses of "
        "one sequence: there the history is the purpose. Call backward on it once, and begin the next total from 0."
    )
