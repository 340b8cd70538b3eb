"""What hccn_tool says when it does not do what it was asked (facts/hccn 2.1, 4).

Texts classify, in both streams together; the exit status counts only as zero or not, because the tool's families of
codes collide in its low byte.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import cut, lines, shown, strange, unended, unexpected
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from rankready.model.command import Reply

BUSY = "lease try again"
"""Stands in every answer that asks to come back soon, on whichever stream, with a small or a capital P."""

SUCCESS = "Cmd executed successfully!"

NOISE = re.compile(r'\[WARNING\] "[^"]*" is not a directory, hccn_tool logs may be lost\.')

_REFUSALS: tuple[tuple[str, GapKind, str], ...] = (
    # Specific before general: of all lines said, the earliest entry of this table wins.
    ("persist", GapKind.DENIED, "the device has the new value, but /etc/hccn.conf was not written: lost at reboot"),
    ("Delete configurations from config file failed", GapKind.DENIED, "old lines stay in /etc/hccn.conf"),
    ("The hccn.conf has no enough space", GapKind.DENIED, "/etc/hccn.conf is full"),
    ("The hccn.conf can't access", GapKind.DENIED, "/etc/hccn.conf is not there or not open to the tool"),
    ("The conf file can't access", GapKind.DENIED, "/etc/hccn.conf is not there or not open to the tool"),
    ("Open file failed, cmd execute failed", GapKind.DENIED, "/etc/hccn.conf can't be opened by the tool"),
    ("Read file failed, cmd execute failed", GapKind.DENIED, "/etc/hccn.conf can't be read by the tool"),
    ("Parsing configurations from config file failed", GapKind.UNKNOWN, "/etc/hccn.conf is malformed for the tool"),
    ("permission denied", GapKind.DENIED, "permission denied: the tool wants the user named root"),
    ("hccn_tool is busy", GapKind.BUSY, "the tool is busy with another caller"),
    ("I2c is busy", GapKind.BUSY, "the optical module's bus is busy"),
    ("Get lock failed", GapKind.BUSY, "the tool's lock is held by another caller"),
    ("The device is occupied", GapKind.BUSY, "the device is occupied by another probe"),
    ("Roce perftest is doing", GapKind.BUSY, "another bandwidth test runs"),
    ("Traceroute is running", GapKind.BUSY, "another traceroute runs"),
    ("optical module initializing", GapKind.BUSY, "the optical module is initialising"),
    ("not supported on this product", GapKind.UNSUPPORTED, "not supported on this product"),
    ("not supported on this optical media", GapKind.UNSUPPORTED, "not supported on this optical medium"),
    ("unsupported on this optical module", GapKind.UNSUPPORTED, "not supported on this optical module"),
    ("does not support IPV6", GapKind.UNSUPPORTED, "the device does not support IPv6"),
    ("does not support bonding", GapKind.UNSUPPORTED, "the device does not support bonding"),
    ("does not support switching fec mode", GapKind.UNSUPPORTED, "the device does not tell or switch its FEC mode"),
    ("The VM does not support", GapKind.UNSUPPORTED, "not supported inside a virtual machine"),
    ("Get invalid major cmd.", GapKind.UNSUPPORTED, "this driver's tool has no such command"),
    ("Get invalid major cmd type", GapKind.DENIED, "the tool does not take this form of command line"),
    ("Get invalid major cmd number", GapKind.DENIED, "the tool does not take this form of command line"),
    ("Get invalid device id", GapKind.DENIED, "no such device id on this server"),
    ("Get invalid input param len", GapKind.DENIED, "an argument is too long for the tool"),
    ("Get unknown option", GapKind.DENIED, "the tool does not know this option"),
    ("Get invalid parameters", GapKind.DENIED, "the tool refused an argument"),
    ("The total count of input parameters is wrong", GapKind.DENIED, "wrong number of arguments for the tool"),
    ("Get invalid enable value", GapKind.DENIED, "the tool refused the value of enable"),
    ("The mac address you configured is invalid", GapKind.DENIED, "the tool refused the MAC address"),
    ("The ip address you configured is invalid", GapKind.DENIED, "the tool refused the address or mask as invalid"),
    ("The ip address configured is conflicted", GapKind.DENIED, "the tool refused the address: reserved or in use"),
    ("segment of configured gateway", GapKind.DENIED, "the gateway lies outside the segment of the device's address"),
    ("segment of configured via", GapKind.DENIED, "the next hop lies outside the segment of the device's address"),
    ("Unable to configure gateway, because ip is not", GapKind.DENIED, "the device has no address yet: set it first"),
    ("Unable to configure IPV6 address", GapKind.DENIED, "the MTU is below 1280, too small for IPv6"),
    ("Can not config broadcast address", GapKind.DENIED, "the tool refused a broadcast address"),
    ("out of the valid range", GapKind.DENIED, "the tool refused a value as out of range"),
    ("Inconsistent address and mask", GapKind.DENIED, "address and mask don't fit each other"),
    ("Can not add or delete default route", GapKind.DENIED, "a default route is set as gateway, not as route"),
    ("FIB table does not exist", GapKind.DENIED, "no such routing table on the device"),
    ("IP route table already exists", GapKind.DENIED, "an entry like this is there already"),
    ("Route already exist in routing table", GapKind.DENIED, "a route like this is there already"),
    ("Route not exist in routing table", GapKind.DENIED, "no such route: nothing to delete"),
    ("Route rows reaches max", GapKind.DENIED, "the device's route table is full"),
    ("number of pfc priority queues exceeds", GapKind.DENIED, "too many lossless priorities"),
    ("number of configuration exceed the limit", GapKind.DENIED, "too many entries of this kind"),
    ("User aborts command", GapKind.DENIED, "the tool asked for a confirmation and got none: nothing changed"),
    (
        "Link up executed, but recovery failed",
        GapKind.UNKNOWN,
        "the link is up, but the configuration was not restored",
    ),
    ("No certificate found", GapKind.UNKNOWN, "no certificate is loaded: the tool does not tell the TLS state"),
    ("The Certificate has expired", GapKind.UNKNOWN, "the certificate has expired"),
    ("no ip was preset", GapKind.UNKNOWN, "the device has no address"),
    ("no gateway was preset", GapKind.UNKNOWN, "the device has no gateway"),
    ("Control link unreachable", GapKind.UNKNOWN, "the optical module can't be read"),
    ("Optical module is not present", GapKind.UNKNOWN, "no optical module is present"),
    ("Link status is down", GapKind.UNKNOWN, "the device's own link is down"),
    ("The device is not exist", GapKind.UNKNOWN, "the device is not present"),
    ("Get device health status failed", GapKind.UNKNOWN, "the device did not become ready"),
    ("The cmd line execute timeout", GapKind.UNKNOWN, "the tool gave up waiting"),
    ("error while loading shared libraries", GapKind.UNKNOWN, "the driver's libraries are not found"),
    ("command not found", GapKind.UNKNOWN, "hccn_tool is not on PATH"),
    ("failed to run command", GapKind.UNKNOWN, "hccn_tool is not on PATH"),
    ("hccn_tool: not found", GapKind.UNKNOWN, "hccn_tool is not on PATH"),
    ("Command execute failed!", GapKind.UNKNOWN, "the device did not carry out the command"),
    ("Cmd execute failed!", GapKind.UNKNOWN, "the tool did not carry out the command"),
)


def refusal(reply: Reply, *, unset: str = "") -> Gap | None:
    """Return why a reply is no plain answer, or None. ``unset`` is the phrase that means "nothing is set" here."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    said = tuple(line for line in lines(reply.both) if not NOISE.fullmatch(line.strip()))
    if unset and any(unset in line for line in said):
        return Gap(f"nothing is set: {shown(said[0])}", GapKind.UNSET)
    if (gap := _named(said)) is not None:
        return gap
    if reply.exit != 0:
        return Gap(f"exit {reply.exit} with words that we don't know: {shown(next(iter(said), ''))}")
    if stderr := tuple(line for line in lines(reply.stderr) if not NOISE.fullmatch(line.strip())):
        return Gap(f"words that we don't know on stderr: {shown(stderr[0])}")
    return None


