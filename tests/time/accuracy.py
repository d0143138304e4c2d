#!/usr/bin/python3
"""How far the times that `smempipe kernel --time` predicts are from those that Nsight Compute measured.

accuracy.py SMEMPIPE [--gpu h100] [--set training] [--only PREFIX] [--program NAME]... [--json FILE] [--most PERCENT]
    [--jobs N] [--calibration]
accuracy.py SMEMPIPE --quick [--most PERCENT]      some small launches of the training set
accuracy.py SMEMPIPE --quick --calibration --gpu h200 [--most PERCENT]

Runs the programs of tests/time/kernels and compares with tests/data/time. --json writes what docs/results.py makes a
table of. --most fails (exit status 1) where the mean error is above it. --calibration: the microbenchmarks, which the
table of numbers is made of, instead. All of it takes half an hour of one core; --jobs: of N at a time."""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE / "kernels"


# Programs and beginnings of names: launches of few instructions, of the training set and of the calibration.
QUICK = {False: {"b_latency": "tiny_,chain_imad,chase_dram,chase_many_dram,fma_ilp1_w1,thr_dfma"},
         True: {"o_atomic": "o_cas_f_8,o_cas_d_2,o_whole_d_512,o_random_f_32", "o_rows": "o_hit_33,o_hit_chain_32"}}


