"""What a run proved, so that anyone can check the claim from the file alone (facts/mesh 12)."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from rankready.mesh.coverage import coverage, settled_rows, unmeasured
from rankready.mesh.ledger import PACKETS
from rankready.mesh.probe import Mode
from rankready.mesh.schedule import Terms, rounds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankready.mesh.ledger import Block, Ledger
    from rankready.mesh.reach import Group
    from rankready.model.cluster import Cluster

VERSION = 1
_MOST_BYTES = 64 << 20  # of one unpacked table: 4,096 servers need 2 MB
_COUNTS = ("planned", "proven", "connected", "failed")

Json = dict[str, Any]
Rows = list[int]


def certificate(ledger: Ledger, *, began: str, ended: str) -> Json:
    """Return the statement: who, under which plan, which calls passed, when; with digests of plan, results and all.

    ``complete``: every planned call has an answer and the plan holds all pairs. Calls that were never made are counted
    by their reason. Times are UTC, ISO 8601.
    """
    plan, terms = ledger.plan, ledger.plan.terms
    covered = coverage(plan, ledger)
    rails = [rail for rail, groups in enumerate(plan.rails) for _ in groups]
    groups = [_group(plan.cluster, rail, block) for rail, block in zip(rails, ledger.blocks, strict=True)]
    results = [_results(*rows) for rows in settled_rows(ledger)]
    said: Json = {
        "version": VERSION,
        "cluster": plan.cluster.name,
        "generation": plan.cluster.generation.value,
        "topology": plan.cluster.topology.value,
        "mode": terms.mode.value,
        "sparse_k": terms.sparse_k,
        "per_host": terms.per_host,
        "leaf": terms.leaf,
        "packets_a_call": PACKETS,
        "began": began,
        "ended": ended,
        "servers": [s.name for s in plan.cluster.servers],
        "groups": groups,
        "plan_digest": _digest([terms.mode.value, terms.sparse_k, terms.per_host, terms.leaf, groups]),
        "rounds": len(plan.steps),
        **{count: getattr(covered, count) for count in _COUNTS},
        "excluded": [{"pairs": e.pairs, "rule": e.rule.en} for e in plan.excluded],
        "not_measured": dict(unmeasured(ledger)),
        "packets": ledger.packets,
        "complete": covered.unmeasured == 0 and _is_all(terms, [len(b.group) for b in ledger.blocks]),
        "results": results,
        "results_digest": _digest(results),
    }
    return {**said, "digest": _digest(said)}


def faults(said: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is wrong with a certificate, recomputed from itself alone; empty: it holds."""
    try:
        return tuple(_faults(said))
    except (KeyError, TypeError, ValueError, IndexError, zlib.error, binascii.Error, AttributeError) as error:
        return (f"it can't be read: {type(error).__name__} {error}",)


def _faults(said: Mapping[str, Any]) -> list[str]:
    if said["version"] != VERSION:
        return [f"version {said['version']!r}, known is {VERSION}"]
    terms = Terms(mode=Mode(said["mode"]), per_host=said["per_host"], sparse_k=said["sparse_k"], leaf=said["leaf"])
    return [*_digests(said), *_counts(said, terms)]


def _digests(said: Mapping[str, Any]) -> Iterator[str]:
    if said["digest"] != _digest({key: value for key, value in said.items() if key != "digest"}):
        yield "its digest differs"
    if said["plan_digest"] != _digest([said[key] for key in ("mode", "sparse_k", "per_host", "leaf", "groups")]):
        yield "the plan's digest differs"
    if said["results_digest"] != _digest(said["results"]):
        yield "the results' digest differs"


def _counts(said: Mapping[str, Any], terms: Terms) -> Iterator[str]:
    sizes = [len(group["devices"]) for group in said["groups"]]
    numbers = [int(group["rail"]) for group in said["groups"]]
    rails: dict[int, list[range]] = {}
    for rail, size in zip(numbers, sizes, strict=True):
        rails.setdefault(rail, []).append(range(size))
    if said["rounds"] != len(rounds_of(tuple(tuple(rails[rail]) for rail in sorted(rails)), terms)):
        yield "the plan has another number of rounds"
    counts: Counter[str] = Counter()
    for where, result in zip(zip(numbers, sizes, strict=True), said["results"], strict=True):
        wrong = _recount(terms, where, result, counts)
        yield from [f"rail {where[0]}: {wrong}"] if wrong else []
    yield from (
        f"{count} is {counts[count]}, said is {said[count]}" for count in _COUNTS if counts[count] != said[count]
    )
    open_, reasons = counts["planned"] - sum(counts[c] for c in _COUNTS[1:]), sum(said["not_measured"].values())
    if reasons != open_:
        yield f"{open_} calls have no answer, reasons are given for {reasons}"
    if said["complete"] is not (open_ == 0 and _is_all(terms, sizes)):
        yield f"complete is said to be {said['complete']}"


def _recount(terms: Terms, where: tuple[int, int], result: Mapping[str, Any], counts: Counter[str]) -> str:
    """Count one group anew; return what can't be: an answer to a call that was not planned, or two to one."""
    rail, size = where
    passed, silent = _unpacked(result["passed"], size), _unpacked(result["silent"], size)
    partly = [0] * size
    for i, j in result["connected"]:
        partly[i] |= 1 << j
    for i in range(size):
        planned = terms.targets(size, i, rail)
        if (passed[i] | silent[i] | partly[i]) & ~planned:
            return f"device {i} has an answer to a call that was not planned"
        if passed[i] & silent[i] or partly[i] & (passed[i] | silent[i]):
            return f"device {i} has two answers to one call"
        counts["planned"] += planned.bit_count()
        counts["proven"] += passed[i].bit_count()
        counts["failed"] += silent[i].bit_count()
        counts["connected"] += partly[i].bit_count()
    return ""


def _is_all(terms: Terms, sizes: Sequence[int]) -> bool:
    """Tell whether the plan holds every pair of its groups."""
    pairs = sum(n * (n - 1) // (1 if terms.mode is Mode.DIRECTED else 2) for n in sizes)
    return 0 < pairs == sum(terms.planned(n) for n in sizes)


def _group(cluster: Cluster, rail: int, block: Block) -> Json:
    return {
        "rail": rail,
        "devices": [str(device) for device in block.group],
        "addresses": _addresses(cluster, block.group),
    }


def _addresses(cluster: Cluster, group: Group) -> list[str]:
    return [str(cluster.addressing[device].interface) for device in group]


def _results(passed: Rows, silent: Rows, partly: Sequence[tuple[int, int]]) -> Json:
    return {"passed": _packed(passed), "silent": _packed(silent), "connected": [list(pair) for pair in sorted(partly)]}


def _packed(rows: Rows) -> str:
    width = (len(rows) + 7) // 8
    return base64.b64encode(zlib.compress(b"".join(row.to_bytes(width, "little") for row in rows), 9)).decode()


def _unpacked(text: str, size: int) -> Rows:
    width = (size + 7) // 8
    data = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), _MOST_BYTES)
    if len(data) != width * size:
        message = f"{len(data)} bytes for {size} devices"
        raise ValueError(message)
    return [int.from_bytes(data[i * width : (i + 1) * width], "little") for i in range(size)]


def _digest(value: object) -> str:
    return sha256(json.dumps(value, separators=(",", ":"), sort_keys=True).encode()).hexdigest()
