"""What the signature files offer, and what to look for in each kind of log because of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rankready import catalog
from rankready.kind.signature import Fault, LogCode, Role, Signature, Stream
from rankready.runs.why_select import Sieve

if TYPE_CHECKING:
    from rankready.runs.why_folder import Source

ANYWHERE = (b"[ERROR]", b"Event id", b"event_id")
GATES = (b"HCCL(", b"TLS SWITCH")
LATE_ROLES = (Role.HEARTBEAT, Role.FACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Everything that the signature files offer."""

    signatures: tuple[Signature, ...]
    faults: dict[str, Fault]
    codes: dict[str, LogCode]


@cache
def catalogue() -> Catalogue:
    """Read the signature files, once."""
    return Catalogue(
        signatures=tuple(catalog.offered("signatures", "SIGNATURES", Signature)),
        faults={f.kind: f for f in catalog.offered("signatures", "FAULTS", Fault)},
        codes={c.code: c for c in catalog.offered("signatures", "CODES", LogCode)},
    )


def sieve(source: Source) -> Sieve:
    """Say what to look for in a file, by what it is."""
    name = source.path.name
    return sieve_of(
        source.stream, run="/run/" in f"/{source.file}" and name.startswith("plog"), host=name.startswith("plog")
    )


@cache
def sieve_of(stream: Stream, *, run: bool = False, host: bool = False) -> Sieve:
    """Say what to look for in a stream; ``host``: a host-side Ascend log, ``run``: one with the bulk of INFO lines."""
    mine = [s for s in catalogue().signatures if stream in s.streams]
    match stream:
        case Stream.HOST:
            late = {s.literal.encode() for s in mine if not s.early and s.literal and s.role in LATE_ROLES}
            early = {s.literal.encode() for s in mine if s.early}
            anywhere = (b"[ERROR]",) if run else ANYWHERE
            gates = (b"HCCL(",) if host else GATES
            return Sieve(anywhere=anywhere, gates=gates, early=tuple(sorted(early)), late=tuple(sorted(late)))
        case Stream.OUTPUT:
            words: tuple[bytes, ...] = (
                b"[ERROR]",
                b"rror:",
                b"ERROR",
                b"EI0",
                b"EJ0",
                b"EZ",
                b"ignal",
                b"No space",
                b"Watchdog",
                b"waiting for",
            )
            return Sieve(anywhere=words, blocks=(b"Traceback (most recent call last)",), ends=True, whole=True)
        case Stream.LAUNCHER:
            words = (
                b"exitcode",
                b"Sending process",
                b"Root Cause",
                b"rank      :",
                b"time      :",
                b"timed out",
                b"Failed",
            )
            return Sieve(anywhere=words, ends=True, whole=True)
    return Sieve(anywhere=tuple(sorted({s.literal.encode() for s in mine if s.literal} | {b"Event id", b"event_id"})))
