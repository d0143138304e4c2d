#!/usr/bin/python3
"""Makes docs/results/h200-time.json, of which docs/results.py makes the table of errors of predicted times, and
src/lab/time/errors.def, which the program tells them by.

tables.py OUT.json [REPORT.json...]     REPORT: what accuracy.py --json wrote for an H100, an H200; else those of
                                        tests/data/time

Programs of others and own kernels come from tests/data/time: what was predicted of them before they were measured."""
import csv
import json
import pathlib
import sys

import accuracy

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "time"
ERRORS = DATA.parents[2] / "src" / "lab" / "time" / "errors.def"
TITLES = {"fresh": "H200, others, nobody had looked at them", "third": "H200, others, a second set, as blind",
          "fourth": "H200, others, a third set, as blind", "fifth": "H200, others, a fourth set, as blind",
          "sixth": "H200, others, what it had left, as blind"}
BLIND, FEW, MANY, WORST = ("third", "fourth", "fifth", "sixth"), 20, 40, 10
TOLD = "H200, others, the last two together, as blind"


def others():
    """Programs of others, as judged launches."""
    with open(DATA / "foreign_h200.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            one = {"set": row["set"], "program": row["program"].split("_")[0], "family": row["program"],
                   "launch": f"{row['program']} {row['kernel'][:32]} {row['grid']}",
                   "measured_cycles": float(row["cycles"])}
            if row["refused"]:
                yield dict(one, not_modelled=row["refused"])
                continue
            cycles = float(row["predicted_cycles"])
            one.update(cycles=cycles, error=cycles / one["measured_cycles"] - 1, bound=row["bound"],
                       inside=float(row["low"]) <= one["measured_cycles"] <= float(row["high"]),
                       stall=row["predicted_stall"], measured_stall=row["stall"])
            for key, name in (("worst_agrees", "worst_instruction"), ("line_agrees", "worst_line")):
                if row[name]:
                    one[key] = row[name] == "1"
            yield one


def own():
    """Kernels of this project: `compare --device cuda`, by events."""
    with open(DATA / "own_h200.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            measured, predicted = float(row["us"]) - float(row["event_us"]), float(row["predicted_us"])
            yield {"set": "own", "program": row["run"], "family": f"{row['run']} {row['step']} {row['input']}",
                   "launch": f"{row['step']} {row['input']} {row['variant']}", "measured_cycles": measured,
                   "cycles": predicted, "error": predicted / measured - 1, "bound": row["bound"],
                   "inside": float(row["low_us"]) <= measured <= float(row["high_us"])}


def told(ones):
    """accuracy.py's figures; null where nothing is known."""
    return {key: None if value != value else round(value, 2) for key, value in accuracy.summarise(ones).items()}


def made(title, ones):
    known = sorted((one for one in ones if "error" in one), key=lambda one: -abs(one["error"]))
    families = {}
    for one in ones:
        families.setdefault(one["program"], []).append(one)
    return {"title": title, "summary": told(ones),
            "families": {name: told(some) for name, some in sorted(families.items())
                         if any("error" in one for one in some)},
            "worst": [{"launch": one["launch"], "error": round(one["error"], 4), "bound": one["bound"]}
                      for one in known[:WORST]]}


def quantile(values, share):
    return sorted(values)[round(share * (len(values) - 1))]


def write_errors(sets, judged, reports):
    """Intervals: measured over predicted times of nine of ten launches, by what bounds them, of the blind sets BLIND
    and of those with the training launches, whichever is wider, if they are many; a bound of few launches
    has that of all. The error: that of the last two blind sets."""
    blind = [one for one in judged if one["set"] in BLIND and "error" in one]
    every = blind + [one for report in reports for one in report["launches"] if one["set"] == "training"]
    text = "/* Made by tests/time/tables.py; \"\": the other bounds. */\n"
    for bound in [*sorted({one["bound"] for one in every}), ""]:
        groups = [[1 / (1 + one["error"]) for one in group if bound in ("", one["bound"])] for group in (blind, every)]
        groups = [group for group, least in zip(groups, (MANY, FEW)) if len(group) >= least]
        if groups:
            low, high = (of(quantile(group, share) for group in groups) for of, share in ((min, 0.05), (max, 0.95)))
            text += f'TIME_INTERVAL("{bound}", {low:.2f}, {high:.2f})\n'
    of = next(one["summary"] for one in sets if one["title"] == TOLD)
    ERRORS.write_text(text + f"TIME_ERROR({of['median']:.0f}, {of['p90']:.0f}, {of['in_interval']:.0f})\n",
                      encoding="utf-8")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sets = []
    paths = sys.argv[2:] or sorted(DATA.glob("report_*.json"))
    reports = [json.loads(pathlib.Path(path).read_text(encoding="utf-8")) for path in paths]
    for report in reports:
        gpu, launches = report["gpu"].upper(), report["launches"]
        for name in ("training", "held out") if gpu == "H100" else ("",):
            some = [one for one in launches if not name or one["set"] == name]
            kinds = {one["set"] for one in some}
            if some:
                sets.append(made(f"{gpu}, {kinds.pop() if len(kinds) == 1 else 'all'}", some))
    judged = list(others())
    for name, title in TITLES.items():
        some = [one for one in judged if one["set"] == name]
        if some:
            sets.append(made(title, some))
    together = told([one for one in judged if one["set"] in BLIND[-2:]])
    sets.append({"title": TOLD, "summary": together, "families": {}, "worst": []})  # which stand above
    if reports:
        write_errors(sets, judged, reports)
    sets.append(made("H200, own kernels, by events", list(own())))
    pathlib.Path(sys.argv[1]).write_text(json.dumps({"sets": sets}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
