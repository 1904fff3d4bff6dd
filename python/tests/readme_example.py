"""Runs the README's Python example; `cargo xtask test` does so where nothing but NumPy and scikit-learn is installed."""

import importlib.util
import re
from pathlib import Path

for library in ("pandas", "torch", "jax", "pytest"):
    assert importlib.util.find_spec(library) is None, f"{library} is installed, so this environment is not clean"
page = Path(__file__).resolve().parents[2] / "README.md"
(code,) = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)
exec(compile(code, str(page), "exec"))
