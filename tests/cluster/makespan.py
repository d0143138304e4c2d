"""How long a cluster takes for many files, by how they are shared: a simulation, to choose the size of pieces by.

    python3 tests/cluster/makespan.py            # some seconds; --all: up to 1000 nodes, minutes
    python3 tests/cluster/makespan.py --check    # exit 1 when claimed pieces take over 1.05

File times are lognormal (mean 50 ms); nodes differ by 10 %, one of a hundred is half as fast. Static: every worker has
a part of the files. Claimed: whoever is free takes the next piece. Shrinking pieces are those that `smempipe list`
makes unless it is told their size (src/batch/claims/work_list.c)."""
import heapq
import random
import sys

MEAN, SIGMA, SLOTS = 0.05, 1.0, 8
PARTS, LEAST, MOST = 1024, 16, 4096  # a piece is 1/PARTS of the files that are left, at least LEAST, at most MOST


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


def fixed(files, piece):
    while files > 0:
        yield min(piece, files)
        files -= piece


def shrinking(files):
    """In units of LEAST files, as the list joins them."""
    while files > 0:
        piece = min(max(files // PARTS // LEAST, 1) * LEAST, MOST, files)
        yield piece
        files -= piece


def simulate(files, nodes, rng, alike, pieces):
    """Of the ideal, and how many pieces; pieces None: static parts."""
    workers = speeds(nodes, rng, alike)
    ideal = files * MEAN / sum(workers)
    if pieces is None:
        return max(piece_time(files // len(workers), rng) / speed for speed in workers) / ideal, len(workers)
    free = [(0.0, i) for i in range(len(workers))]
    heapq.heapify(free)
    count = 0
    for piece in pieces:
        at, worker = heapq.heappop(free)
        heapq.heappush(free, (at + piece_time(piece, rng) / workers[worker], worker))
        count += 1
    return max(at for at, _ in free) / ideal, count


def main():
    bad = False
    large = ((10 ** 8, 1000), (10 ** 7, 100)) if "--all" in sys.argv else ()
    for files, nodes in ((10 ** 6, 10), (10 ** 6, 20), *large):
        ways = {"static": lambda: None, "pieces of 4096": lambda: fixed(files, 4096),
                "64": lambda: fixed(files, 64) if files < 400000 * 64 else None, "shrinking": lambda: shrinking(files)}
        for alike in (True, False):
            row = []
            for name, pieces in ways.items():
                seeds = (1, 2, 3) if name == "shrinking" else (1,)
                runs = [simulate(files, nodes, random.Random(seed), alike, pieces()) for seed in seeds]
                worst = max(time for time, _ in runs)
                bad |= name == "shrinking" and worst > 1.05
                row.append(f"{name} {worst:.2f} ({runs[0][1]})")
            print(f"{files:>10} files, {nodes:>4} nodes, {'alike' if alike else 'one slow':>8}: {', '.join(row)}")
    return 1 if bad and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
