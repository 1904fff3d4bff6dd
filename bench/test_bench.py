"""Tests of the comparison, with a stand-in for nbam and none of the engines: `python3 -m unittest discover bench`."""

import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import python_vs_cleanlab
import report
import side_by_side
import sizes
from contenders import Nbam, Unavailable, Worker
from environment import BenchError, usable_cores

ROUNDS = [
    {"nbam": {"seconds_per_epoch": 1.0, "score_rows_per_second": 80.0, "peak_gflops": 100.0},
     "other": {"seconds_per_epoch": 2.0, "score_rows_per_second": 40.0}},
    {"nbam": {"seconds_per_epoch": 9.0, "score_rows_per_second": 8.0, "peak_gflops": 90.0},
     "other": {"seconds_per_epoch": 10.0, "score_rows_per_second": 5.0}},
    {"nbam": {"seconds_per_epoch": 1.5, "score_rows_per_second": 90.0, "peak_gflops": 110.0},
     "other": {"seconds_per_epoch": 2.5, "score_rows_per_second": 30.0}},
]  # fmt: skip


class Sizes(unittest.TestCase):
    def test_the_step_is_the_papers(self):
        self.assertEqual(sizes.STEPS, 88)
        self.assertEqual(sizes.flop_per_step(), 586_547_200)


class Report(unittest.TestCase):
    def test_medians_and_ratios(self):
        entry = report.summarise(ROUNDS, ["nbam", "other"])["other"]
        self.assertAlmostEqual(entry["nbam_time_ratio"]["median"], 0.6)
        self.assertAlmostEqual(entry["nbam_time_ratio"]["max"], 0.9)
        self.assertAlmostEqual(entry["nbam_score_ratio"]["median"], 2.0)
        self.assertEqual(entry["seconds_per_epoch"], {"median": 2.5, "min": 2.0, "max": 10.0})
        self.assertAlmostEqual(entry["gflops"], 586_547_200 * 88 / 2.5e9)

    def test_the_ratio_is_not_that_of_the_medians(self):
        pairs = [(1.0, 4.0), (4.0, 5.0), (3.0, 2.0)]
        rounds = [{"nbam": {"seconds_per_epoch": a}, "other": {"seconds_per_epoch": b}} for a, b in pairs]
        ratio = report.summarise(rounds, ["other"])["other"]["nbam_time_ratio"]
        self.assertAlmostEqual(ratio["median"], 4.0 / 5.0)

    def test_contenders_that_do_not_score_have_no_scoring_row(self):
        rounds = [{name: dict(values) for name, values in one.items()} for one in ROUNDS]
        for one in rounds:
            del one["other"]["score_rows_per_second"]
        text = self.table(rounds, {"third": "no compiler"})
        self.assertEqual(text.count("| other |"), 1)
        self.assertIn("Skipped: third (no compiler)", text)

    def test_the_table_shows_shares_of_the_measured_peak(self):
        rounds = [{name: dict(values) for name, values in one.items()} for one in ROUNDS]
        self.assertEqual(report.peak_gflops(rounds), 100.0)
        self.assertIn("| other | 2.500 | 2.000 | 10.000 | 21 | 21% | 0.60 (0.50 - 0.90) |", self.table(rounds, {}))
        rounds[1]["nbam"]["peak_gflops"] = None
        self.assertIsNone(report.peak_gflops(rounds))
        self.assertIn("| 21 | - | 0.60", self.table(rounds, {}))

    def table(self, rounds, skipped):
        machine = {"processor": "P", "cores": 2, "flags": None, "system": "S", "load_average": 0.0}
        run = {
            "threads": 2,
            "peak_gflops": report.peak_gflops(rounds),
            "contenders": report.summarise(rounds, ["nbam", "other"]),
            "skipped": skipped,
        }
        return report.markdown(
            {"date": "D", "machine": machine, "versions": {}, "rounds": 3, "epochs": 1, "runs": [run]}
        )


