#!/usr/bin/env python3
"""Makes docs/results.md of docs/results/*.json, which tests/gpu_all.sh writes on a GPU machine, and
tests/bench/peers.py, peers_pictures.py and peers_study.py on one without. Below a table stands what a text of the same
name (NAME.txt) says of it.

    docs/results.py [--check] [FOLDER]      --check: exit 1 when results.md is not what the files make

Plain Python."""
import json
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ORDER = ["transpose", "reduction", "histogram", "stencil5", "stencil15", "matmul", "bench", "folders", "host",
         "peers", "limits", "pictures", "formats", "effects", "study", "time", "ablation"]
TITLES = {
    "transpose": "Transpose", "reduction": "Reduction", "histogram": "Histogram", "stencil5": "Gaussian, 5 taps",
    "stencil15": "Gaussian, 15 taps", "matmul": "Matrix product",
}
SOURCES = ("model", "sass", "hw")
HEAD = """# Results

Made by `docs/results.py` from the JSON files in [results](results), which hold every sample and the environment;
`tests/gpu_all.sh BUILD OUT` on a machine with a GPU writes them anew. What passed there, and with which code: %s.

Times are medians of runs with the L2 cache emptied in between, variants interleaved. GB/s counts each input byte read
once and each output byte written once. Wavefronts are those of shared memory, of the rows that were counted; n-way is
wavefronts divided by ideal.
*model* is what the emulator predicts without a GPU, *sass* what patched code counts on the GPU, *hw* what its counters
say. *arbitration* is what hw counts beyond sass (beyond the model where sass is missing) and is no bank conflict;
asynchronous copies, which hw does not know, are left out of it.
"""


def number(value, digits=1):
    return "" if value is None else f"{value:,.{digits}f}"


def whole(value):
    return "" if value is None else f"{value:,}"


def share(value):
    return "" if value is None else f"{100 * value:.0f} %"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def total(variant, source):
    counts = variant.get("counts", {}).get(source, {})
    return counts.get("total") if counts.get("known") else None


def wavefronts(counts):
    return whole(counts["wavefronts"]) if counts else ""


def without_async(variant, source):
    """Wavefronts and ideal of loads, stores and atomics: hardware counters know no asynchronous copies."""
    counts = variant.get("counts", {}).get(source, {})
    if not counts.get("known"):
        return None
    async_ = counts.get("async", {"wavefronts": 0, "ideal": 0})
    return {key: counts["total"][key] - async_[key] for key in ("wavefronts", "ideal")}


def counted_row(variant):
    model, sass, hw = (total(variant, source) for source in SOURCES)
    best = sass or model
    if not best:
        return [variant["variant"]] + [""] * 6
    ways = best["wavefronts"] / best["ideal"] if best["ideal"] else 1
    exact = without_async(variant, "sass") or without_async(variant, "model")
    return [
        variant["variant"],
        wavefronts(model),
        wavefronts(sass),
        wavefronts(hw),
        whole(best["ideal"]), f"{ways:.2f}",
        whole(hw["wavefronts"] - exact["wavefronts"]) if hw else ""
    ]


def timed_row(step, variant):
    seconds = variant.get("median_seconds")
    if not seconds:
        return None
    return [
        variant["variant"],
        number(seconds * 1e3, 3),
        number(variant["gb_per_second"], 0),
        share(variant.get("of_copy")),
        share(variant.get("of_peak")),
        number(step["operations"] / seconds * 1e-12, 2) if step["operations"] else "",
        number(variant.get("speedup"), 2)
    ]


def agreement(steps):
    both = [(v, total(v, "model"), total(v, "sass")) for step in steps for v in step["variants"]]
    both = [(v, m, s) for v, m, s in both if m and s]
    if not both:
        return beside_hardware(steps)
    off = [v["variant"] for v, m, s in both if (m["wavefronts"], m["ideal"]) != (s["wavefronts"], s["ideal"])]
    if off:
        return f"\nmodel and sass differ for {', '.join(off)}.\n"
    return f"\nmodel equals sass for {'the variant' if len(both) == 1 else f'all {len(both)} variants'}.\n"


