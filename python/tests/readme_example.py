"""Runs the Python examples of both READMEs; `cargo xtask test` does so where nothing but NumPy and scikit-learn is installed."""

import importlib.util
import re
from pathlib import Path

for library in ("pandas", "torch", "jax", "pytest"):
    assert importlib.util.find_spec(library) is None, f"{library} is installed, so this environment is not clean"
root = Path(__file__).resolve().parents[2]
for page in (root / "README.md", root / "python" / "README.md"):
    examples = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert examples, f"{page} has no example"
    for code in examples:
        exec(compile(code, str(page), "exec"))
