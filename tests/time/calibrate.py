#!/usr/bin/python3
"""The numbers of src/lab/time/gpus.def that microbenchmarks determine, beside those that the table has.

calibrate.py MEASURED.csv... [--gpu h200] [--clock GHZ]

MEASURED: what measure.py --quick wrote of m_micro, j_cal, n_more, k_cold, b_latency and o_* (tests/data/time has an
H100's and an H200's). Each number is the cycles of launches by what they do of one kind, less those of an empty launch.
A number that the table has otherwise is marked; it is a person who decides (a rate may be bound by something else)."""
import argparse
import csv
import pathlib
import re

TABLE = pathlib.Path(__file__).resolve().parents[2] / "src" / "lab" / "time" / "gpus.def"
PARTS, WARPS = 4, 32  # of an SM; warps on it, of the rate kernels: 4 blocks of 8
LINE = 128
UPDATES = 528 * 8 * 8  # of warps, by o_whole and o_random
RANDOM_PACKETS = 22.2  # of a warp's 32 lanes at random in 256 words
WAY, ADDRESS = 2, 5  # cycles: into the memory pipe; of the instruction that makes the next address


def each(rounds, unrolled, warps=WARPS, parts=PARTS):
    """Instructions of one part of an SM."""
    return rounds * unrolled * warps / parts


# Number: (launches, their cycles c -> value). e: cycles of an empty launch of as many blocks.
RULES = {
    "fma": (("m_fadd",), lambda t, c, e: t["fma_halves"] * (c[0] - e) / each(60, 32)),
    "heavy": (("m_imad",), lambda t, c, e: (c[0] - e) / each(60, 32)),
    "wide": (("n_wide4",), lambda t, c, e: (c[0] - e) / each(40, 32)),
    "high": (("m_mulhi",), lambda t, c, e: (c[0] - e) / each(40, 32)),
    "half": (("m_hfma2",), lambda t, c, e: (c[0] - e) / each(60, 32)),
    "alu": (("m_lop3",), lambda t, c, e: (c[0] - e) / each(60, 32)),
    "fp64": (("m_dfma",), lambda t, c, e: (c[0] - e) / each(40, 32)),
    "special": (("m_ex2",), lambda t, c, e: (c[0] - e) / each(30, 32)),
    "reduce": (("m_redux",), lambda t, c, e: (c[0] - e) / each(30, 32)),
    "lat_special": (("m_ex2_lat",), lambda t, c, e: (c[0] - e) / (30 * 8)),
    "lat_fp64": (("m_dfma_lat",), lambda t, c, e: (c[0] - e) / (40 * 8)),
    "lat_shuffle": (("m_shfl_lat",), lambda t, c, e: (c[0] - e) / (40 * 8) - WAY),
    "lat_shared": (("chase_shared",), lambda t, c, e: (c[0] - e) / 2000 - WAY - ADDRESS),
    "lat_dram": (("chase_dram",), lambda t, c, e: (c[0] - e) / 500 - t["lat_l1"] - WAY - ADDRESS),
    "lat_l1": (("chase_l1", "chase_dram"), lambda t, c, e: (c[0] - e - 128 * (c[1] - e) / 500) / 1872 - WAY - ADDRESS),
    "barrier_warp": (("m_bar1024",), lambda t, c, e: (c[0] - e) / (50 * 4 * 64)),
    "barrier": (("m_bar256_1",), lambda t, c, e: (c[0] - e) / (50 * 4) - 8 * t["barrier_warp"]),
    "block_rate": (("n_empty_13200", "n_empty_1320"), lambda t, c, e: (c[0] - c[1]) / (13200 - 1320)),
    "launch": (("empty_1",), lambda t, c, e: c[0] - t["block_start"] - t["block_end"] - t["code_first"]),
    "launch_memory": (("k_store1", "k_args"), lambda t, c, e: c[0] - c[1]),
    "code_next": (("k_fast2048", "k_fast1024"), lambda t, c, e: (c[0] - c[1]) / 64 - 16),
    "code_jump": (("k_hop16", "k_hop8"), lambda t, c, e: (c[0] - c[1]) / 8),
    "write_line": (("c_st_line",), lambda t, c, e: (c[0] - e) / (2 * 8 * 4096 * 16 / LINE) - 4 * t["write_sector"]),
    "partial_line": (("c_st_part",), lambda t, c, e: (c[0] - e) / (2 * 8 * 2048 / 4) - 4 * t["partial_sector"]),
    "atomic_float": (("n_at_one_f_1056_4",), lambda t, c, e: (c[0] - e) / (1056 * 256 * 4)),
    "atomic_same": (("n_at_one_i_1056_4",), lambda t, c, e: (c[0] - e) / (1056 * 8 * 4)),
    "atomic_whole": (("o_whole_i_128",), lambda t, c, e: (c[0] - e) / UPDATES / 4),
    "atomic_filled": (("o_whole_i_1024",), lambda t, c, e: (c[0] - e) / UPDATES / 4),
    "atomic_packet": (("o_random_i_1024",), lambda t, c, e: (c[0] - e) / UPDATES / RANDOM_PACKETS),
    "atomic_double": (("o_whole_d_1024", "o_whole_i_1024"), lambda t, c, e: (c[0] - e) / (c[1] - e) / 2),
    "l1_again": (("o_hit_chain_32", "o_hit_chain_0"), lambda t, c, e: (c[0] - c[1]) / 200 / 31 - 1),
    "code_again": (("o_apart_code_1024",), lambda t, c, e: (c[0] - e) / (8 * 8 * 1024 / 16)),
    "dram_share": (("c_dram_r",), lambda t, c, e: of_peak(t, (16 << 20) * 16, c[0] - e)),
    "dram_random": (("n_ld_rand_256",), lambda t, c, e: of_peak(t, (4 << 20) * 64, c[0] - e) / t["dram_share"]),
    "dram_turn": (("c_dram_rw",), lambda t, c, e: 1 - of_peak(t, (8 << 20) * 32, c[0] - e) / t["dram_share"]),
}


