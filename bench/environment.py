"""What must exist before the first measurement: the virtual environment, the nbam binary, facts about the machine."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
REPOSITORY = BENCH.parent
FLAGS_OF_INTEREST = ("avx2", "fma", "avx512f", "avx512_bf16", "amx_tile", "amx_bf16", "asimd", "sve")


class BenchError(Exception):
    """The comparison cannot go on; the message says why and what to do."""


def note(message):
    """Tell the user what is going on; standard output is kept for the result."""
    print(message, file=sys.stderr, flush=True)


def prepare_venv(folder):
    """Create the virtual environment with the pinned engines unless it is there already; return its Python."""
    folder = Path(folder)
    windows = os.name == "nt"
    python = folder / ("Scripts/python.exe" if windows else "bin/python")
    requirements = BENCH / "requirements.txt"
    # The stamp is written last: an installation that was interrupted is taken up again.
    stamp = folder / "installed-requirements.txt"
    if python.exists() and stamp.exists() and stamp.read_text() == requirements.read_text():
        return python
    note(f"Installing PyTorch and JAX into {folder} (once; PyTorch may bring several GB along) ...")
    _run([sys.executable, "-m", "venv", str(folder)])
    (folder / ".gitignore").write_text("*\n")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--progress-bar", "off"]
    _run([*pip, "-r", str(requirements)])
    stamp.write_text(requirements.read_text())
    return python


def build_nbam():
    """Build the release binary of this repository and return its path."""
    note("Building nbam (cargo build --release) ...")
    command = ["cargo", "build", "--release", "--package", "nbam-cli", "--message-format", "json-render-diagnostics"]
    executable = None
    for line in _run(command, stdout=subprocess.PIPE).stdout.splitlines():
        message = json.loads(line)
        executable = message.get("executable") or executable
    if executable is None:
        raise BenchError("cargo built no executable from the package nbam-cli; give the binary with --nbam PATH.")
    return Path(executable)


def _run(command, stdout=None):
    try:
        # Whatever a tool says while it works belongs to standard error.
        return subprocess.run(command, cwd=REPOSITORY, stdout=stdout or sys.stderr, check=True, text=True)
    except FileNotFoundError as error:
        raise BenchError(f"{command[0]} was not found; install it and run this again.") from error
    except subprocess.CalledProcessError as error:
        raise BenchError(
            f"`{' '.join(command)}` failed with exit code {error.returncode}; its messages are above."
        ) from error


def usable_cores():
    """Numbers of the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def describe_machine():
    """Processor, cores, instruction sets, memory, system and load, as far as the system tells."""
    information = _proc_fields("/proc/cpuinfo")
    flags = (information.get("flags") or information.get("Features") or "").split()
    memory = _proc_fields("/proc/meminfo").get("MemTotal")
    return {
        "processor": information.get("model name") or platform.processor() or platform.machine(),
        "cores": len(usable_cores()),
        "flags": {flag: flag in flags for flag in FLAGS_OF_INTEREST} if flags else None,
        "memory_gib": round(int(memory.split()[0]) / 2**20, 1) if memory else None,
        "system": f"{platform.system()} {platform.machine()}",
        "load_average": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _proc_fields(path):
    """First value of each `name : value` line of a file such as /proc/cpuinfo; empty where there is none."""
    fields = {}
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return fields
    for line in lines:
        name, separator, value = line.partition(":")
        if separator:
            fields.setdefault(name.strip(), value.strip())
    return fields


def commit():
    """The repository's commit, marked when files differ from it; None outside git."""
    try:
        result = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip()