def beside_hardware(steps):
    """Without sass: what the model and the hardware's counters have in common."""
    rows = [(v["variant"], without_async(v, "model"), without_async(v, "hw")) for step in steps
            for v in step["variants"]]
    rows = [(name, m, h) for name, m, h in rows if m and h and m["wavefronts"]]
    if not rows:
        return ""
    off = [name for name, m, h in rows if m["ideal"] != h["ideal"]]
    least, most = (pick((h["wavefronts"] - m["wavefronts"]) / m["wavefronts"] for _, m, h in rows)
                   for pick in (min, max))
    same = f"differs for {', '.join(off)}" if off else "is the model's to the unit"
    return (
        f"\nNo sass counts. Asynchronous copies left out, hw's ideal {same}; its wavefronts are {100 * least:.2f} to "
        f"{100 * most:.2f} % more.\n")


def ladder(name, report):
    environment = report["environment"]
    steps = [step for step in report["steps"] if not step["inserted"]]
    text = f"\n## {TITLES.get(name, name)}\n"
    for step in steps:
        where = [
            environment["device_name"], f"driver {environment['driver']}" if environment.get("driver") else "",
            environment.get("toolkit") or "",
            f"SM at {environment['sm_clock_mhz']:.0f} MHz" if environment.get("sm_clock_mhz") else "",
            f"copy {number(environment.get('copy_gb_per_second'), 0)} GB/s"
        ]
        text += f"\n`{step['step']}` on {step['input']}. {', '.join(w for w in where if w)}.\n\n"
        rows = [row for row in (timed_row(step, variant) for variant in step["variants"]) if row]
        if rows:
            text += table(["variant", "ms", "GB/s", "of copy", "of datasheet", "TFLOP/s", "x naive"], rows)
        counted = step.get("counted")
        if counted:
            part = f"{whole(counted['rows'])} of {whole(counted['of_rows'])} rows"
            if counted.get("columns", 0) < counted.get("of_columns", 0):
                size, of = (f"{counted[of + 'columns']}x{counted[of + 'rows']}" for of in ("", "of_"))
                part = f"the upper left {size} of {of}"
            text += f"\nWavefronts of {part}:\n\n"
            text += table(["variant", "model", "sass", "hw", "ideal", "n-way", "arbitration"],
                          map(counted_row, step["variants"]))
    return text + agreement(steps)


def per_instruction(row, source):
    counts = row.get(source)
    return f"{counts['wavefronts'] / counts['instructions']:.4g}" if counts and counts["instructions"] else ""


