"""The contenders as the parent sees them: each can warm up, run epochs and score on given cores, in its turn."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from environment import BENCH, BenchError


class Unavailable(Exception):
    """This contender cannot run here; the message says why."""


def pinned(cores):
    """What a child does before it becomes its program: keep to the given cores. Thread pools then count only these."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    return lambda: os.sched_setaffinity(0, cores)


def thread_environment(threads):
    """Environment that holds OpenMP, MKL, XLA and rayon to a number of threads."""
    environment = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "NPROC"):
        environment[name] = str(threads)
    environment["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
    environment["JAX_PLATFORMS"] = "cpu"
    environment["CUDA_VISIBLE_DEVICES"] = ""
    # No idle compiler processes beside the measurement.
    environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    return environment


class Worker:
    """A Python engine in a process of its own, which stays alive and waits for orders."""

    def __init__(self, name, command, cores, scores=True):
        self.name = name
        self.scores = scores
        self.version = None
        self.losses = None
        self.score_batch = None
        self._log = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=BENCH,
            env=thread_environment(len(cores)),
            preexec_fn=pinned(cores),
        )

    def warm_up(self, tolerance):
        """Check the engine against the float64 reference, then let it compile and touch its memory."""
        check = self._ask("check")
        for what in ("loss_error", "posterior_error"):
            if not check[what] <= tolerance:
                raise BenchError(
                    f"{self.name} computes another step: its {what.replace('_', ' ')} against the float64 reference "
                    f"is {check[what]:.2g}, more than {tolerance:.2g}."
                )
        self.version, self.losses = check["version"], check["losses"]
        self.score_batch = self._ask("warm_up", scores=self.scores)["score_batch"]

    def measure(self, epochs):
        """Seconds of the fastest epoch, and rows per second of the fastest pass when this contender scores.

        The fastest of a turn counts because that is what `nbam bench` reports.
        """
        result = {"seconds_per_epoch": min(self._ask("train", epochs=epochs)["seconds"])}
        if self.scores:
            result["score_rows_per_second"] = max(self._ask("score", passes=epochs)["rows_per_second"])
        return result

    def close(self):
        """End the process: it stops when its input does."""
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def _ask(self, command, **arguments):
        try:
            self._process.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Unavailable(f"its process ended: {self._last_words()}")
        answer = json.loads(line)
        if "error" in answer:
            raise Unavailable(answer["error"])
        return answer

    def _last_words(self):
        self._log.seek(0)
        lines = [line.strip() for line in self._log if line.strip()]
        return lines[-1] if lines else "it left no message."


class Nbam:
    """The nbam binary. Each turn is one call of `nbam bench --json`, which warms up by itself."""

    scores = True
    losses = None
    score_batch = None

    def __init__(self, binary, cores, precision="single"):
        self.name = "nbam" if precision == "single" else f"nbam in {precision}"
        self.binary = Path(binary).resolve()
        self.cores = cores
        self.precision = precision
        self.version = None

    def warm_up(self, _tolerance):
        """Read the binary into the page cache, and fail early when it is no nbam."""
        self.version = self._call("--version").strip().removeprefix("nbam ")
        self.measure(epochs=1)

    def measure(self, epochs):
        """What `nbam bench` reports with as many threads as there are cores."""
        threads = len(self.cores)
        output = self._call(
            *("bench", "--json", "--precision", self.precision, "--epochs", str(epochs), "--threads", str(threads))
        )
        try:
            report = json.loads(output)
            seconds, rows = float(report["seconds_per_epoch"]), float(report["score_rows_per_second"])
            peak = report.get("peak_gflops")
            used, precision = report["threads"], report["precision"]
        except (ValueError, KeyError, TypeError) as error:
            raise BenchError(
                f"`{self.binary.name} bench --json` printed no report that can be read ({error!r}): {output[:200]!r}"
            ) from error
        if used != threads:
            raise BenchError(f"nbam bench ran on {used} threads instead of {threads}.")
        if precision != self.precision:
            raise Unavailable(f"this processor computes in {precision} precision instead of {self.precision}")
        return {"seconds_per_epoch": seconds, "score_rows_per_second": rows, "peak_gflops": peak}

    def close(self):
        """Nothing stays alive between turns."""

    def _call(self, *arguments):
        try:
            result = subprocess.run(
                [str(self.binary), *arguments],
                capture_output=True,
                text=True,
                check=True,
                env=thread_environment(len(self.cores)),
                preexec_fn=pinned(self.cores),
            )
        except OSError as error:
            raise BenchError(f"nbam cannot be started ({error}); give a working binary with --nbam PATH.") from error
        except subprocess.CalledProcessError as error:
            raise BenchError(
                f"`nbam {' '.join(arguments)}` failed with exit code {error.returncode}: {error.stderr.strip()}"
            ) from error
        return result.stdout
