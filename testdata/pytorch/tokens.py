"""A network of whole numbers whose last layer has a low-rank update: what PyTorch computes, in float64. Run it from anywhere; it writes beside
itself.

    pip install torch safetensors numpy
    python tokens.py
"""

import pathlib

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent


class LowRank(nn.Linear):
    """As loralib.Linear: names, shapes and scale."""

    def __init__(self, inputs, units, rank, alpha):
        super().__init__(inputs, units)
        self.weight.requires_grad = self.bias.requires_grad = False
        self.lora_A = nn.Parameter(torch.randn(rank, inputs) / inputs**0.5)
        self.lora_B = nn.Parameter(torch.zeros(units, rank))
        self.scaling = alpha / rank

    def forward(self, x):
        return super().forward(x) + self.scaling * (x @ self.lora_A.T @ self.lora_B.T)


torch.manual_seed(5)
torch.set_num_threads(1)
net = nn.Sequential(nn.Embedding(9, 5), nn.Flatten(), nn.Linear(20, 12), nn.ReLU(), LowRank(12, 4, 3, 5.0))
x = torch.randint(9, (600, 4))
y = x[:, 0] // 3 + (x[:, 1] > x[:, 2]).long()
optimiser = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], 2e-3)
for _ in range(300):
    rows = torch.randint(len(x), (64,))
    optimiser.zero_grad()
    F.cross_entropy(net(x[rows]), y[rows]).backward()
    optimiser.step()
save_file(net.state_dict(), HERE / "tokens.safetensors")
with torch.no_grad():
    outputs = net.double()(x[:20]).numpy()
np.save(HERE / "tokens-inputs.npy", x[:20].numpy().astype(np.float32))
np.save(HERE / "tokens-targets.npy", y[:20].numpy())
np.save(HERE / "tokens-outputs.npy", outputs)
print("outputs to", np.abs(outputs).max())