def payload(reply: Reply, *, unset: str = "", closed: bool = False) -> tuple[str, ...] | Gap:
    """Return the lines of an answer, without noise and blank lines, or why there is none.

    ``closed``: the reader's pattern proves by itself that a line is whole, so the last one may lack its newline.
    """
    if (gap := refusal(reply, unset=unset)) is not None:
        return gap
    said = lines(reply.stdout)
    if said and NOISE.fullmatch(said[0].strip()):
        said = said[1:]
    if not said:
        return Gap("the tool said nothing")
    if not closed and (gap := cut(reply.stdout)) is not None:
        return gap
    return said


def one(reply: Reply, pattern: re.Pattern[str], *, unset: str = "", closed: bool = False) -> re.Match[str] | Gap:
    """Return the match of an answer that is exactly one line, or why there is none."""
    said = payload(reply, unset=unset, closed=closed)
    if isinstance(said, Gap):
        return said
    return (pattern.fullmatch(said[0]) if len(said) == 1 else None) or unexpected(said)


def exactly(reply: Reply, *patterns: re.Pattern[str]) -> tuple[re.Match[str], ...] | Gap:
    """Return the matches of an answer that is exactly these lines in this order, or why there are none."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    found = tuple(m for pattern, line in zip(patterns, said, strict=False) if (m := pattern.fullmatch(line)))
    return found if len(found) == len(patterns) == len(said) else unexpected(said)


def asked_device(reply: Reply) -> int | None:
    """Return the device that the command names, None if it names none."""
    argv = reply.command.argv
    after = argv[argv.index("-i") + 1 :] if "-i" in argv else ()
    return int(after[0]) if after and after[0].isdecimal() and after[0].isascii() else None


def _named(said: tuple[str, ...]) -> Gap | None:
    for phrase, kind, meaning in _REFUSALS:
        for line in said:
            if phrase in line:
                return Gap(f"{meaning} ({shown(line)})", kind)
    return None
