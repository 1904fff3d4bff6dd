"""The loss and the heads for PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

torch = pytest.importorskip("torch")

from nbam.torch import NBAMHead, NBAMLoss, nbam_loss, posterior  # noqa: E402


def terms(rows=64, precision=torch.float64, seed=0):
    chance = torch.Generator().manual_seed(seed)
    return [torch.randn(rows, generator=chance, dtype=precision, requires_grad=True) for _ in range(3)]


def test_reductions():
    rows = terms()
    each = NBAMLoss(reduction="none")(*rows)
    assert each.shape == (64,)
    torch.testing.assert_close(NBAMLoss()(*rows), each.mean())
    torch.testing.assert_close(NBAMLoss(reduction="sum")(*rows), each.sum())
    with pytest.raises(ValueError, match="reduction is 'average'"):
        NBAMLoss(reduction="average")


def test_first_and_second_derivatives():
    rows = terms(8)
    assert torch.autograd.gradcheck(lambda *rows: nbam_loss(*rows, reduction="none"), rows)
    assert torch.autograd.gradgradcheck(lambda *rows: nbam_loss(*rows, reduction="sum"), rows)


def test_a_constant_prior_broadcasts_and_receives_a_gradient():
    l, _, a = terms()
    g = torch.tensor(-2.0, dtype=torch.float64, requires_grad=True)
    nbam_loss(l, g, a, reduction="sum").backward()
    r = posterior(l, g, a)
    torch.testing.assert_close(g.grad, (torch.sigmoid(g) - r).sum().detach())


def test_an_impossible_branch_gives_finite_gradients():
    l = torch.tensor([torch.inf, 1.0], requires_grad=True)
    a = torch.tensor([-1.0, -torch.inf], requires_grad=True)
    g = torch.zeros(2, requires_grad=True)
    nbam_loss(l, g, a).backward()
    assert all(torch.isfinite(term.grad).all() for term in (l, g, a))


def test_half_precision_is_computed_in_single():
    l, g, a = (term.detach().to(torch.bfloat16) for term in terms())
    loss = nbam_loss(l, g, a)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, nbam_loss(l.float(), g.float(), a.float()))


def test_autocast_and_a_half_precision_backbone():
    torch.manual_seed(0)
    backbone, head, criterion = torch.nn.Linear(5, 16), NBAMHead(16, 3), NBAMLoss()
    x, y = torch.randn(32, 5), torch.randint(0, 3, (32,))
    exact = criterion(*head(backbone(x), y))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        features = backbone(x)
        assert features.dtype == torch.bfloat16
        loss = criterion(*head(features, y))
    loss.backward()
    assert loss.dtype == torch.float32
    assert abs(loss.item() - exact.item()) < 0.02
    assert torch.isfinite(backbone.weight.grad).all()


def test_compiled_it_is_the_same():
    rows = terms()
    compiled = torch.compile(lambda *rows: nbam_loss(*rows), backend="aot_eager", fullgraph=True)
    loss = compiled(*rows)
    gradients = torch.autograd.grad(loss, rows)
    expected = torch.autograd.grad(nbam_loss(*rows), rows)
    torch.testing.assert_close(gradients, expected)


def test_compiled_heads_are_the_same():
    torch.manual_seed(0)
    head = NBAMHead(6, 4).double()
    x, y = torch.randn(20, 6, dtype=torch.float64), torch.randint(0, 4, (20,))
    compiled = torch.compile(head, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(nbam_loss(*compiled(x, y)), nbam_loss(*head(x, y)))


def test_it_maps_over_batches():
    rows = [term.detach().reshape(4, 16) for term in terms()]
    mapped = torch.func.vmap(lambda *rows: nbam_loss(*rows))(*rows)
    torch.testing.assert_close(mapped, torch.stack([nbam_loss(*(term[i] for term in rows)) for i in range(4)]))


@pytest.mark.parametrize("classes", [2, 5])
def test_the_transition_is_the_label_channel(classes):
    torch.manual_seed(1)
    head = NBAMHead(7, classes).double()
    with torch.no_grad():
        head.rate.normal_(0, 0.02)
        head.channel.normal_(0, 0.02)
    x, y = torch.randn(30, 7, dtype=torch.float64), torch.randint(0, classes, (30,))
    # The oracle: P(y|x) = p_y (1 - rho_y) + sum_k p_k rho_k T[k, y], in linear space.
    p = torch.softmax(head.predict(x), dim=-1)
    rho = head.rates()
    channel = torch.exp(40 * head.channel) * (1 - torch.eye(classes))
    channel = channel / channel.sum(dim=-1, keepdim=True)
    rows = torch.arange(30)
    wrong = ((p * rho) @ channel)[rows, y]
    marginal = p[rows, y] * (1 - rho[y]) + wrong
    torch.testing.assert_close(nbam_loss(*head(x, y), reduction="none"), -marginal.log())
    torch.testing.assert_close(posterior(*head(x, y)), wrong / marginal)
    nbam_loss(*head(x, y)).backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in head.parameters())


def test_the_heads_start_identified():
    torch.manual_seed(0)
    x, y = torch.randn(50, 8), torch.randint(0, 6, (50,))
    free = NBAMHead(8, 6, anomaly="free")(x, y)
    torch.testing.assert_close(free.prior_logit, torch.full((50,), -2.0))
    torch.testing.assert_close(free.anomaly_logp, torch.full((50,), -np.log(6.0), dtype=torch.float32))
    tied = NBAMHead(8, 6)
    torch.testing.assert_close(tied.rates(), torch.full((6,), 0.7 * 5 / 6))
    values = NBAMHead(8, target_centre=100.0, target_spread=10.0)(x, torch.randn(50) * 10 + 100)
    torch.testing.assert_close(values.prior_logit, torch.full((50,), -2.0))


def test_decay_spares_the_channel():
    head = NBAMHead(8, 6)
    assert [tuple(parameter.shape) for parameter in head.decayed_parameters()] == [(6, 8)]
    assert len(head.decayed_parameters()) + len(head.other_parameters()) == len(list(head.parameters()))


@pytest.mark.parametrize("arguments", [{"num_classes": 1}, {"anomaly": "none"}, {"target_spread": 0.0}])
def test_bad_heads_are_refused(arguments):
    with pytest.raises(ValueError, match="expected"):
        NBAMHead(4, **arguments)


def test_a_small_cnn_finds_flipped_labels(digits):
    """End to end on images: a convolutional network, its labels flipped in pairs, and the posterior."""
    x, _, _ = digits
    from sklearn.datasets import load_digits

    truth = load_digits().target
    chance = np.random.default_rng(3)
    is_wrong = chance.random(len(truth)) < 0.2
    given = np.where(is_wrong, (truth + 1) % 10, truth)
    images, labels = torch.tensor(x.reshape(-1, 1, 8, 8)) / 16, torch.tensor(given)

    torch.manual_seed(0)
    backbone = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * 16, 64),
        torch.nn.ReLU(),
    )
    head, criterion, epochs = NBAMHead(64, 10), NBAMLoss(), 30
    weights = [p for p in backbone.parameters() if p.ndim > 1] + head.decayed_parameters()
    rest = [p for p in backbone.parameters() if p.ndim == 1] + head.other_parameters()
    groups = [{"params": weights, "weight_decay": 0.3}, {"params": rest, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=1e-3)
    for epoch in range(epochs):
        sharpness = 0.5 * min(1.0, max(0.0, (epoch / epochs - 0.3) / 0.4))
        for batch in torch.randperm(len(labels)).split(128):
            features = backbone(images[batch])
            loss = criterion(*head(features, labels[batch])) + sharpness * head.entropy(features)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    with torch.no_grad():
        features = backbone(images)
        contamination = criterion.posterior(*head(features, labels)).numpy()
        predicted = head.predict(features).argmax(dim=-1).numpy()
    assert average_precision_score(is_wrong, contamination) > 0.9
    assert (predicted == truth).mean() > 0.95
    assert abs(contamination.mean() - is_wrong.mean()) < 0.05


@pytest.mark.parametrize("anomaly", ["common", "free"])
def test_a_regression_finds_wrong_values(line, anomaly):
    x, y, is_wrong = line
    torch.manual_seed(0)
    centre = np.median(y)
    spread = 1.4826 * np.median(np.abs(y - centre))
    backbone = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.Tanh())
    head = NBAMHead(32, anomaly=anomaly, target_centre=float(centre), target_spread=float(spread))
    criterion = NBAMLoss()
    optimiser = torch.optim.Adam([*backbone.parameters(), *head.parameters()], lr=1e-2)
    inputs, targets = torch.tensor(x), torch.tensor(y, dtype=torch.float32)
    for _ in range(600):
        optimiser.zero_grad()
        criterion(*head(backbone(inputs), targets)).backward()
        optimiser.step()
    with torch.no_grad():
        contamination = criterion.posterior(*head(backbone(inputs), targets)).numpy()
        predicted = head.predict(backbone(inputs)).numpy()
    assert average_precision_score(is_wrong, contamination) > 0.9
    assert np.abs(predicted[:, 0] - (3 * x[:, 0] + 1)).max() < 0.5
    assert 0.05 < np.median(predicted[:, 1]) < 0.3


class _Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.backbone, self.head, self.criterion = torch.nn.Linear(3, 4), NBAMHead(4, 3), NBAMLoss()

    def forward(self, x, y):
        return self.criterion(*self.head(torch.tanh(self.backbone(x)), y))


def _trained(model, x, y):
    """The gradients of the first of five steps, and the parameters after the last."""
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    gradients = None
    for _ in range(5):
        optimiser.zero_grad()
        model(x, y).backward()
        gradients = gradients or [parameter.grad.numpy().copy() for parameter in model.parameters()]
        optimiser.step()
    return gradients, [parameter.detach().numpy().copy() for parameter in model.parameters()]


def _batch():
    chance = torch.Generator().manual_seed(6)
    return torch.randn(16, 3, generator=chance), torch.randint(0, 3, (16,), generator=chance)


def _worker(rank, folder, results):
    import torch.distributed as distributed

    distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    torch.set_num_threads(1)
    parallel = torch.nn.parallel.DistributedDataParallel(_Model())
    x, y = _batch()
    half = slice(rank * 8, rank * 8 + 8)
    results.put(_trained(parallel, x[half], y[half]))
    distributed.barrier()
    distributed.destroy_process_group()


def test_two_processes_train_as_one(tmp_path):
    """Each has half of the batch; the gradients, and the parameters after some steps, are those of one with the whole."""
    context = torch.multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [context.Process(target=_worker, args=(rank, str(tmp_path), results)) for rank in range(2)]
    for worker in workers:
        worker.start()
    outcomes = [results.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    expected = _trained(_Model(), *_batch())
    for outcome in outcomes:
        for got, wanted in zip(outcome, expected, strict=True):
            for one, other in zip(got, wanted, strict=True):
                np.testing.assert_allclose(one, other, atol=1e-6)
