"""From the rounds' measurements to medians, ratios and tables. Plain data in, plain data or Markdown out."""

import statistics

from sizes import STEPS, flop_per_step


def spread(values):
    """Median, smallest and largest of a list."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def summarise(rounds, names):
    """Summary by contender. `rounds` is a list of {contender: measurement}.

    A ratio is the median of the ratios within each round: what slows a whole round down, another process say, cancels.
    """
    summary = {}
    for name in names:
        seconds = [one_round[name]["seconds_per_epoch"] for one_round in rounds]
        entry = {
            "seconds_per_epoch": spread(seconds),
            "gflops": flop_per_step() * STEPS / statistics.median(seconds) / 1e9,
            "nbam_time_ratio": _ratio(rounds, name, "seconds_per_epoch"),
        }
        if "score_rows_per_second" in rounds[0][name]:
            entry["score_rows_per_second"] = spread([one_round[name]["score_rows_per_second"] for one_round in rounds])
            entry["nbam_score_ratio"] = _ratio(rounds, name, "score_rows_per_second")
        summary[name] = entry
    return summary


def _ratio(rounds, name, quantity):
    return spread([one_round["nbam"][quantity] / one_round[name][quantity] for one_round in rounds])


def peak_gflops(rounds):
    """Median of the float32 peaks that nbam measured; None when it reported none."""
    peaks = [one_round["nbam"]["peak_gflops"] for one_round in rounds]
    return statistics.median(peaks) if None not in peaks else None


def markdown(result):
    """The tables of a whole result."""
    machine = result["machine"]
    flags = ", ".join(flag for flag, present in (machine["flags"] or {}).items() if present) or "unknown"
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    lines = [
        f"{result['date']}, {machine['processor']}, {machine['cores']} cores ({flags}), {machine['system']}",
        "",
        f"{versions}; interleaved rounds: {result['rounds']}, epochs per turn: {result['epochs']}, "
        f"load at the start: {machine['load_average']}",
    ]
    for run in result["runs"]:
        lines += ["", *_tables(run)]
    return "\n".join(lines)


def _tables(run):
    threads = run["threads"]
    peak = run["peak_gflops"]
    title = f"### {threads} thread{'s' if threads > 1 else ''}"
    if peak is not None:
        title += f" (measured float32 peak {peak:.0f} GFLOP/s)"
    training = [
        "| training | s/epoch, median | min | max | GFLOP/s | share of peak | nbam's time / its time |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    scoring = [
        "| scoring | rows/s, median | min | max | nbam's rows/s / its rows/s |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, entry in run["contenders"].items():
        seconds = entry["seconds_per_epoch"]
        share = f"{entry['gflops'] / peak:.0%}" if peak else "-"
        training.append(
            f"| {name} | {seconds['median']:.3f} | {seconds['min']:.3f} | {seconds['max']:.3f} "
            f"| {entry['gflops']:.0f} | {share} | {_times(name, entry['nbam_time_ratio'])} |"
        )
        if "score_rows_per_second" in entry:
            rows = entry["score_rows_per_second"]
            scoring.append(
                f"| {name} | {rows['median']:,.0f} | {rows['min']:,.0f} | {rows['max']:,.0f} "
                f"| {_times(name, entry['nbam_score_ratio'])} |"
            )
    skipped = [f"Skipped: {name} ({why})" for name, why in run["skipped"].items()]
    return [title, "", *training, "", *scoring, *([""] + skipped if skipped else [])]


def _times(name, ratio):
    if name == "nbam":
        return "-"
    return f"{ratio['median']:.2f} ({ratio['min']:.2f} - {ratio['max']:.2f})"
