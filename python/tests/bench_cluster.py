"""Measures sweeps on a cluster of this machine: what they cost per output, what a task costs, and two workers beside one.

    python tests/bench_cluster.py

It prints tables in Markdown, as python/README.md has them. Numbers of a machine that others use are worth what its load
says; runs to be compared are interleaved.
"""

import os
import statistics
import time

import distributed

import roundoff
from roundoff import cluster

K, ROUNDS = 16, 5


def timed(call):
    """Returns the seconds that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def local(workers):
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", worker_dashboard_address=None, silence_logs=50)


def plan(outputs, k=K, m=64):
    """Returns a plan of about so many outputs: products of m × k and k × m on one device."""
    return cluster.Sweep(devices="hopper", dist="U(0,1)", m=m, n=m, k=k, seeds=range(1, max(2, round(outputs / m**2) + 1)), ranges=False)


def processor_seconds(client):
    """Returns the seconds of processors that all workers have used."""
    return sum(client.run(lambda: sum(os.times()[:2])).values())


def efficiency(one, two):
    """Returns how much of the double speed two workers have, from runs of one and of two in turns."""
    p = plan(60_000)
    times = {1: [], 2: []}
    for _ in range(ROUNDS):
        for n, client in ((1, one), (2, two)):
            times[n].append(timed(lambda: cluster.sweep(p, client=client, shards=15)))
    return times


def overhead(one):
    """Returns the seconds that a shard costs beside what it computes: 100 shards in place of one, without any draw."""
    p = plan(1, k=1, m=1)
    cluster.sweep(p, client=one, shards=1)
    few, many = (statistics.median(timed(lambda: cluster.sweep(p, client=one, shards=n)) for _ in range(ROUNDS)) for n in (1, 101))
    return (many - few) / 100


def main():
    load = os.getloadavg()[0]
    with local(1) as a, local(2) as b, distributed.Client(a, set_as_default=False) as one, distributed.Client(b, set_as_default=False) as two:
        for c in (one, two):
            cluster.sweep(plan(1), client=c)
        times = efficiency(one, two)
        task = overhead(one)
        costs = []
        for outputs, k, m in [(10**4, K, 64), (10**5, K, 64), (10**6, K, 64), (4 * 10**4, 4096, 64)]:
            before = processor_seconds(two)
            swept = []
            wall = timed(lambda: swept.append(cluster.sweep(plan(outputs, k, m), client=two)))
            made = sum(r.outputs for r in swept[0].rows if r.bound == "error")
            costs.append((made, k, wall, processor_seconds(two) - before))
    print(f"Python {'.'.join(map(str, __import__('sys').version_info[:2]))}, Dask {distributed.__version__}, {os.cpu_count()} cores, vector instructions {roundoff.version()['vector']}, load {load:.0f} before and {os.getloadavg()[0]:.0f} after\n")
    t1, t2 = (statistics.median(times[n]) for n in (1, 2))
    ratios = [x / y / 2 for x, y in zip(times[1], times[2])]
    print("| | |\n|---|--:|")
    print(f"| two workers beside one, 15 shards, {ROUNDS} times in turns | {t1:.1f} s and {t2:.1f} s: efficiency {statistics.median(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f} |")
    print(f"| a shard without draws | {task * 1e3:.0f} ms |\n")
    print("| outputs | K | seconds, two workers | seconds of processors | microseconds of processors per output |\n|--:|--:|--:|--:|--:|")
    for made, k, wall, used in costs:
        print(f"| {made:.0e} | {k} | {wall:.1f} | {used:.1f} | {1e6 * used / made:.0f} |")
    each = costs[-1][3] / costs[-1][0]
    print("\n| outputs at K = 4096 | hours of one core | 64 cores | 1024 cores |\n|--:|--:|--:|--:|")
    for power in (6, 9, 12):
        hours = each * 10.0**power / 3600
        print(f"| 1e{power} | {hours:.2g} | {hours / 64:.2g} | {hours / 1024:.2g} |")


if __name__ == "__main__":
    main()
