"""The shape of one rule about rank tables, and what it says of a place in the file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rankready.model.finding import Severity
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rankready.kind.product import Product
    from rankready.model.cluster import Generation
    from rankready.plan.ranktable.document import Document
    from rankready.plan.ranktable.live import Live
    from rankready.plan.ranktable.table import Card, Machine, Table, Word


class Stage(StrEnum):
    """What a rule needs before it can judge."""

    FILE = "file"
    TABLE = "table"
    LIVE = "live"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Somewhere in the file; ``server`` and ``device`` as the table names them, where it does."""

    line: int | None = None
    path: str = ""
    value: str = ""
    server: str = ""
    device: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One violation: where, and what stands there. ``severity`` and ``hccl`` None: the rule's own.

    ``hccl`` empty: HCCL takes this one without a message, though the rule has a code for others.
    """

    spot: Spot
    message: Text
    severity: Severity | None = None
    hccl: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What is judged: the file, the table in it (None: no table), for which generation, beside what live devices."""

    document: Document
    table: Table | None
    product: Product
    products: Mapping[Generation, Product]
    told: bool = True  # the generation was told, not guessed
    live: Live | None = None
    beside: tuple[Document, ...] = ()  # the same table as other servers have it


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. ``hccl``: the code that HCCL would have ended with; empty: ``silent`` (no message at all) or none.

    ``tokens`` are words of HCCL's log by which its refusal can be found again (facts/launch 1.5).
    """

    code: str
    name: str
    title: Text
    matters: Text
    mend: Text
    judge: Callable[[Sheet], Iterator[Mark]]
    unknown: Callable[[Sheet], Iterator[tuple[Spot, str]]] | None = None  # where it can't judge, and why
    stage: Stage = Stage.TABLE
    severity: Severity = Severity.ERROR
    hccl: str = ""
    tokens: str = ""
    silent: bool = False

    def ends_with(self, one: Mark) -> str:
        """Return HCCL's code for a violation. What is only a note or a warning under a rule of errors, HCCL accepts."""
        if one.hccl is not None:
            return one.hccl
        milder = one.severity is not None and one.severity is not self.severity
        return "" if milder else self.hccl

    def quiet(self, one: Mark) -> bool:
        """Tell whether HCCL takes a violation without any message, although its guide forbids it."""
        return self.silent or one.hccl == ""

    def reaction(self, one: Mark) -> Text:
        """Return what HCCL makes of a violation, in words; empty where there is nothing to say."""
        if self.quiet(one):
            return Text("HCCL accepts it without a message", "HCCL 不报错、静默接受")
        code = self.ends_with(one)
        words = self.tokens if code or not self.hccl else ""
        said = " ".join(p for p in (code, f"({words})" if words else "") if p)
        return Text(f"HCCL: {said}", f"HCCL：{said}") if said else Text("", "")


def word_spot(word: Word, card: Card | None = None) -> Spot:
    """Point at a value."""
    return Spot(
        line=word.line,
        path=word.path,
        value=word.text,
        server=card.server if card else "",
        device=card.device if card else None,
    )


def card_spot(card: Card) -> Spot:
    """Point at a device."""
    return Spot(line=card.line, path=card.path, server=card.server, device=card.device)


def machine_spot(machine: Machine) -> Spot:
    """Point at a server."""
    return Spot(line=machine.line, path=machine.path, server=machine.server_id.text if machine.server_id else "")


def mark(spot: Spot, en: str, zh: str, severity: Severity | None = None) -> Mark:
    """Say what stands at a spot."""
    return Mark(spot=spot, message=Text(en, zh), severity=severity)


NOTE = Severity.NOTE
WARNING = Severity.WARNING
