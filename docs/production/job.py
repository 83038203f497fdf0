"""A job that may run for a week. It keeps every loss, with its graph."""

import torch

import gradsan

gradsan.install(budget="0.5%", to=lambda found: print(f"{found.code} {found.culprit.name}: {found.fixes[0].title}"))
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
history = []
for _step in range(1500):
    loss = model(torch.ones(8, 3)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss)
