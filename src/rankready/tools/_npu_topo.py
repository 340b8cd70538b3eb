"""Reads the matrix of `npu-smi info -t topo` (facts/hccn 10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import unexpected
from rankready.model.observed.chips import Topology
from rankready.model.snapshot import Gap
from rankready.tools._npu_words import payload

if TYPE_CHECKING:
    from rankready.model.command import Reply

_GAP = re.compile(r"\s{2,}")
_LABEL = re.compile(r"(?:NPU|Phy-ID|NIC)\d{1,3}", re.ASCII)
_CELL = re.compile(r"X|HCCS|SYS|PHB|PIX|PXB|SIO|HCCS_SW|UB|NA", re.ASCII)
_AFFINITY = re.compile(r"\d{1,4}(?:-\d{1,4})?(?:,\d{1,4}(?:-\d{1,4})?)*|NA", re.ASCII)
_CPUS = "CPU Affinity"
_LEGEND = "Legend:"


def read_topo(reply: Reply) -> Topology | Gap:
    """Read the matrix: a row for every column in the same order, the same way there and back.

    A3 on arm has no column of CPUs; newer drivers add rows and columns of network cards.
    """
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    end = next((n for n, line in enumerate(said) if line.strip().startswith(_LEGEND)), len(said))
    head = _GAP.split(said[0].strip())
    cpus = head[-1] == _CPUS
    labels = tuple(head[:-1] if cpus else head)
    rows = [_GAP.split(line.strip()) for line in said[1:end]]
    if not labels or not all(_LABEL.fullmatch(label) for label in labels):
        return unexpected(said)
    if tuple(row[0] for row in rows) != labels:
        return Gap(
            f"{len(rows)} rows of a matrix of {len(labels)}, or in another order",
            zh=f"{len(labels)} 阶矩阵有 {len(rows)} 行，或顺序不同",
        )
    paths = tuple(tuple(row[1 : len(labels) + 1]) for row in rows)
    rest = tuple(row[len(labels) + 1 :] for row in rows)
    if not _square(paths) or any(len(r) != cpus or not all(_AFFINITY.fullmatch(c) for c in r) for r in rest):
        return unexpected(said[1:])
    return Topology(labels=labels, paths=paths, affinity=tuple(r[0] for r in rest) if cpus else ())


def _square(paths: tuple[tuple[str, ...], ...]) -> bool:
    if any(len(row) != len(paths) or not all(_CELL.fullmatch(cell) for cell in row) for row in paths):
        return False
    return paths == tuple(zip(*paths, strict=True)) and all(row[n] == "X" for n, row in enumerate(paths))
