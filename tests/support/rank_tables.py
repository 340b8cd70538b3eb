"""Rank tables for tests: the reference ones, made-up clusters of any size, and ways to break them."""

from __future__ import annotations

import json
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from rankready import catalog
from rankready.kind.product import Product
from rankready.model.cluster import Generation
from rankready.plan.ranktable import judge
from rankready.plan.ranktable.document import read_document
from rankready.plan.ranktable.writer import Form, Member, Seat

if TYPE_CHECKING:
    from rankready.plan.ranktable.document import Document
    from rankready.plan.ranktable.rule import Sheet

PRODUCTS = {p.generation: p for p in catalog.offered("products", "PRODUCT", Product)}


def page(
    data: bytes, generation: Generation | None = None, name: str = "t.json", *, beside: tuple[Document, ...] = ()
) -> Sheet:
    """What is judged of these bytes."""
    return judge.sheet(read_document(name, data), PRODUCTS, generation=generation, beside=beside)


def said(data: bytes, generation: Generation | None = None, name: str = "t.json") -> dict[str, str]:
    """Rules that found something, with the worst outcome of each: notes are ``pass``."""
    order = ("pass", "warn", "unknown", "fail")
    found: dict[str, str] = {}
    for verdict in judge.verdicts(page(data, generation, name)):
        if verdict.findings:
            found[verdict.code] = max(found.get(verdict.code, "pass"), verdict.outcome.value, key=order.index)
    return found


def word(data: bytes, generation: Generation | None = None, name: str = "t.json") -> str:
    """Ok, warn or invalid."""
    return judge.word(judge.verdicts(page(data, generation, name)))


def members(generation: Generation, servers: int, devices: tuple[int, ...], *, per_pod: int = 0) -> tuple[Member, ...]:
    """Servers with the generation's addresses; ``per_pod`` servers share a super pod (0: none)."""
    product = PRODUCTS[generation]
    made = []
    for number in range(servers):
        seats = tuple(
            Seat(
                device=d,
                address=IPv4Address(f"10.{60 + product.segment_of(d)}.{number // 12}.{number % 12 * 16 + d + 1}"),
                sdid=number * 65536 + d if per_pod else None,
            )
            for d in devices
        )
        made.append(
            Member(
                server_id=f"172.20.{number // 200}.{number % 200 + 1}",
                name=f"server{number + 1}",
                seats=seats,
                host=None if generation is Generation.A1 else IPv4Address(f"172.20.{number // 200}.{number % 200 + 1}"),
                pod=str(number // per_pod) if per_pod else "",
            )
        )
    return tuple(made)


A1_SETS = ((0,), (5,), (0, 1), (2, 3), (4, 7), (0, 1, 2, 3), (4, 5, 6, 7), tuple(range(8)))


@st.composite
def tables(draw: st.DrawFn) -> tuple[Generation, Form, tuple[Member, ...]]:
    """Any cluster that a table can be written for."""
    generation = draw(st.sampled_from(list(Generation)))
    form = draw(
        st.sampled_from(
            {
                Generation.A1: [Form.PLAIN, Form.GROUP_LIST],
                Generation.A2: [Form.PLAIN],
                Generation.A3: [Form.PLAIN, Form.SUPER_POD],
            }[generation]
        )
    )
    every = PRODUCTS[generation].devices
    devices = (
        draw(st.sampled_from(A1_SETS))
        if generation is Generation.A1
        else tuple(sorted(draw(st.sets(st.sampled_from(every), min_size=1))))
    )
    per_pod = draw(st.integers(1, 3)) if form is Form.SUPER_POD else 0
    servers = draw(st.integers(1, 6)) * (per_pod or 1)
    return generation, form, members(generation, servers, devices, per_pod=per_pod)


def parsed(data: bytes) -> dict[str, Any]:
    """The table as Python has it."""
    found: dict[str, Any] = json.loads(data)
    return found


def dumped(table: object) -> bytes:
    """A table as a file's bytes."""
    return json.dumps(table, indent=1).encode()
