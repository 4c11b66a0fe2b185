"""Measures sweeps on a cluster of this machine: what they cost per output, what a task costs, and two workers beside one.

    python tests/bench_cluster.py [workers | costs]

It prints tables in Markdown, as python/README.md has them. Seconds of a machine that others use are worth what its load
says: runs to be compared are interleaved, and seconds of processors depend on it less.
"""

import multiprocessing
import os
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import distributed

import roundoff
from roundoff import _sweeps, cluster

K, ROUNDS = 16, 3
# A bound that is told before the product. Those that read the sums of a run are tested product by product, and cost as much
# as a hundred of it.
BOUND = "truncated-random-data"


def timed(call):
    """Returns the seconds that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def local(workers):
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", worker_dashboard_address=None, silence_logs=50)


def plan(outputs, k=K, m=1024):
    """Returns a plan of about so many outputs: products of m × k and k × m on one device, beside one bound."""
    seeds = range(1, max(2, round(outputs / m**2) + 1))
    return cluster.Sweep(devices="hopper", dist="N(0,1)", m=m, n=m, k=k, seeds=seeds, bounds=BOUND, ranges=False)


def processor_seconds(client):
    """Returns the seconds of processors that all workers have used."""
    return sum(client.run(lambda: sum(os.times()[:2])).values())


def efficiency(one, two):
    """Returns the seconds, and those of processors, of sweeps by one worker and by two, in turns: four shards of some
    seconds each."""
    p = plan(8 * 1024**2, k=4096)
    found = {1: [], 2: []}
    for _ in range(ROUNDS):
        for n, client in ((1, one), (2, two)):
            before = processor_seconds(client)
            wall = timed(lambda: cluster.sweep(p, client=client, shards=4))
            found[n].append((wall, processor_seconds(client) - before))
    return found


def computed(question, name):
    """Computes a shard on one core."""
    roundoff.threads(1)
    return len(_sweeps.shard(question, name, lambda: False))


def plainly():
    """Returns the efficiency of two processes without Dask, with the same shards in turns: what this machine has to give."""
    question, names = plan(8 * 1024**2, k=4096).question(), [f"{i}/4" for i in range(1, 5)]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn) as one, ProcessPoolExecutor(2, spawn) as two:
        for pool in (one, two):
            list(pool.map(computed, [question] * 4, [f"{i}/1000" for i in range(1, 5)]))
        for _ in range(ROUNDS):
            t1, t2 = (timed(lambda: list(pool.map(computed, [question] * 4, names))) for pool in (one, two))
            yield t1 / t2 / 2


def overhead(one):
    """Returns the seconds that a shard costs beside what it computes: 100 shards in place of one, without any draw."""
    p = plan(1, k=1, m=1)
    cluster.sweep(p, client=one, shards=1)
    few, many = (statistics.median(timed(lambda: cluster.sweep(p, client=one, shards=n)) for _ in range(ROUNDS)) for n in (1, 101))
    return (many - few) / 100


def workers(one, two):
    found = efficiency(one, two)
    (t1, c1), (t2, c2) = ([statistics.median(x) for x in zip(*found[n])] for n in (1, 2))
    ratios = [x[0] / y[0] / 2 for x, y in zip(found[1], found[2])]
    task, plain = overhead(one), list(plainly())
    print("| | |\n|---|--:|")
    print(f"| one worker, and two, 4 shards, {ROUNDS} times in turns | {t1:.1f} s and {t2:.1f} s, of processors {c1:.1f} s and {c2:.1f} s |")
    print(f"| efficiency of two workers | {statistics.median(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f} |")
    print(f"| efficiency of two processes without Dask | {statistics.median(plain):.2f}, from {min(plain):.2f} to {max(plain):.2f} |")
    print(f"| a shard without draws | {task * 1e3:.0f} ms |\n")


def costs(one, two):
    found = []
    for outputs, k in [(10**6, K), (10**7, K), (10**8, K), (10**9, K), (10**7, 4096)]:
        before = processor_seconds(two)
        swept = []
        wall = timed(lambda: swept.append(cluster.sweep(plan(outputs, k), client=two)))
        made = sum(r.outputs for r in swept[0].rows if r.bound == "error")
        found.append((made, k, wall, processor_seconds(two) - before))
    print("| outputs | K | seconds, two workers | seconds of processors | microseconds of processors per output |\n|--:|--:|--:|--:|--:|")
    for made, k, wall, used in found:
        print(f"| {made:.0e} | {k} | {wall:.1f} | {used:.1f} | {1e6 * used / made:.2f} |")
    each = found[-1][3] / found[-1][0]
    print("\n| outputs at K = 4096 | hours of one core | of 64 cores | of 1024 cores |\n|--:|--:|--:|--:|")
    for power in (6, 9, 12):
        hours = each * 10.0**power / 3600
        print(f"| 1e{power} | {hours:.2g} | {hours / 64:.2g} | {hours / 1024:.2g} |")


def main(what):
    load = os.getloadavg()[0]
    with local(1) as a, local(2) as b, distributed.Client(a, set_as_default=False) as one, distributed.Client(b, set_as_default=False) as two:
        for client in (one, two):
            cluster.sweep(plan(1), client=client)
        for part in (workers, costs):
            if what in ("", part.__name__):
                part(one, two)
    print(f"\nPython {sys.version.split()[0]}, Dask {distributed.__version__}, {os.cpu_count()} cores, vector instructions {roundoff.version()['vector']}, "
          f"load {load:.0f} before and {os.getloadavg()[0]:.0f} after")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:] or [""])