class Contenders(unittest.TestCase):
    REPORT = (
        '{"seconds_per_epoch": 0.5, "score_rows_per_second": 7, "peak_gflops": 9, "threads": THREADS, '
        '"precision": "single"}'
    )

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.core = usable_cores()[:1]

    def nbam(self, report_line, precision="single"):
        """A stand-in binary that prints a fixed report, with its last argument (the threads) in it."""
        binary = self.folder / "nbam"
        binary.write_text(f"#!{sys.executable}\nimport sys\nprint({report_line!r}.replace('THREADS', sys.argv[-1]))\n")
        binary.chmod(0o755)
        return Nbam(binary, self.core, precision)

    def worker(self, body):
        script = self.folder / "worker.py"
        script.write_text(textwrap.dedent(body))
        worker = Worker("worker", [sys.executable, script], self.core)
        self.addCleanup(worker.close)
        return worker

    def test_the_report_of_nbam_is_read(self):
        nbam = self.nbam(self.REPORT)
        self.assertEqual(nbam.measure(1), {"seconds_per_epoch": 0.5, "score_rows_per_second": 7.0, "peak_gflops": 9})

    def test_a_precision_that_the_processor_lacks_is_skipped(self):
        nbam = self.nbam(self.REPORT, "bfloat16")
        self.assertEqual(nbam.name, "nbam in bfloat16")
        with self.assertRaisesRegex(Unavailable, "in single precision instead of bfloat16"):
            nbam.measure(1)

    def test_a_wrong_number_of_threads_is_refused(self):
        nbam = self.nbam('{"seconds_per_epoch": 0.5, "score_rows_per_second": 7, "threads": 64, "precision": "single"}')
        with self.assertRaisesRegex(BenchError, "64 threads instead of 1"):
            nbam.measure(1)

    def test_a_report_that_cannot_be_read_and_a_missing_binary_are_explained(self):
        with self.assertRaisesRegex(BenchError, "no report that can be read"):
            self.nbam("fast!").measure(1)
        with self.assertRaisesRegex(BenchError, "cannot be started"):
            Nbam(self.folder / "absent", self.core).measure(1)

    def test_a_worker_keeps_to_its_cores_and_threads(self):
        worker = self.worker("""
            import json, os, sys
            sys.stdin.readline()
            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
            print(json.dumps({"cores": cores, "threads": os.environ["OMP_NUM_THREADS"]}))
        """)
        self.assertEqual(worker._ask("anything"), {"cores": 1, "threads": "1"})

    def test_the_fastest_of_a_turn_counts(self):
        worker = self.worker("""
            import json, sys
            for line in sys.stdin:
                print(json.dumps({"seconds": [3.0, 1.0, 2.0], "rows_per_second": [5.0, 7.0, 6.0]}), flush=True)
        """)
        self.assertEqual(worker.measure(3), {"seconds_per_epoch": 1.0, "score_rows_per_second": 7.0})

    def test_a_worker_that_dies_says_why(self):
        worker = self.worker("raise SystemExit('no such library')")
        with self.assertRaisesRegex(Unavailable, "no such library"):
            worker._ask("check")

    def test_a_worker_that_computes_something_else_is_refused(self):
        worker = self.worker("""
            import json, sys
            sys.stdin.readline()
            print(json.dumps({"version": "1", "losses": [2.0], "loss_error": 0.01, "posterior_error": 0.0}))
        """)
        with self.assertRaisesRegex(BenchError, "loss error"):
            worker.warm_up(side_by_side.TOLERANCE)

    def test_workers_must_train_alike(self):
        one, other = (
            type("Trained", (), {"name": name, "losses": losses})
            for name, losses in (("a", [2.0, 1.0]), ("b", [2.0, 1.1]))
        )
        side_by_side.compare_losses([one, one])
        with self.assertRaisesRegex(BenchError, "b and a train differently"):
            side_by_side.compare_losses([one, other])


class PythonAndCleanlab(unittest.TestCase):
    SETTING = {"rows": 10, "commit": "abc"}

    def turn(self, number, contender, seconds=1.0, precision=0.5, **changes):
        measured = {"seconds": seconds, "average_precision": precision, "auroc": 0.5, "epochs": 25}
        return {"setting": self.SETTING, "round": number, "contender": contender, **measured, **changes}

    def test_what_is_on_file_is_not_done_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "new" / "turns.jsonl"
            self.assertEqual(python_vs_cleanlab.finished(path, self.SETTING), {})
            first = self.turn(0, "nbam")
            python_vs_cleanlab.append(path, first)
            python_vs_cleanlab.append(path, self.turn(0, "cleanlab", setting={"rows": 10, "commit": "other"}))
            with path.open("a") as lines:
                lines.write('{"setting": {"rows": 10, "com')
            self.assertEqual(python_vs_cleanlab.finished(path, self.SETTING), {(0, "nbam"): first})
            second = self.turn(0, "cleanlab")
            python_vs_cleanlab.append(path, second)
            third = self.turn(0, "cleanlab-short")
            python_vs_cleanlab.append(path, third)
            expected = {(0, "nbam"): first, (0, "cleanlab"): second, (0, "cleanlab-short"): third}
            self.assertEqual(python_vs_cleanlab.finished(path, self.SETTING), expected)
            # Nothing is left to do, so that neither library is asked for.
            self.assertEqual(python_vs_cleanlab.compare(None, None, self.SETTING, 1, path), expected)

    def test_they_take_turns_and_nbam_begins(self):
        orders = [python_vs_cleanlab.order(number) for number in range(3)]
        self.assertEqual(orders[0], ["nbam", "cleanlab", "cleanlab-short"])
        self.assertEqual([order[0] for order in orders], orders[0])

    def test_the_ratio_is_taken_within_each_round(self):
        times = [(1.0, 30.0), (2.0, 24.0), (1.5, 15.0)]
        done = {}
        for number, (ours, theirs) in enumerate(times):
            done[number, "nbam"] = self.turn(number, "nbam", ours, 0.9)
            done[number, "cleanlab"] = self.turn(number, "cleanlab", theirs, 0.8 + 0.1 * number)
            done[number, "cleanlab-short"] = self.turn(number, "cleanlab-short", 2 * ours, 0.8)
        text = python_vs_cleanlab.table(done, 3)
        expected = "nbam is 12.0 times as fast (10.0 - 30.0) as cleanlab, with the higher average precision in 1 of 3 rounds."
        self.assertIn(expected, text)
        self.assertIn("nbam is 2.0 times as fast (2.0 - 2.0) as cleanlab-short, with the higher", text)
        self.assertIn("| nbam | 1.5 (1.0 - 2.0) | 0.9000 (0.9000 - 0.9000) |", text)


if __name__ == "__main__":
    unittest.main()
