"""Networks trained by PyTorch, with names of its users' own: the weights, inputs, targets and PyTorch's outputs that
starling's tests compare with. Run it from anywhere; it writes beside itself.

    pip install torch safetensors numpy
    python make.py

Weights are rounded to the precision that they are saved in before the outputs are computed, in float64.
"""

import gzip
import pathlib
import warnings

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
MNIST = HERE / "../../internal/sets/mnist7"


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Classifier(nn.Module):
    """erf GELU, which is nn.GELU's default."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, 3)

    def forward(self, x):
        return self.fc3(F.gelu(self.fc2(F.gelu(self.fc1(x)))))


class Yes(nn.Module):
    """One logit, for BCEWithLogitsLoss; the last layer has no bias."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 20)
        self.out = nn.Linear(20, 1, bias=False)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


class Regression(nn.Module):
    """SiLU, a body of its own, and log σ of the noise, learned."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Dropout(0.1), nn.Linear(24, 24), nn.SiLU())
        self.head = nn.Linear(24, 2)
        self.log_sd = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.head(self.body(x))


class Windows(nn.Module):
    """Every convention of windows: oblong kernels, strides and paddings, pools that overlap and are padded."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(2, 5, (3, 5), stride=(1, 2), padding=(2, 1), bias=False)
        self.mid = nn.Conv2d(5, 7, (3, 2), stride=(2, 1), padding=(1, 0))
        self.fc = nn.Linear(7 * 4 * 4, 11)
        self.head = nn.Linear(11, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.stem(x)), (3, 2), stride=(2, 1), padding=(1, 0))
        x = F.avg_pool2d(torch.tanh(self.mid(x)), 2, stride=1, padding=1)
        return self.head(F.silu(self.fc(torch.flatten(x, 1))))


def sequential():
    """An nn.Sequential, whose names starling's are without any name: in it."""
    return nn.Sequential(
        nn.Conv2d(1, 3, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(27, 8), nn.GELU(), nn.Linear(8, 3)
    )


class Average(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(2, 8, 3, padding="same"), nn.GELU(), nn.Conv2d(8, 6, 3, stride=2), nn.ReLU())
        self.classifier = nn.Linear(6, 5)

    def forward(self, x):
        return self.classifier(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


def idx(name, head):
    return np.frombuffer(gzip.decompress((MNIST / name).read_bytes()), np.uint8, offset=head)


def train(model, x, y, loss, steps, batch=64, rate=2e-3):
    optimiser = torch.optim.Adam(model.parameters(), rate)
    model.train()
    for _ in range(steps):
        rows = torch.randint(len(x), (batch,))
        optimiser.zero_grad()
        loss(model(x[rows]), y[rows]).backward()
        optimiser.step()
    model.eval()


def save(name, model, dtype, inputs, targets):
    """inputs: of uint8, which the network sees divided by 255, or of float32."""
    state = {k: v.detach().to(dtype).contiguous() for k, v in model.state_dict().items()}
    save_file(state, HERE / f"{name}.safetensors")
    model.load_state_dict({k: v.double() for k, v in state.items()})
    x = torch.from_numpy(inputs.astype(np.float64))
    if inputs.dtype == np.uint8:
        x = x / 255
    with torch.no_grad():
        outputs = model.double()(x).numpy()
    np.save(HERE / f"{name}-inputs.npy", inputs)
    np.save(HERE / f"{name}-targets.npy", targets)
    np.save(HERE / f"{name}-outputs.npy", outputs)
    print(name, sum(v.numel() for v in state.values()), "parameters, outputs to", np.abs(outputs).max())


def gaussian(model):
    def loss(out, y):
        return (0.5 * ((y - out) / model.log_sd.exp()) ** 2 + model.log_sd).mean()

    return loss


def main():
    warnings.filterwarnings("ignore", message="Using padding='same'")
    torch.manual_seed(5)
    torch.set_num_threads(1)

    pixels = idx("train-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
    labels = idx("train-labels-idx1-ubyte.gz", 8)
    x, y = torch.from_numpy(pixels / np.float32(255)), torch.from_numpy(labels.astype(np.int64))
    lenet = LeNet5()
    train(lenet, x, y, F.cross_entropy, 400)
    pixels = idx("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
    labels = idx("t10k-labels-idx1-ubyte.gz", 8)
    save("lenet5", lenet, torch.float16, pixels[:40].copy(), labels[:40].astype(np.int64))

    x = torch.randn(2000, 6)
    wave = torch.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]
    classes = (wave > -0.5).long() + (wave > 0.7).long()
    values = torch.stack([wave, x[:, 3] ** 2], 1) + 0.2 * torch.randn(2000, 2)
    mlp, yes, numbers = Classifier(), Yes(), Regression()
    train(mlp, x, classes, F.cross_entropy, 800)
    train(yes, x, (wave > 0).float()[:, None], F.binary_cross_entropy_with_logits, 400)
    train(numbers, x, values, gaussian(numbers), 800)
    inputs = x[:60].numpy()
    save("gelu", mlp, torch.float32, inputs, classes[:60].numpy())
    save("yes", yes, torch.float64, inputs, (wave[:60] > 0).numpy().astype(np.int32))
    save("numbers", numbers, torch.bfloat16, inputs, values[:60].numpy())

    for name, model, shape, k in (
        ("windows", Windows(), (2, 9, 11), 4),
        ("sequential", sequential(), (1, 8, 8), 3),
        ("average", Average(), (2, 7, 7), 5),
    ):
        x = torch.randn(600, *shape)
        y = torch.randint(k, (600,))
        train(model, x, y, F.cross_entropy, 100)
        save(name, model, torch.float32, x[:20].numpy(), y[:20].numpy())


main()
