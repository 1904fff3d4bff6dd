"""PyTorch: a loop over the batches, eager or through torch.compile."""

import sys

import torch
from torch import nn
from torch.nn import functional

import protocol
from sizes import LAYERS, LEARNING_RATE


class Network(nn.Module):
    """The backbone and the three heads."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({name: nn.Linear(*shape) for name, shape in LAYERS.items()})

    def forward(self, x, y):
        """Clean negative log-likelihood l, anomaly log-likelihood a and prior logit g of each row."""
        layers = self.layers
        hidden = torch.tanh(layers["second"](torch.tanh(layers["first"](x))))
        l = functional.cross_entropy(layers["clean"](hidden), y, reduction="none")
        a = -functional.cross_entropy(layers["anomaly"](hidden), y, reduction="none")
        g = layers["prior"](torch.tanh(layers["prior_hidden"](hidden))).squeeze(1)
        return l, a, g


def mean_loss(network, x, y):
    l, a, g = network(x, y)
    return -torch.logaddexp(functional.logsigmoid(-g) - l, functional.logsigmoid(g) + a).mean()


class Engine:
    """What `protocol.serve` asks of a contender."""

    version = torch.__version__
    score_batches = (256, 512, 2_048, 8_192)

    def __init__(self, features, labels, weights, threads, compiled):
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision("highest")
        self.x = torch.from_numpy(features)
        self.y = torch.from_numpy(labels).long()
        self.start = weights
        self.network = Network()
        self.loss = torch.compile(mean_loss) if compiled else mean_loss
        self.reset()

    @torch.no_grad()
    def reset(self):
        for name, (matrix, bias) in self.start.items():
            self.network.layers[name].weight.copy_(torch.from_numpy(matrix.T))
            self.network.layers[name].bias.copy_(torch.from_numpy(bias))
        # The fused form is the fastest that PyTorch has on a CPU.
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=LEARNING_RATE, fused=True)

    def train(self, order):
        losses = []
        for rows in torch.from_numpy(order):
            self.optimiser.zero_grad()
            loss = self.loss(self.network, self.x.index_select(0, rows), self.y.index_select(0, rows))
            loss.backward()
            self.optimiser.step()
            losses.append(loss.detach())
        return torch.stack(losses).numpy()

    @torch.no_grad()
    def score(self, batch):
        parts = []
        for x, y in zip(self.x.split(batch), self.y.split(batch), strict=True):
            l, a, g = self.network(x, y)
            parts.append(torch.sigmoid(g + l + a))
        return torch.cat(parts).numpy()


if __name__ == "__main__":
    threads, mode = int(sys.argv[1]), sys.argv[2]
    protocol.serve(lambda *data: Engine(*data, threads=threads, compiled=mode == "compiled"))
