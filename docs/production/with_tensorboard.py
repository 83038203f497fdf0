"""A job that keeps every loss, with its graph; TensorBoard shows what gradsan finds, at the step of the job."""

import torch
from torch.utils.tensorboard import SummaryWriter

import gradsan
from gradsan.plug.listeners import to_tensorboard

writer = SummaryWriter("runs")
step, losses = 0, []
gradsan.install(budget="0.5%", to=to_tensorboard(writer, step=lambda: step))
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(1500):
    optimizer.zero_grad()
    loss = model(torch.ones(8, 3)).square().mean()
    loss.backward()
    optimizer.step()
    writer.add_scalar("loss", loss.item(), step)
    losses.append(loss)
gradsan.uninstall()
writer.close()
