#!/usr/bin/env python3
"""MatMult by AIJ, PETSc's variants of it and Weft, on all cores: as ranks with a thread each, and as one rank with threads.

    products.py BUILD_FOLDER [--rounds N] [--size laplacian=160] [--size elasticity=40] [--cores 2] [--weak]

The types take turns, `rounds` times, so that what else the machine does meets all of them; the best group of ten products and the median
are reported, and after how many products Weft's first one, which plans, is paid back. --weak scales the problem with the ranks instead of comparing
types. Run it on an idle machine: it says so when it is not.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
AIJ = ["aij", "aijsell", "aijperm", "aijmkl"]


def measure(build, kind, ranks, problem, size):
    """The line that products prints, or None where PETSc lacks the type."""
    folder = build / "integrations/petsc"
    weft = kind == "aijweft"
    options = ["-dll_append", folder / "libweft_petsc.so"] if weft else []
    command = ["mpirun", "--oversubscribe", *(["--bind-to", "none"] if ranks == 1 else ["--bind-to", "core"]), "-n", ranks,
               folder / "products", "-problem", problem, "-n", size, "-mat_type", kind, *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env={**os.environ, **MPI})
    if done.returncode != 0:
        if "Unknown type" in done.stderr + done.stdout:
            return None
        sys.exit(done.stdout + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def best_of(rounds):
    """The round with the best median."""
    return min(rounds, key=lambda one: one["median"])


def compare(build, options, problem, size):
    print(f"\n{problem} on {size}^3")
    print("| type | ranks | nonzeros | ms per product, best median | ms, best | of AIJ on as many cores | first product, ms | paid back after |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    cases = [(kind, options.cores) for kind in [*AIJ, "aijweft"]] + [("aij", 1), ("aijweft", 1)]
    measured = {case: [] for case in cases}
    for _ in range(options.rounds):
        for case in cases:
            found = measure(build, *case, problem, size)
            if found:
                measured[case].append(found)
    reference = best_of(measured["aij", options.cores])["median"]
    for (kind, ranks), rounds in measured.items():
        if not rounds:
            print(f"| {kind} | {ranks} | not in this PETSc | | | | | |")
            continue
        one = best_of(rounds)
        gain = reference - one["median"]
        paid = f"{(one['first'] - one['median']) / gain:.0f} products" if kind == "aijweft" and gain > 0 else ""
        print(f"| {kind} | {ranks} | {one['nonzeros']:,.0f} | {1e3 * one['median']:.2f} | {1e3 * one['best']:.2f} "
              f"| {reference / one['median']:.2f}x | {1e3 * one['first']:.1f} | {paid} |", flush=True)


def weak(build, options, problem, size):
    """As many rows per rank with any number of ranks, as far as the cores go."""
    print(f"\n{problem}, about {size}^3 per rank")
    print("| ranks | rows | AIJ, ms | Weft, ms |")
    print("|--:|--:|--:|--:|")
    for ranks in range(1, options.cores + 1):
        side = round(size * ranks ** (1 / 3))
        found = {kind: best_of([measure(build, kind, ranks, problem, side) for _ in range(options.rounds)]) for kind in ("aij", "aijweft")}
        print(f"| {ranks} | {found['aij']['rows']:,} | {1e3 * found['aij']['median']:.2f} | {1e3 * found['aijweft']['median']:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", action="append", default=[])
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--weak", action="store_true")
    options = parser.parse_args()
    sizes = {"laplacian": 160, "elasticity": 40, **{name: int(size) for name, size in (word.split("=") for word in options.size)}}
    if os.getloadavg()[0] > 0.3:
        print(f"The load is {os.getloadavg()[0]:.1f}: these numbers are provisional.")
    for problem, size in sizes.items():
        (weak if options.weak else compare)(options.build.resolve(), options, problem, size)


if __name__ == "__main__":
    main()
