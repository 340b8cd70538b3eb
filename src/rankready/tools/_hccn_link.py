"""Reads the port of a device: link, health, MAC, MTU, speed, duplex, FEC, history, holder (facts/hccn 3.1, 3.3)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from rankready.kind.reading import unexpected
from rankready.model.observed.device import (
    DeviceHeld,
    Duplex,
    Fec,
    Health,
    Link,
    LinkHistory,
    LinkState,
    Mac,
    Mtu,
    NetdevStatus,
    NetHealth,
    Speed,
)
from rankready.model.snapshot import Gap
from rankready.tools._hccn_words import asked_device, one, payload

if TYPE_CHECKING:
    from rankready.model.command import Reply

_LINK = re.compile(r"link status:\s*(UP|DOWN|PARTIAL LINK)\s*", re.ASCII)
_HEALTH = re.compile(r"net health status:\s*(\S(?:.*\S)?)\s*", re.ASCII)
_MAC = re.compile(r"mac addr:\s*([0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5})\s*", re.ASCII)
_MTU = re.compile(r"mtu:\s*(\d{2,5})\s*", re.ASCII)
_SPEED = re.compile(r"Speed:\s*(?:(\d{1,7}) ?Mb/s|Unknown!)\s*", re.ASCII)
_DUPLEX = re.compile(r"Duplex:\s*(Full|Half|Unknown!)\s*", re.ASCII)
_FEC = re.compile(r"fec mode:\s*(rs|no|auto) FEC mode\s*", re.ASCII)
_HELD = re.compile(r"device hccp process:\s*(exist|not exist)\s*", re.ASCII)
_OLD_SPELLING = {"Socket failed": "Socket fail"}  # older A1 drivers (facts/hccn 3.3)
_MTU_BOUNDS = range(68, 9703)

_TAGGED = re.compile(r"\[(?:devid|device) (\d{1,2})\](.*)", re.ASCII)
_UPS = re.compile(r"link up count\s*:\s*(\d{1,10})\s*", re.ASCII)
_DOWNS = re.compile(r"link down count\s*:\s*(\d{1,10})\s*", re.ASCII)
_ASCTIME = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"
_NOW = re.compile(rf"current time\s*:\s*{_ASCTIME}\s*", re.ASCII)
_RECORDS = re.compile(r"link change records\s*:\s*(NA)?\s*", re.ASCII)
_RECORD = re.compile(rf"\s+({_ASCTIME})\s+LINK (UP|DOWN)\s*", re.ASCII)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MOST_RECORDS = 10
_NETDEV = re.compile(r"Netdev status:\s*Settings for ([\w.-]+):\s*", re.ASCII)
_SETTING = re.compile(r"\t([A-Z][\w -]*):(?: (.*))?")


def read_link(reply: Reply) -> Link | Gap:
    """Read `-link -g`."""
    match = one(reply, _LINK, closed=True)
    return match if isinstance(match, Gap) else Link(state=LinkState(match[1]))


def read_health(reply: Reply) -> NetHealth | Gap:
    """Read `-net_health -g`; "Unknown" and any value outside the driver's list are Gaps."""
    match = one(reply, _HEALTH, closed=True)
    if isinstance(match, Gap):
        return match
    value = _OLD_SPELLING.get(match[1], match[1])
    known = {h.value: h for h in Health}
    return NetHealth(status=known[value]) if value in known else unexpected(match[0])


def read_mac(reply: Reply) -> Mac | Gap:
    """Read `-mac -g`; all-zero is no address."""
    match = one(reply, _MAC, closed=True)
    if isinstance(match, Gap):
        return match
    mac = match[1].lower()
    return unexpected(match[0]) if mac == "00:00:00:00:00:00" else Mac(address=mac)


def read_mtu(reply: Reply) -> Mtu | Gap:
    """Read `-mtu -g`: 68 to 9702 bytes."""
    match = one(reply, _MTU)
    if isinstance(match, Gap):
        return match
    size = int(match[1])
    return (
        Mtu(size=size)
        if size in _MTU_BOUNDS
        else Gap(f"an MTU of {size} is outside 68 to 9702", zh=f"MTU {size} 不在 68 至 9702 之内")
    )


def read_speed(reply: Reply) -> Speed | Gap:
    """Read `-speed -g`; a speed that the device itself calls unknown is a fact (usually the link is down)."""
    match = one(reply, _SPEED, closed=True)
    return match if isinstance(match, Gap) else Speed(mbit_s=int(match[1]) if match[1] else None)


