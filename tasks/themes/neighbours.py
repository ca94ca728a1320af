"""Finds the sets that are worth comparing, by MinHash signatures in an LSH index (Broder 1997; Leskovec et al. 2020).

The cost follows the number of sets, not the number of pairs. With BANDS bands of ROWS rows, a pair of Jaccard index s
is found with probability 1 - (1 - s^ROWS)^BANDS: 99.99 % at 0.5, the limit for themes of different names. What is found
is compared exactly afterwards, so that a chance likeness does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence

BANDS = 70
ROWS = 3
SEED = 1


def candidate_pairs(sets: Sequence[frozenset[str]]) -> list[set[int]]:
    """Return for each set the positions of the others that are probably like it; empty sets are like none."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    held = [position for position, one in enumerate(sets) if one]
    coded = ([feature.encode() for feature in sorted(sets[position])] for position in held)
    signatures = dict(zip(held, MinHash.generator(coded, num_perm=BANDS * ROWS, seed=SEED), strict=True))
    for position, signature in signatures.items():
        index.insert(position, signature)
    return [
        set(index.query(signatures[position])) - {position} if position in signatures else set()
        for position in range(len(sets))
    ]
