"""A rank table as bytes: the same members give the same bytes (facts/launch 1.7)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankready.model.addressing import Address

Leaves = dict[str, str]


class Form(StrEnum):
    """The layouts that we write."""

    PLAIN = "1.0"
    SUPER_POD = "1.2"
    GROUP_LIST = "group_list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One device: its physical id, the address that it carries, its super device id (A3)."""

    device: int
    address: Address
    sdid: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One server. ``name``: its pod_name in the old template; ``host``: its host_ip, where HCCL makes use of one."""

    server_id: str
    name: str
    seats: tuple[Seat, ...]
    host: Address | None = None
    pod: str = ""


def write(members: Sequence[Member], form: Form) -> bytes:
    """Write a table: ranks server by server in the order given, on each by rising device id; ``completed``.

    Super pods are brought together: theirs is the order of their first servers.
    """
    match form:
        case Form.GROUP_LIST:
            table = _old(sorted(members, key=lambda m: m.server_id))
        case Form.SUPER_POD:
            pods = {name: n for n, name in reversed(tuple(enumerate(m.pod for m in members)))}
            table = _plain(sorted(members, key=lambda m: pods[m.pod]), form)
        case Form.PLAIN:
            table = _plain(members, form)
    return (json.dumps(table, indent=1, ensure_ascii=True) + "\n").encode("ascii")


def _plain(members: Sequence[Member], form: Form) -> dict[str, object]:
    ranks = count()
    table: dict[str, object] = {
        "status": "completed",
        "version": form.value,
        "server_count": str(len(members)),
        "server_list": [_server(m, ranks, form) for m in members],
    }
    if form is Form.SUPER_POD:
        pods = dict.fromkeys(m.pod for m in members)
        table["super_pod_list"] = [
            {"super_pod_id": pod, "server_list": [{"server_id": m.server_id} for m in members if m.pod == pod]}
            for pod in pods
        ]
    return table


def _server(member: Member, ranks: Iterator[int], form: Form) -> dict[str, object]:
    head: dict[str, object] = {"server_id": member.server_id}
    if member.host is not None:
        head["host_ip"] = str(member.host)
    seats = sorted(member.seats, key=lambda s: s.device)
    return {**head, "device": [_device(s, next(ranks), form) for s in seats]}


def _device(seat: Seat, rank: int, form: Form) -> Leaves:
    leaves = {"device_id": str(seat.device), "device_ip": str(seat.address)}
    if form is Form.SUPER_POD and seat.sdid is not None:
        leaves["super_device_id"] = str(seat.sdid)
    return {**leaves, "rank_id": str(rank)}


def _old(members: Sequence[Member]) -> dict[str, object]:
    """HCCL ranks the old template by sorted server_id, then device_id: so it is written in that order."""
    devices = sum(len(m.seats) for m in members)
    return {
        "status": "completed",
        "group_count": "1",
        "group_list": [
            {
                "group_name": "hccl_world_group",
                "instance_count": str(len(members)),
                "device_count": str(devices),
                "instance_list": [_instance(m) for m in members],
            }
        ],
    }


def _instance(member: Member) -> dict[str, object]:
    seats = sorted(member.seats, key=lambda s: s.device)
    devices = [{"device_id": str(s.device), "device_ip": str(s.address)} for s in seats]
    return {"pod_name": member.name, "server_id": member.server_id, "devices": devices}