def read_duplex(reply: Reply) -> Duplex | Gap:
    """Read `-duplex -g`."""
    match = one(reply, _DUPLEX, closed=True)
    return match if isinstance(match, Gap) else Duplex(full={"Full": True, "Half": False}.get(match[1]))


def read_fec(reply: Reply) -> Fec | Gap:
    """Read `-fec -g`; new drivers answer that the device can't tell, with exit 0."""
    match = one(reply, _FEC, closed=True)
    return match if isinstance(match, Gap) else Fec(mode=match[1])


def read_held(reply: Reply) -> DeviceHeld | Gap:
    """Read `-process -g`: "exist" means that a job holds the device's network."""
    match = one(reply, _HELD, closed=True)
    return match if isinstance(match, Gap) else DeviceHeld(held=match[1] == "exist")


def read_history(reply: Reply) -> LinkHistory | Gap:
    """Read `-link_stat -g`: at most ten changes, newest first; an old driver does not count downs.

    Whole when it lists as many changes as it counts, or ten.
    """
    said = _untagged(reply)
    if isinstance(said, Gap):
        return said
    ups = _UPS.fullmatch(said[1]) if len(said) > 1 else None
    if not _NOW.fullmatch(said[0]) or ups is None:
        return unexpected(said)
    downs = _DOWNS.fullmatch(said[2]) if len(said) > 2 else None  # noqa: PLR2004  (the third line)
    changes = _changes(said[3 if downs else 2 :])
    if isinstance(changes, Gap):
        return changes
    history = LinkHistory(ups=int(ups[1]), downs=int(downs[1]) if downs else None, changes=changes)
    return (
        history
        if _adds_up(history)
        else Gap(
            f"{len(changes)} link changes listed, more or fewer than counted",
            zh=f"列出 {len(changes)} 次链路变化，与计数不符",
        )
    )


def read_status(reply: Reply) -> NetdevStatus | Gap:
    """Read `-status -g`: ethtool's words; whole when it ends with the link's state."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    head = _NETDEV.fullmatch(said[0])
    rows = [m for line in said[1:] if (m := _SETTING.fullmatch(line))]
    found = {m[1]: (m[2] or "").strip() for m in rows}
    if head is None or len(rows) != len(said) - 1 or len(found) != len(rows) or not rows:
        return unexpected(said)
    detected = found.get("Link detected")
    if rows[-1][1] != "Link detected" or detected not in ("yes", "no"):
        return Gap("cut off: no state of the link at the end", zh="应答被截断：末尾没有链路状态")
    speed = re.fullmatch(r"(\d{1,7})Mb/s", found.get("Speed", ""), re.ASCII)
    return NetdevStatus(
        iface=head[1],
        detected=detected == "yes",
        mbit_s=int(speed[1]) if speed else None,
        full_duplex={"Full": True, "Half": False}.get(found.get("Duplex", "")),
    )


def _untagged(reply: Reply) -> tuple[str, ...] | Gap:
    """Take the ``[devid N]`` off every line; all must name the device that was asked."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    tagged = [m for line in said if (m := _TAGGED.fullmatch(line))]
    devices = {int(m[1]) for m in tagged}
    asked = asked_device(reply)
    if len(tagged) != len(said) or len(devices) != 1 or (asked is not None and devices != {asked}):
        return unexpected(said)
    return tuple(m[2] for m in tagged)


def _changes(said: tuple[str, ...]) -> tuple[tuple[str, LinkState], ...] | Gap:
    head = _RECORDS.fullmatch(said[0]) if said else None
    records = [m for line in said[1:] if (m := _RECORD.fullmatch(line))]
    if head is None or len(records) != len(said) - 1 or bool(head[1]) == bool(records):
        return unexpected(said)
    moments = [_moment(m[1]) for m in records]
    if moments != sorted(moments, reverse=True):
        return Gap("link changes are not listed newest first", zh="链路变化未按从新到旧排列")
    return tuple((m[1], LinkState(m[2])) for m in records)


def _adds_up(history: LinkHistory) -> bool:
    listed = len(history.changes)
    if history.downs is not None:
        return listed == min(_MOST_RECORDS, history.ups + history.downs)
    states = [state for _, state in history.changes]
    turns = all(a is not b for a, b in pairwise(states))
    return listed == _MOST_RECORDS or (turns and states.count(LinkState.UP) == history.ups)


def _moment(asctime: str) -> tuple[int, int, int, str]:
    _, month, day, clock, year = asctime.split()
    return int(year), _MONTHS.index(month) if month in _MONTHS else -1, int(day), clock
