"""The sizes of the step, which both the parent and the workers need."""

ROWS = 45_000
FEATURES = 512
CLASSES = 10
BATCH = 512
STEPS = -(-ROWS // BATCH)
LEARNING_RATE = 1e-3

# Inputs and outputs of every layer, by name.
LAYERS = {
    "first": (FEATURES, 256),
    "second": (256, 256),
    "clean": (256, CLASSES),
    "anomaly": (256, CLASSES),
    "prior_hidden": (256, 128),
    "prior": (128, 1),
}


def flop_per_step():
    """Floating-point operations of the matrix products of one step.

    Two per multiply-add, for the value and the gradients of weights and inputs; the first layer's inputs need none.
    """
    passes = {name: 2 if name == "first" else 3 for name in LAYERS}
    return sum(2 * BATCH * inputs * outputs * passes[name] for name, (inputs, outputs) in LAYERS.items())
