"""How long a cluster takes for many files, by how they are shared: a simulation, to choose the size of pieces by.

    python3 tests/cluster/makespan.py            # some seconds; --all: up to 1000 nodes, minutes
    python3 tests/cluster/makespan.py --check    # exit 1 when claimed pieces take over 1.05

File times are lognormal (mean 50 ms); nodes differ by 10 %, one of a hundred is half as fast. Static: every worker has
a part of the files. Claimed: whoever is free takes the next piece."""
import heapq
import random
import sys

MEAN, SIGMA, SLOTS = 0.05, 1.0, 8


def speeds(nodes, rng, alike):
    out = []
    for node in range(nodes):
        speed = 1.0 if alike else rng.gauss(1, 0.1) * (0.5 if node % 100 == 7 else 1)
        out += [max(speed, 0.2)] * SLOTS
    return out


def piece_time(files, rng):
    """The sum of so many file times: spelled out where they are few, by its limit where they are many."""
    if files <= 64:
        mu = -SIGMA * SIGMA / 2
        return MEAN * sum(rng.lognormvariate(mu, SIGMA) for _ in range(files))
    deviation = MEAN * (2.718281828459045 ** (SIGMA * SIGMA) - 1) ** 0.5
    return max(rng.gauss(files * MEAN, files ** 0.5 * deviation), 0)


def simulate(files, nodes, rng, alike, piece):
    """Of the ideal; piece None: static parts."""
    workers = speeds(nodes, rng, alike)
    ideal = files * MEAN / sum(workers)
    if piece is None:
        return max(piece_time(files // len(workers), rng) / speed for speed in workers) / ideal
    free = [(0.0, i) for i in range(len(workers))]
    heapq.heapify(free)
    for _ in range((files + piece - 1) // piece):
        at, worker = heapq.heappop(free)
        heapq.heappush(free, (at + piece_time(piece, rng) / workers[worker], worker))
    return max(at for at, _ in free) / ideal


def main():
    bad = False
    large = ((10 ** 8, 1000), (10 ** 7, 100)) if "--all" in sys.argv else ()
    for files, nodes in ((10 ** 6, 10), (10 ** 6, 20), *large):
        for alike in (True, False):
            row = []
            for piece in (None, 4096, 256, 64):
                if piece and files // piece > 400000:
                    row.append("    -")
                    continue
                worst = max(simulate(files, nodes, random.Random(seed), alike, piece) for seed in (1, 2, 3))
                row.append(f"{worst:5.2f}")
                if piece == 64 and worst > 1.05:
                    bad = True
            print(f"{files:>10} files, {nodes:>4} nodes, {'alike' if alike else 'one slow':>8}: static {row[0]}, "
                  f"pieces of 4096 {row[1]}, 256 {row[2]}, 64 {row[3]}")
    return 1 if bad and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