def bench(report):
    device = report["device"]
    text = f"\n## Ceilings\n\n{device['name']}"
    peak = device.get("peak_gb_per_second")
    text += f", datasheet {peak:.0f} GB/s.\n\n" if peak else ".\n\n"
    rates = [("copy by the driver", report.get("driver_copy"))]
    for stream in report["streams"]:
        threads = stream.get("threads")
        by = f", {threads} thread{'' if threads == 1 else 's'}" if threads else " by a kernel"
        rates += [(key + by, stream.get(key)) for key in ("copy", "read", "write")]
    bus = report.get("bus", {})
    rates += [(text_, bus.get(key)) for key, text_ in (
        ("up_pinned", "bus up, pinned memory"), ("down_pinned", "bus down, pinned memory"),
        ("both_pinned", "bus both ways, pinned memory"),
        ("up_run", "bus up, as a run does it"), ("down_run", "bus down, as a run does it"),
        ("both_run", "bus both ways, as a run does it"))]
    if any(r for _, r in rates):
        text += table(["what", "GB/s", "quartiles", "of datasheet"], [[
            name,
            number(r["gb_per_second"]), f"{number(r['gb_per_second_low'])} to {number(r['gb_per_second_high'])}",
            share(r["gb_per_second"] / peak) if peak and "bus" not in name else ""
        ] for name, r in rates if r])
    launch = report.get("launch_seconds")
    if launch:
        each, waited = launch["each"] * 1e6, launch["waited"] * 1e6
        text += f"\nA launch takes {each:.2f} us in a row of many, {waited:.2f} us when waited for.\n"
    for op, title in (("load", "Loads"), ("store", "Stores"), ("count", "Counting: atomicAdd(p, 1), result unused")):
        rows = [row for row in report["patterns"] if row["op"] == op]
        text += f"\n### {title} of shared memory\n\n"
        text += "Wavefronts a warp instruction, cycles when an SM does nothing else.\n\n"
        text += table(["pattern", "bytes", "ideal", "model", "sass", "hw", "cycles", "TB/s"], [[
            row["pattern"], row["width"], row["ideal"], *(per_instruction(row, s) for s in SOURCES),
            number(row.get("cycles"), 2),
            number(row["gb_per_second"] / 1e3, 2) if "gb_per_second" in row else ""
        ] for row in rows])
    missing = report.get("missing_sources")
    sass = any("sass" in row for row in report["patterns"])
    if sass:
        off = report["disagreements"]
        said = f"differ on {off} of" if off else "agree on all"
        text += f"\nmodel and sass {said} {len(report['patterns'])} patterns.\n"
    for source, why in (missing or {}).items():
        text += f"\nNo {source} counts: {why}.\n"
    return text


def peers(report):
    """Whole commands, and single stages in memory, beside other programs on a CPU."""
    text = "\n## Beside other programs, on a CPU\n\n"
    text += f"{report['processor']}, {report['threads']} threads; medians, interleaved, by `tests/bench/peers.py`. "
    text += "; ".join(line for line in report["versions"].values() if line) + ".\n"
    for job in report.get("jobs", []):
        ours = job["tools"]["smempipe"]["wall_s"]
        what = "" if " to 1600" in job["job"] else ", blurred by sigma 2"
        text += f"\n**{job['job']}{what}**, {job['input_bytes'] / 1e6:.1f} MB in:\n\n"
        rows = [(tool, number(one["wall_s"], 3), number(one["wall_s"] / ours, 2), number(
            one["cpu_s"], 3), number(one["peak_mb"]), number(one["output_bytes"] / 1e6))
                for tool, one in job["tools"].items()]
        text += table(("", "wall s", "x smempipe", "processor s", "peak MB", "output MB"), rows)
    for name, what in (("folder", "blurred by sigma 2"), ("thumbnails", "as thumbnails of 256 pixels")):
        folder = report.get(name)
        if not folder:
            continue
        first = next(iter(folder["ways"]))
        ours = folder["ways"][first]["wall_s"]
        text += f"\n**{folder['pictures']} pictures of {folder['size']}, {what}**:\n\n"
        text += table(
            ("", "wall s", f"x {first}"),
            [(way, number(one["wall_s"], 2), number(one["wall_s"] / ours, 2)) for way, one in folder["ways"].items()])
    if report.get("stages"):
        text += "\n**One stage in memory**, 6000x4000, beside OpenCV's; x is OpenCV's time divided by ours, with " \
                "AVX-512 (v4) and AVX2 (v3) code:\n\n"
        rows = [(one["stage"], number(one["opencv_s"] * 1e3, 2), *(cell for isa in one["ratio"] for cell in (
                 number(one["smempipe_s"][isa] * 1e3, 2), number(one["ratio"][isa], 2)))) for one in report["stages"]]
        heads = [cell for isa in report["stages"][0]["ratio"] for cell in (f"{isa} ms", f"{isa} x")]
        text += table(("stage", "OpenCV ms", *heads), rows)
    return text


def bar_cell(bar, decided):
    reached = "" if bar["reached"] is None else f"{bar['reached']:.2f}"
    wanted = bar["bar"].replace("at least ", "").replace("at most ", "<= ")
    return (reached, wanted, ("yes" if bar["met"] else "**no**") if decided(bar) else "")


