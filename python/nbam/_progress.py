"""A fit's progress: a tqdm bar, when it is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(verbose: int) -> Iterator[Callable[[int, int, int, int, float], None] | None]:
    """What the engine calls after each epoch of each member; None if nobody wants to know."""
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        warnings.warn("verbose shows its progress with tqdm: pip install tqdm", stacklevel=3)
        yield None
        return
    bar: Any = tqdm(desc="nbam", unit="epoch")

    def tell(member: int, members: int, epoch: int, epochs: int, loss: float) -> None:
        if bar.total != members * epochs:
            # A regressor first makes trial fits of its own length to choose how smooth it should be.
            bar.reset(total=members * epochs)
        bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
        bar.update()

    try:
        yield tell
    finally:
        bar.close()