def of_peak(table, moved, cycles):
    return moved / cycles / (table["dram_gbs"] / table["clock_ghz"])


def read_table(gpu):
    text = TABLE.read_text(encoding="utf-8")
    gpus = ("h100", "h200", "a100", "l4", "rtx4090", "b200")
    rows = re.findall(r"TIME_NUMBER\((\w+), ([^\"]+), \"([^\"]*)\"\)", text)
    return {name: float(values.split(",")[gpus.index(gpu)]) for name, values, _ in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured", nargs="+")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--clock", type=float, help="GHz; else the table's")
    arguments = parser.parse_args()
    cycles = {}
    for path in arguments.measured:
        with open(path, encoding="utf-8") as file:
            cycles.update((row["launch"], float(row["cycles"])) for row in csv.DictReader(file))
    table = read_table(arguments.gpu)
    table["clock_ghz"] = arguments.clock or table["clock_ghz"]
    empty = next((cycles[name] for name in ("m_empty132", "n_empty_132", "empty_1") if name in cycles), 0)
    print(f"{'number':16s} {'measured':>10s} {'gpus.def':>10s}  by")
    for name, (launches, rule) in RULES.items():
        if all(launch in cycles for launch in launches):
            value = rule(table, [cycles[launch] for launch in launches], empty)
            apart = abs(value - table[name]) > 0.1 * max(abs(table[name]), 0.5)
            print(f"{name:16s} {value:10.4g} {table[name]:10.4g}  {' '.join(launches)}{'  *' if apart else ''}")
    print("*: more than a tenth apart. The rest are of data sheets (d), cited, or chosen: gpus.def says which.")


if __name__ == "__main__":
    main()
