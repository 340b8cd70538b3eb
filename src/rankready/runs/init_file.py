"""The first cluster.yaml: what was seen, what is a guess and what is missing, in words that a person can edit."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

from rankready.model.text import visible
from rankready.runs.init_guess import seen_words, segments_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.model.addressing import Address
    from rankready.model.cluster import Cluster, Generation, Login
    from rankready.runs.init_look import Look

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,252}")
_BARE = re.compile(r"[A-Za-z0-9./~_-]+")
_POOL = "10.20.0.0/16"


def file_text(cluster: Cluster, looks: Sequence[Look], generation: Generation | None) -> str:
    """Write the file. Remote words stand in comments and quotes only, control characters written out."""
    found = [look for look in looks if not look.reason]
    lines = [
        "# Written by rankready init from what the servers answered. Read it, then: rankready plan",
        "# 由 rankready init 根据各服务器的应答生成。请核对后执行：rankready plan",
        f"cluster: {cluster.name}",
        *_generation_lines(found, generation),
        "topology: switch   # or direct: devices cabled port to port · 直连时改为 direct",
        *_ssh_lines(cluster),
        "servers:",
        *_servers_lines(found),
        *(line for look in looks if look.reason for line in _missing_lines(look)),
        *_plane_lines(found),
    ]
    return "\n".join(lines) + "\n"


def names(looks: Sequence[Look]) -> list[str]:
    """Name servers by their own host names; where those are no names or not unique, by number."""
    own = [look.hostname for look in looks]
    if len(set(own)) == len(own) and all(_NAME.fullmatch(n) for n in own):
        return own
    return [look.server.name for look in looks]


def _generation_lines(looks: Sequence[Look], generation: Generation | None) -> list[str]:
    seen = _comment(seen_words(looks))
    if generation is not None:
        return [f"generation: {generation}   # {seen}"]
    return [
        f"# generation: could not be told from what was seen ({seen});",
        "# fill in a1, a2 or a3 and remove the # · 无法判断代次，请填写 a1、a2 或 a3 并去掉 #",
        "# generation: ",
    ]


def _ssh_lines(cluster: Cluster) -> list[str]:
    login = cluster.servers[0].login
    said = {
        "key": "" if login.key is None else str(login.key),
        "known_hosts": "" if login.known_hosts is None else str(login.known_hosts),
        "jump": login.jump,
    }
    return ["ssh:", *(f"  {key}: {_text(value)}" for key, value in said.items() if value)] if any(said.values()) else []


def _servers_lines(looks: Sequence[Look]) -> list[str]:
    carried = Counter(a for look in looks for a in {a for _, a in look.host_addresses})
    shared = {a for a, count in carried.items() if count > 1}  # container bridges carry one address on every server
    return [
        line
        for name, look in zip(names(looks), looks, strict=True)
        for line in _server_lines(name, look, [a for a in _inside(look) if a not in shared])
    ]


def _server_lines(name: str, look: Look, inside: Sequence[Address]) -> list[str]:
    parts = [f"name: {_text(name)}", f"ssh: {json.dumps(_ssh(look.server.login))}"]
    if len(inside) == 1:
        parts.append(f"address: {json.dumps(str(inside[0]))}")
    if look.server.devices:
        parts.append(f"devices: {json.dumps(_ids(look.server.devices))}")
    counted = Counter(look.chips).most_common()
    told = [look.os, ", ".join(f"{count} × {chip}" for chip, count in counted)]
    lines = [f"  - {{{', '.join(parts)}}}   # {_comment(', '.join(t for t in told if t))}"]
    if len(inside) > 1:
        lines.append(f"    # address inside the cluster, one of · 集群内地址: {_comment(', '.join(map(str, inside)))}")
    if not look.server.devices:
        lines.append("    # no device was seen · 未发现设备")
    return lines + [f"    # {_comment(gap)}" for gap in look.gaps]


def _missing_lines(look: Look) -> list[str]:
    return [
        f"  # did not answer · 无应答: {_comment(look.reason)}",
        f"  # - {{name: {_text(look.server.name)}, ssh: {json.dumps(_ssh(look.server.login))}}}",
    ]


def _inside(look: Look) -> list[Address]:
    """The SSH address where it is one, else what the server's interfaces carry; several are the user's choice."""
    if look.server.address is not None:
        return [look.server.address]
    return [
        address
        for _, address in look.host_addresses
        if address.version == 4 and not address.is_loopback and not address.is_link_local  # noqa: PLR2004  (IP version)
    ]


def _plane_lines(looks: Sequence[Look]) -> list[str]:
    seen = [
        f"  #   {_comment(name)}/{device}: {interface}"
        for name, look in zip(names(looks), looks, strict=True)
        for device, interface in look.addresses.items()
    ]
    head = "  # addresses that devices carry now · 设备当前地址:"
    return ["parameter_plane:", *_plan_lines(looks, seen=bool(seen)), *([head, *seen] if seen else [])]


def _plan_lines(looks: Sequence[Look], *, seen: bool) -> list[str]:
    segments = segments_of(looks)
    if segments is not None:
        return [
            "  # a guess from the addresses that stand there; check it · 由现有地址推测，请核对",
            "  segments:",
            *(f"    - {{network: {json.dumps(str(n))}, positions: {json.dumps(_ids(p))}}}" for n, p in segments),
        ]
    why = "the addresses that stand there fit no plan" if seen else "no device has an address yet"
    zh = "现有地址不成规划" if seen else "设备尚无地址"
    return [
        f"  # a proposal: {why}; take a range that is used nowhere else · 建议值：{zh}，请选用未被占用的网段",
        f"  pool: {_POOL}",
    ]


def _ids(devices: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for device in devices:
        if runs and device == runs[-1][-1] + 1:
            runs[-1].append(device)
        else:
            runs.append([device])
    return ",".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


def _ssh(login: Login) -> str:
    """``str(login)``, with an IPv6 host in brackets where a port follows."""
    if ":" not in login.host or login.port is None:
        return str(login)
    user = f"{login.user}@" if login.user else ""
    return f"{user}[{login.host}]:{login.port}"


def _text(value: str) -> str:
    return value if _BARE.fullmatch(value) and not value[0].isdigit() else json.dumps(value, ensure_ascii=False)


def _comment(words: str) -> str:
    return visible(words)[:300]