def gpu_peers(report):
    """Kernels beside NVIDIA's libraries, as tests/bench/gpu_peers measures them, set against the bars."""
    environment = report["environment"]
    rows = report["rows"]
    clocks = [row["sm_clock_high_mhz"] for row in rows if row.get("sm_clock_high_mhz")]
    said = [environment["device_name"], f"driver {environment['driver']}" if environment.get("driver") else "",
            environment.get("toolkit") or "", f"SM at up to {max(clocks):.0f} MHz" if clocks else ""]
    said += [
        f"{title} {environment[key]}" for key, title in (("npp", "NPP"), ("cublas", "cuBLAS"), ("cub", "CUB"))
        if environment.get(key)
    ]
    text = "\n## Bars, and beside NVIDIA's libraries\n\n"
    text += f"{', '.join(word for word in said if word)}; one run of `gpu_peers` (tests/bench), interleaved on the " \
            "same buffers. Shares are of a copy or a pure read of the same run. x is a library's time divided by " \
            "ours, both with the clearing of their results. Ragged is the cost of a sample in an awkward size " \
            "divided by that in a round one.\n"
    if "H100" not in environment["device_name"]:
        text += "\nThe bars are an H100's: shares of its copy are harder to reach where memory is faster and the SMs " \
                "are the same.\n"

    def decided(bar):
        return bar["reached"] is not None

    bars = [bar for row in rows for bar in row["bars"] if decided(bar)]
    if bars:
        text += f"\n{sum(bar['met'] for bar in bars)} of {len(bars)} bars are met.\n"
    groups = list(dict.fromkeys(row["group"] for row in rows))
    for group in groups:
        lines = []
        for row in rows:
            if row["group"] != group:
                continue
            if row["check"] != "right":
                lines.append([row["row"], row["input"], row["check"], *[""] * 7])
                continue
            first, *others = row["bars"] or [{"reached": None, "bar": "", "met": False}]
            peers_ = "; ".join(
                f"{peer['times_as_fast']:.2f} x {peer['name']}" for peer in row["peers"] if peer["times_as_fast"])
            ragged = row.get("ragged") or {}
            copied = row["gb_per_second"] / row["copy_gb_per_second"] if row["copy_gb_per_second"] else None
            lines.append([
                row["row"], row["input"].split()[-1] if "frames" not in row["input"] else row["input"].split(" ", 1)[1],
                number(row["kernels"]["median_seconds"] * 1e3, 3),
                number(row["gb_per_second"], 0),
                share(copied), *bar_cell(first, decided), peers_,
                number(ragged.get("cost"), 2)
            ])
            lines += [["", "", "", "", "", *bar_cell(bar, decided), "", ""] for bar in others]
        text += f"\n### {group[0].upper()}{group[1:]}\n\n"
        text += table(["work", "size", "ms", "GB/s", "of copy", "reached", "bar", "met", "beside", "ragged"], lines)
    if report.get("left_out"):
        text += f"\nNot measured: {', '.join(report['left_out'])}.\n"
    return text


def nearest(units):
    """The unit that is nearest to its peak."""
    known = {name: value for name, value in units.items() if value is not None}
    if not known:
        return ""
    name = max(known, key=known.get)
    return f"{name} {known[name]:.0f} %"


