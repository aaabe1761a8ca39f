#!/usr/bin/env python3
"""The model of docs/petsc.md: what a distributed product takes on 10 to 10,000 ranks. Prints its table.

A rank owns a cube of s^3 nodes, with 6 (7-point) or 26 (27-point) neighbours.
"""
BANDWIDTH = 5e9     # bytes per second and rank from memory: 200 GB/s of a node shared by 40 ranks
CACHED = 20e9       # from a cache of its own, where the rank's part fits
CACHE = 1.5e6       # bytes
LATENCY = 2e-6      # seconds per message
NETWORK = 0.6e9     # bytes per second and rank: 25 GB/s of a node shared by 40 ranks
CSR, WEFT = 12, 9   # bytes per nonzero: AIJ's, and of sell or bro-sell

PROBLEMS = {"7-point Laplacian": dict(neighbours=6, unknowns=1), "elasticity, 27 points x 3": dict(neighbours=26, unknowns=3)}


def parts(s, neighbours, unknowns):
    """(rows, nonzeros of the diagonal block, of the off-diagonal one, bytes of the halo)."""
    rows = s**3 * unknowns
    if neighbours == 6:
        inside, every, halo = 7 * s**3 - 6 * s**2, 7 * s**3, 6 * s**2
    else:
        inside, every, halo = (3 * s - 2) ** 3, 27 * s**3, (s + 2) ** 3 - s**3
    return rows, inside * unknowns**2, (every - inside) * unknowns**2, 8 * halo * unknowns


def seconds(s, problem, bytes_per_nonzero):
    """(product, its diagonal block, halo, off-diagonal block)."""
    rows, inside, outside, halo_bytes = parts(s, **problem)
    moved = inside * bytes_per_nonzero + 16 * rows
    local = moved / (CACHED if moved < CACHE else BANDWIDTH)
    halo = problem["neighbours"] * LATENCY + halo_bytes / NETWORK
    off = outside * CSR / (CACHED if moved < CACHE else BANDWIDTH)
    return max(local, halo) + off, local, halo, off


def in_words(value):
    return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} us"


def main():
    print("| problem, rows in all | ranks | nodes per side, s | halo, kB per rank | messages per rank | diagonal block | halo | off-diagonal block | off-diagonal of all nonzeros | product, AIJ's 12 bytes | Weft's 9 |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, problem in PROBLEMS.items():
        for ranks in (10, 100, 1000, 10000):
            total = 4.096e6 if problem["unknowns"] == 1 else 3 * 4.096e6
            s = (total / problem["unknowns"] / ranks) ** (1 / 3)
            _, inside, outside, halo_bytes = parts(s, **problem)
            product, local, halo, off = seconds(s, problem, WEFT)
            print(f"| {name}, {total / 1e6:.1f} million | {ranks:,} | {s:.0f} | {halo_bytes / 1e3:.1f} | {problem['neighbours']} | {in_words(local)} | {in_words(halo)} "
                  f"| {in_words(off)} | {100 * outside / (inside + outside):.0f} % | {in_words(seconds(s, problem, CSR)[0])} | {in_words(product)} |")


if __name__ == "__main__":
    main()
