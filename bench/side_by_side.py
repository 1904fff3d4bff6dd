#!/usr/bin/env python3
"""Time nbam, JAX and PyTorch on the paper's training step, taking turns on the same cores, and print the ratios.

Needs only Python 3.11 or later and cargo: PyTorch and JAX are installed into a virtual environment of their own.
"""

import argparse
import datetime
import json
import shlex
import sys
import time
from pathlib import Path

import report
from contenders import Nbam, Unavailable, Worker
from environment import (
    BENCH,
    REPOSITORY,
    BenchError,
    build_nbam,
    commit,
    describe_machine,
    note,
    prepare_venv,
    usable_cores,
)

# Errors of the loss and the posterior against float64. Half precision anywhere would be off by a hundred times as much.
TOLERANCE = 1e-5
# Thread pools spin for a moment after their work; the next contender starts when they sleep.
PAUSE_SECONDS = 0.05


def parse_arguments():
    """Options, checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--threads",
        type=positive,
        nargs="+",
        default=[2, 1],
        metavar="N",
        help="thread counts to measure, one after the other",
    )
    parser.add_argument(
        "--rounds", type=positive, default=7, metavar="N", help="rounds; each contender has one turn per round"
    )
    parser.add_argument(
        "--epochs", type=positive, default=3, metavar="N", help="epochs (and passes of scoring) per turn"
    )
    parser.add_argument(
        "--compile", action="store_true", help="also run torch.compile (needs a C++ compiler; skipped when it fails)"
    )
    parser.add_argument(
        "--nbam", type=Path, metavar="PATH", help="nbam binary; built from this repository when not given"
    )
    parser.add_argument(
        "--venv",
        type=Path,
        default=REPOSITORY / ".venv-bench",
        metavar="DIR",
        help="virtual environment of PyTorch and JAX",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write everything measured as JSON")
    arguments = parser.parse_args()
    available = len(usable_cores())
    if max(arguments.threads) > available:
        parser.error(f"--threads {max(arguments.threads)} needs as many cores, and this process may use {available}")
    return arguments


def positive(text):
    """A whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def start(python, binary, cores, with_compile):
    """All contenders, started but idle."""
    threads = len(cores)
    contenders = [
        Nbam(binary, cores),
        Nbam(binary, cores, "bfloat16"),
        Worker("JAX jitted scan", [python, BENCH / "jax_worker.py"], cores),
        Worker("PyTorch eager", [python, BENCH / "torch_worker.py", threads, "eager"], cores),
    ]
    if with_compile:
        command = [python, BENCH / "torch_worker.py", threads, "compiled"]
        contenders.append(Worker("torch.compile", command, cores, scores=False))
    return contenders


def warm_up(contenders):
    """Warm every contender up; return those that can run, and why the others cannot."""
    ready, skipped = [], {}
    for contender in contenders:
        note(f"  warming up {contender.name}")
        try:
            contender.warm_up(TOLERANCE)
            ready.append(contender)
        except Unavailable as reason:
            note(f"  {contender.name} is skipped: {reason}")
            skipped[contender.name] = str(reason)
    compare_losses([contender for contender in ready if contender.losses])
    return ready, skipped


def compare_losses(workers):
    """Same start, same batches: after a few steps of Adam the losses must still agree."""
    for worker in workers[1:]:
        differences = [abs(one - other) for one, other in zip(workers[0].losses, worker.losses, strict=True)]
        if not max(differences) <= 10 * TOLERANCE:
            raise BenchError(
                f"{worker.name} and {workers[0].name} train differently: their losses differ by {max(differences):.2g}."
            )


def run(python, binary, cores, arguments):
    """All rounds with one number of threads."""
    note(f"{len(cores)} thread(s), cores {cores}")
    contenders = start(python, binary, cores, arguments.compile)
    try:
        ready, skipped = warm_up(contenders)
        rounds = []
        for number in range(arguments.rounds):
            # Another contender begins each round, so that none always follows the same one.
            shift = number % len(ready)
            one_round = {}
            for contender in ready[shift:] + ready[:shift]:
                time.sleep(PAUSE_SECONDS)
                one_round[contender.name] = contender.measure(arguments.epochs)
            rounds.append(one_round)
            seconds = ", ".join(f"{one.name} {one_round[one.name]['seconds_per_epoch']:.3f}" for one in ready)
            note(f"  round {number + 1} of {arguments.rounds}, seconds per epoch: {seconds}")
    finally:
        for contender in contenders:
            contender.close()
    return {
        "threads": len(cores),
        "peak_gflops": report.peak_gflops(rounds),
        "contenders": report.summarise(rounds, [contender.name for contender in ready]),
        "score_batches": {one.name: one.score_batch for one in ready if one.score_batch},
        "versions": {one.name: one.version for one in ready},
        "skipped": skipped,
        "rounds": rounds,
    }


def main():
    """Set up, measure, print; the exit code."""
    arguments = parse_arguments()
    try:
        python = prepare_venv(arguments.venv.absolute())
        binary = arguments.nbam or build_nbam()
        machine = describe_machine()
        if machine["load_average"] and machine["load_average"] > 0.5:
            note(f"Warning: the machine is busy (load {machine['load_average']}); ratios taken now say little.")
        runs = [run(python, binary, usable_cores()[:threads], arguments) for threads in arguments.threads]
    except BenchError as error:
        note(f"error: {error}")
        return 1
    except Unavailable as error:
        note(f"error: a contender stopped in the middle of the rounds: {error}")
        return 1
    result = {
        "date": datetime.date.today().isoformat(),
        "command": shlex.join(["python3", "bench/side_by_side.py", *sys.argv[1:]]),
        "commit": commit(),
        "machine": machine,
        "versions": {"Python": sys.version.split()[0], **runs[0]["versions"]},
        "rounds": arguments.rounds,
        "epochs": arguments.epochs,
        "runs": runs,
    }
    print(report.markdown(result))
    if arguments.out:
        arguments.out.write_text(json.dumps(result, indent=2) + "\n")
        note(f"Everything measured is in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