def limits(report):
    """Counters of rows that miss their bar, as tests/gpu_limits.py reads them."""
    environment = report["environment"]
    said = [environment.get(key) for key in ("device_name", "driver", "toolkit")]
    text = "\n## What limits the rows below their bars\n\n"
    text += f"{', '.join(word for word in said if word)}; counters of the kernel that takes most of a row's time, " \
            "by ncu (tests/gpu_limits.py). Units are in percent of their peak; waits are a warp's cycles for each " \
            "instruction that it issues, the two longest.\n\n"
    lines = []
    for row in report["rows"]:
        why = [
            f"{bar['reached']:.3f}, wanted {bar['bar'].replace('at least ', '').replace('at most ', '<= ')}"
            for bar in row["bars_missed"]
        ]
        if not why:
            continue
        one = row["launches"]["full"]
        units = one["units_percent"]
        waits = sorted(one["waits"].items(), key=lambda wait: -wait[1])[:2]
        lines.append([
            row["row"], "; ".join(why),
            number(one["seconds"] * 1e3, 3),
            nearest(units),
            *(number(units.get(name), 0) for name in ("issue slots", "FMA pipe", "shared memory", "L2", "DRAM")),
            number(one["warps_resident_percent"], 0),
            number(one["instructions_a_sample"]), ", ".join(
                f"{name.replace('_', ' ')} {cycles:.1f}" for name, cycles in waits)
        ])
    text += table(["work", "why", "ms", "nearest its peak", "issue", "FMA", "shared", "L2", "DRAM", "warps resident",
                   "instructions a sample", "waits"], lines)
    if report.get("left_out"):
        text += f"\nNot measured: {', '.join(report['left_out'])}.\n"
    return text


def folders(report):
    """Whole jobs over folders, as tests/gpu_folders.py times them."""
    environment = report["environment"]
    width, height = environment["pixels"]
    cards = [line.split(None, 1)[1] for line in environment["devices"].splitlines() if line.startswith("cuda")]
    text = "\n## Whole jobs over folders\n\n"
    text += f"{len(cards)} x {cards[0] if cards else 'no GPU'}, {environment['processors']} processors; " \
            f"{environment['time'][:10]}, {environment['program']}; tests/gpu_folders.py. Pictures of {width} x " \
            f"{height} (small ones: 256 x 256) in memory (/dev/shm), from start to end, with the start of the " \
            "devices; every output has the bytes of the processors' output. JPEGs are decoded and coded where the " \
            "stages run.\n\n"
    lines, first, middle = [], {}, any("steady" in row for row in report["rows"])
    if middle:
        text += "Middle: files/s of the middle half of the files, without start and end; start: seconds to the first " \
                "file; end: seconds after the last.\n\n"
    for row in report["rows"]:
        base = first.setdefault(row["job"], row["files_per_second"])
        lines.append([row["job"], row["device"], whole(row["files"]), number(row["bytes"] / 1e6),
                      number(row["files_per_second"]), number(row["files_per_second"] / base, 2)])
        if middle:
            lines[-1] += [number(row[key], digits) if key in row else ""
                          for key, digits in (("steady", 1), ("begins", 2), ("ends", 2))]
        lines[-1].append("" if row["right"] else "other bytes")
    text += table(["job", "device", "files", "MB a file", "files/s", "times the first",
                   *(["middle", "start", "end"] if middle else []), ""], lines)
    return text + "".join(f"\n{note}\n" for note in report.get("notes", []))


def host(report):
    """What the GPUs of a host take from each other, as tests/gpu_host.py measures it."""
    gpus = list(report["alone"])
    nodes = len(report["memory_nodes"])
    text = f"\n## {len(gpus)} GPUs at once\n\n"
    text += f"{report['time'][:10]}; {report['processors']} processors, memory nodes: {nodes}; " \
            "tests/gpu_host.py. GB/s of `smempipe bench` on one GPU while the others rest, and the sum of all at " \
            "once.\n\n"
    lines = []
    for part, title in (("up_pinned", "bus up, pinned memory"), ("down_pinned", "bus down, pinned memory"),
                        ("up_run", "bus up, as a run does it"), ("down_run", "bus down, as a run does it"),
                        ("copy", "copy in the GPU's memory")):
        alone, together = ([rates[part] for rates in report[when].values() if part in rates]
                           for when in ("alone", "at_once"))
        if alone and together:
            lines.append([title, number(min(alone)), number(max(alone)), number(sum(together)),
                          share(sum(together) / sum(alone))])
    return text + table(["what", "least alone", "most alone", "sum at once", "of the sum alone"], lines)