def read_rows(gpu):
    with open(HERE.parent / "data" / "time" / f"{gpu}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def predict(program, gpu, arguments, prefix):
    """The launches of a program by their names, as --json tells them."""
    env = dict(os.environ, SAY="1")
    if prefix:
        env["ONLY"] = prefix
    command = [arguments.smempipe, "kernel", str(KERNELS / f"{program}.cu"), f"--time={gpu}", "--code", "sass",
               "--each", "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program}: {done.stderr[-600:]}")
    names = [line for line in done.stderr.splitlines() if re.fullmatch(r"\w+", line)]
    launches = sorted(json.loads(done.stdout)["launches"], key=lambda one: one["launch"])
    if len(names) != len(launches):
        sys.exit(f"{program}: {len(names)} names of {len(launches)} launches")
    return {name: one["predicted"] for name, one in zip(names, launches)}


def judge(row, predicted):
    """One launch: its error, and whether the first stall reason and the worst instruction agree."""
    one = {key: row[key] for key in ("program", "launch", "set")}
    one["measured_cycles"] = float(row["cycles"])
    if predicted.get("not_modelled"):
        return dict(one, not_modelled=predicted["not_modelled"])
    one["cycles"] = predicted["cycles"]
    one["error"] = predicted["cycles"] / one["measured_cycles"] - 1
    scale = predicted["us"] / predicted["cycles"] * one["measured_cycles"]
    one["inside"] = predicted["low_us"] <= scale <= predicted["high_us"]
    one["bound"] = predicted["bound"]
    stalls = {name: share for name, share in predicted["stalls"].items() if name != "selected"}
    one["stall"], one["measured_stall"] = max(stalls, key=stalls.get), row["stall"]
    worst = [int(place) for place in row["worst"].split()]
    if worst and predicted["lines"]:
        one["worst_agrees"] = max(predicted["lines"], key=lambda line: line["share"])["place"] in worst
    return one


def tools_are_there():
    path = os.environ.get("PATH", "") + ":/usr/local/cuda/bin"
    return all(shutil.which(tool, path=path) for tool in ("nvcc", "nvdisasm"))


def percent(values):
    values = list(values)
    return 100 * sum(values) / len(values) if values else float("nan")


def order_of(ones):
    """Pairs of launches of a family (the word before the first '_', else told) whose order in time is right."""
    def family(one):
        return one.get("family") or one["launch"].split("_")[0]
    right = pairs = 0
    for i, a in enumerate(ones):
        for b in ones[:i]:
            apart = a["measured_cycles"] / b["measured_cycles"]
            if family(a) == family(b) and not 0.95 < apart < 1.05:
                pairs += 1
                right += (a["cycles"] > b["cycles"]) == (apart > 1)
    return right, pairs


def summarise(ones):
    known = [one for one in ones if "error" in one]
    errors = sorted(abs(one["error"]) for one in known)
    right, pairs = order_of(known)
    lines = [one["worst_agrees"] for one in known if "worst_agrees" in one]
    return {
        "launches": len(ones),
        "not_modelled": len(ones) - len(known),
        "mean": percent(errors),
        "median": 100 * statistics.median(errors),
        "p90": 100 * errors[min(len(errors) - 1, int(0.9 * len(errors)))],
        "bias": 100 * statistics.median(one["error"] for one in known),
        "in_interval": percent(one["inside"] for one in known),
        "order_right": right,
        "order_pairs": pairs,
        "first_stall": percent(one["stall"] == one["measured_stall"] for one in known if one.get("measured_stall")),
        "worst_instruction": percent(lines),
        "worst_line": percent(one["line_agrees"] for one in known if "line_agrees" in one),
    }


def show(title, s):
    print(f"{title:24s} {s['launches']:4d} launches  mean {s['mean']:5.1f} %  median {s['median']:5.1f} %  "
          f"90 % under {s['p90']:5.1f} %  bias {s['bias']:+5.1f} %  in the interval {s['in_interval']:3.0f} %  "
          f"order {s['order_right']}/{s['order_pairs']}  first stall {s['first_stall']:3.0f} %  "
          f"worst instruction {s['worst_instruction']:3.0f} %")


def shares(rows, arguments):
    """Programs with the launches that one process is to run of them: all, or with --jobs some."""
    some = 5 if arguments.jobs > 1 else len(rows)
    for program in sorted({row["program"] for row in rows}):
        names = [row["launch"] for row in rows if row["program"] == program]
        for i in range(0, len(names), some):
            yield program, ",".join(names[i:i + some]) if arguments.jobs > 1 else arguments.only


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("smempipe")
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("--set")
    parser.add_argument("--only", default="", help="launches whose names begin so")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--program", action="append")
    parser.add_argument("--json")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--calibration", action="store_true")
    parser.add_argument("--most", type=float)
    arguments = parser.parse_args()
    if arguments.quick and not tools_are_there():
        print("nvcc or nvdisasm is not on this machine")
        sys.exit(77)
    rows = [row for row in read_rows(arguments.gpu) if (not arguments.set or row["set"] == arguments.set) and
            row["launch"].startswith(arguments.only) and (row["set"] == "calibration") == arguments.calibration]
    if arguments.program:
        rows = [row for row in rows if row["program"] in arguments.program]
    if arguments.quick:
        rows = [row for row in rows if row["set"] != "held out"]
    runs = QUICK[arguments.calibration].items() if arguments.quick else list(shares(rows, arguments))
    predicted = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for launches in pool.map(lambda run: predict(run[0], arguments.gpu, arguments, run[1]), runs):
            predicted.update(launches)
    ones = [judge(row, predicted[row["launch"]]) for row in rows if row["launch"] in predicted]
    if not ones:
        sys.exit("no launch has such a name")
    summary = {name: summarise([one for one in ones if one["set"] == name]) for name in ("training", "held out")
               if any(one["set"] == name for one in ones)}
    summary["all"] = summarise(ones)
    families = {program: summarise([one for one in ones if one["program"] == program])
                for program in sorted({one["program"] for one in ones})}
    for title, s in list(summary.items()) + list(families.items()):
        show(f"{arguments.gpu}, {title}", s)
    if arguments.json:
        rows = ",\n".join(json.dumps({key: round(value, 5) if isinstance(value, float) else value
                                      for key, value in one.items()}) for one in ones)
        head = json.dumps({"gpu": arguments.gpu, "summary": summary, "families": families})
        pathlib.Path(arguments.json).write_text(f'{head[:-1]},\n"launches": [\n{rows}]}}\n', encoding="utf-8")
    if arguments.most is not None and summary["all"]["mean"] > arguments.most:
        sys.exit(f"the mean error is {summary['all']['mean']:.2f} %, and may be {arguments.most:g} %")


if __name__ == "__main__":
    main()
