"""A fit's progress: a tqdm bar, when it is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(verbose: int) -> Iterator[Callable[[bool, int, int, float], None] | None]:
    """What the engine calls after each epoch of each trial fit and member; None if nobody wants to know."""
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

    def tell(is_trial: bool, members: int, epochs: int, loss: float) -> None:
        # How many trials there will be depends on what they give.
        total = None if is_trial else members * epochs
        if bar.total != total:
            bar.total = total
            bar.reset()
        bar.set_description("nbam: trial fits, judged by left-out rows" if is_trial else "nbam", refresh=False)
        bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
        bar.update()

    try:
        yield tell
    finally:
        bar.close()