def study(report):
    """Stages for pictures that people study beside OpenCV, and transforms beside FFTW, on one core."""
    text = "\n## Pictures that people study, on one core\n\n"
    text += f"{report['processor']}, one thread; processor milliseconds in memory, the least of a run of " \
            "`tests/bench/peers_study.py` in alternation, which says what is in them; 6000x4000 unless said, OpenCV " \
            f"{report['opencv']}. x is the other's time divided by ours, with AVX-512 (v4) and AVX2 (v3) " \
            "code. FFTW plans by estimate and makes half a spectrum, `fft complex` the whole one.\n"
    return text + beside(report["stages"], "OpenCV") + beside(report["transforms"], "FFTW")


def beside(rows, other):
    """A table of stages on one core beside another library; rows of no other library, or none."""
    rows = [one for one in rows if one["beside"] == other]
    if not rows:
        return ""
    lines = [(one["stage"], number(one["other_s"] * 1e3, 3), *(cell for isa in one["ratio"] for cell in (
              number(one["smempipe_s"][isa] * 1e3, 3), number(one["ratio"][isa], 2)))) for one in rows]
    heads = [cell for isa in rows[0]["ratio"] for cell in (f"{isa} ms", f"{isa} x")]
    return f"\n**Beside {other}**\n\n" + table(("stage", f"{other} ms", *heads), lines)


def pictures(report):
    """Whole commands and single stages that people make pictures with, in processor seconds."""
    text = "\n## Pictures that people make, in processor time\n\n"
    text += f"{report['processor']}, on a machine with other work (load {report['load_before']:.1f} before, " \
            f"{report['load_after']:.1f} after); the least of a run of `tests/bench/peers_pictures.py` in " \
            "alternation, which says what is in it. " + "; ".join(filter(None, report["versions"].values())) + ".\n"
    if report["jobs"]:
        text += "\n**Whole commands**, processor seconds of all their threads:\n\n" + table(
            ("job", "seconds"), [(job["job"], ", ".join(f"{tool} {number(one['cpu_s'], 3)}"
                                                        for tool, one in job["tools"].items()))
                                 for job in report["jobs"]])
    if report["stages"]:
        text += "\n**One stage in memory**, 6000x4000, one thread, processor milliseconds; x is the other's time " \
                "divided by ours, with AVX-512 (v4) and AVX2 (v3) code:\n"
    return text + beside(report["stages"], "Pillow") + beside(report["stages"], "OpenCV")


def formats(report):
    """Formats beside the programs of their own libraries: processor seconds and bytes."""
    text = "\n## Formats of pictures, in processor time\n\n"
    text += f"{report['processor']}, on a machine with other work (load {report['load_before']:.1f} before, " \
            f"{report['load_after']:.1f} after); the least of a run of `tests/bench/peers_formats.py`, which says " \
            "what is in it; x is the other's time divided by ours, size ours divided by the other's.\n\n"
    lines = []
    for one in report["formats"]:
        (_, ours), (name, other) = one["tools"].items()
        lines.append((one["format"], number(ours["cpu_s"], 2), f"{name} {number(other['cpu_s'], 2)}",
                      number(other["cpu_s"] / ours["cpu_s"], 2), number(ours["bytes"] / other["bytes"], 3)))
    return text + table(("format", "smempipe s", "other s", "x", "size"), lines)


def effects(report):
    """Effects of sound and of pictures beside the programs that are known for them."""
    text = "\n## Effects, in processor time\n\n"
    text += f"{report['processor']}, on a machine with other work (load {report['load_before']:.1f} before, " \
            f"{report['load_after']:.1f} after); processor seconds of whole commands, the least of a run of " \
            "`tests/bench/peers_effects.py` in alternation, which says what is in it; x is the quickest other's " \
            f"time divided by ours. {'; '.join(filter(None, report['versions']))}.\n\n"
    lines = []
    for job in report["effects"]:
        ours, *others = job["seconds"].items()
        best = min(others, key=lambda one: one[1], default=None)
        lines.append((job["job"], number(ours[1], 3), ", ".join(f"{tool} {number(t, 3)}" for tool, t in others),
                      number(best[1] / ours[1], 2) if best else ""))
    return text + table(("effect", "smempipe", "others", "x"), lines)


