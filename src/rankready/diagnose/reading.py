"""Selected lines to events: which signature each line has, who wrote it, and when by that host's clock."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from rankready.diagnose.child_errors import is_child_error, moment_of
from rankready.diagnose.event import Event
from rankready.diagnose.headers import header, records
from rankready.diagnose.stamps import stamp
from rankready.diagnose.tracebacks import tracebacks, unprefixed
from rankready.kind.signature import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankready.diagnose.event import Line, Page
    from rankready.kind.signature import Signature

LONGEST = 8192  # characters of a line that are looked at
LONGEST_FIELD = 400
MOST_EVENTS = 4000  # of one file; a file full of one error tells no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """The signatures, by the stream that they stand in."""

    by_stream: Mapping[Stream, tuple[Signature, ...]]

    @staticmethod
    def of(signatures: Sequence[Signature]) -> Book:
        """Sort signatures by stream, in their own order."""
        found: dict[Stream, list[Signature]] = defaultdict(list)
        for signature in signatures:
            for stream in signature.streams:
                found[stream].append(signature)
        return Book(by_stream={s: tuple(v) for s, v in found.items()})

    def matches(self, stream: Stream, text: str) -> Iterator[tuple[Signature, Mapping[str, str]]]:
        """Yield every signature that a text has, with what it tells."""
        for signature in self.by_stream.get(stream, ()):
            if signature.literal and signature.literal not in text:
                continue
            if match := signature.pattern.search(text):
                yield signature, {k: v[:LONGEST_FIELD] for k, v in match.groupdict().items() if v is not None}


def read(pages: Sequence[Page], book: Book, year: int) -> tuple[Event, ...]:
    """Read all pages; ``at`` is still in the host's printed clock. Pages in, events in the same order out."""
    return tuple(event for page in pages for event in _page(page, book, year))


def _page(page: Page, book: Book, year: int) -> Iterator[Event]:
    yield from islice(_events(page, book, year), MOST_EVENTS)


def _events(page: Page, book: Book, year: int) -> Iterator[Event]:
    if page.stream is Stream.OUTPUT:
        yield from _output(page, book, year)
        return
    last: float | None = None
    for line in page.lines:
        for text in records(line.text[:LONGEST]):
            moment = _moment(text, year)
            last = moment if moment is not None else last
            part = replace(line, text=text)
            yield from _line(page, part, book, (page.stream, last))


def _output(page: Page, book: Book, year: int) -> Iterator[Event]:
    """Read what a rank printed: its tracebacks, its own words, and host log lines that were sent there."""
    told = moment_of(page) if is_child_error(page) else {}
    for line in () if is_child_error(page) else page.lines:
        for text in records(line.text[:LONGEST]):
            bare = unprefixed(text)
            stream = Stream.HOST if header(text) else Stream.OUTPUT
            yield from _line(page, replace(line, text=bare), book, (stream, _moment(bare, year)))
    for found in tracebacks(page.lines):
        for signature, fields in book.matches(Stream.OUTPUT, found.marked):
            more = {**fields, **told, "type": found.type, "message": found.message, "where": found.frame}
            yield Event(
                signature=signature,
                line=found.last,
                host=page.host,
                stream=Stream.OUTPUT,
                rank=page.rank,
                pid=page.pid,
                fields=more,
            )


def _line(page: Page, line: Line, book: Book, read_as: tuple[Stream, float | None]) -> Iterator[Event]:
    stream, moment = read_as
    head = header(line.text) if stream in (Stream.HOST, Stream.DEVICE) else None
    own = page.stream is Stream.OUTPUT
    for signature, fields in book.matches(stream, line.text):
        pid = page.pid if page.pid is not None else (head.pid if head and head.pid > 0 else None)
        yield Event(
            signature=signature,
            line=line,
            host=page.host,
            stream=page.stream,
            rank=page.rank if own else None,
            pid=pid,
            device=page.device,
            at=moment,
            fields=fields,
        )


def _moment(text: str, year: int) -> float | None:
    head = header(text)
    return stamp(head.moment if head else text, year)