def peers_of(report):
    return gpu_peers(report) if "rows" in report else peers(report)


def times(report):
    """Predicted times beside measured ones (tests/time/tables.py)."""
    def row(title, s):
        return [title, s["launches"], s["not_modelled"] or "", *(number(s[key]) for key in ("mean", "median", "p90")),
                f"{s['bias']:+.1f}", *("" if s[key] is None else f"{s[key]:.0f}" for key in
                                      ("in_interval", "first_stall", "worst_instruction", "worst_line")),
                f"{s['order_right']} of {s['order_pairs']}" if s["order_pairs"] else ""]

    head = ["launches", "refused", "mean", "median", "90 % under", "bias", "inside", "first stall", "worst instr.",
            "worst line", "order"]
    text = "\n## Predicted times\n\nHow far `kernel --time` is from what was measured, in percent of it. Of others' "
    text += "programs each was predicted before it was measured (tests/time/foreign.py).\n\n"
    text += table(["set", *head], [row(s["title"], s["summary"]) for s in report["sets"]]) + "\n"
    for s in (one for one in report["sets"] if one["worst"]):
        text += f"**{s['title']}**:\n\n"
        if len(s["families"]) > 1:
            text += table(["family", *head], [row(name, of) for name, of in s["families"].items()]) + "\n"
        text += "Worst: " + "; ".join(f"{one['launch']} {100 * one['error']:+.0f} % (by {one['bound']})"
                                      for one in s["worst"][:3]) + ".\n\n"
    return text + "".join(note + "\n\n" for note in report.get("notes", []))


def ablation(report):
    """Errors of predicted times without one part of the model each (tests/time/ablation.py)."""
    def of(part):
        return f"{part['training']:.1f} and {part['held out']:.1f} %"

    nothing, *parts = report["parts"]
    text = f"\n## Parts of the time model\n\nMean errors of predicted times ({report['gpu'].upper()}; training and "
    text += f"held-out launches) are {of(nothing)}. With one part left out (tests/time/ablation.py): "
    parts.sort(key=lambda part: -part["training"])
    return text + "; ".join(f"{part['part']} {of(part)}" for part in parts) + ".\n" + \
        "".join("\n" + note + "\n" for note in report.get("notes", []))


MAKERS = {"bench": bench, "folders": folders, "host": host, "peers": peers_of, "limits": limits, "pictures": pictures,
          "formats": formats, "effects": effects, "study": study, "time": times, "ablation": ablation}


def wrapped(text):
    """Prose in lines of 120 columns; tables and headings as they are."""
    return "\n".join(
        line if line.startswith(("|", "#")) else
        textwrap.fill(line, 120, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n"))


def main():
    check = "--check" in sys.argv[1:]
    here = next((pathlib.Path(word) for word in sys.argv[1:] if word != "--check"), HERE)
    found = {}
    for path in sorted((here / "results").glob("*.json")):
        machine, _, name = path.stem.partition("-")
        if name in ORDER:
            found.setdefault(machine, {})[name] = json.loads(path.read_text())
            if path.with_suffix(".txt").exists():  # what somebody has to say about it
                found[machine][name]["notes"] = path.with_suffix(".txt").read_text().strip().split("\n\n")
    passed = sorted(path.name for path in (here / "results").glob("*-gpu-tests.txt"))
    text = HEAD % ", ".join(f"[{name}](results/{name})" for name in passed)
    for machine in sorted(found):
        for name in ORDER:
            if name in found[machine]:
                report = found[machine][name]
                text += MAKERS[name](report) if name in MAKERS else ladder(name, report)
    text = wrapped(text)
    target = here / "results.md"
    if check:
        if target.read_text() != text:
            print("docs/results.md is not what docs/results/*.json make: run docs/results.py", file=sys.stderr)
            return 1
        return 0
    target.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
