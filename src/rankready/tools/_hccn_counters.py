"""Reads packet counters and the momentary bandwidth (facts/hccn 3.1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import unexpected
from rankready.model.observed.device import Counters, CountersAgain
from rankready.model.observed.traffic import Bandwidth, VerbsCounters
from rankready.model.snapshot import Gap
from rankready.tools._hccn_words import asked_device, exactly, payload

if TYPE_CHECKING:
    from rankready.model.command import Reply

_PRIORITIES = tuple(f"pfc_pri{n}_pkt_num" for n in range(8))
_NAMES = (
    "mac_tx_mac_pause_num",
    "mac_rx_mac_pause_num",
    "mac_tx_pfc_pkt_num",
    *(f"mac_tx_{p}" for p in _PRIORITIES),
    "mac_rx_pfc_pkt_num",
    *(f"mac_rx_{p}" for p in _PRIORITIES),
    "mac_tx_total_pkt_num",
    "mac_tx_total_oct_num",
    "mac_tx_bad_pkt_num",
    "mac_tx_bad_oct_num",
    "mac_rx_total_pkt_num",
    "mac_rx_total_oct_num",
    "mac_rx_bad_pkt_num",
    "mac_rx_bad_oct_num",
    "mac_rx_fcs_err_pkt_num",
    "roce_rx_rc_pkt_num",
    "roce_rx_all_pkt_num",
    "roce_rx_err_pkt_num",
    "roce_tx_rc_pkt_num",
    "roce_tx_all_pkt_num",
    "roce_tx_err_pkt_num",
    "roce_cqe_num",
    "roce_rx_cnp_pkt_num",
    "roce_tx_cnp_pkt_num",
    "roce_unexpected_ack_num",
    "roce_out_of_order_num",
    "roce_verification_err_num",
    "roce_qp_status_err_num",
    "roce_new_pkt_rty_num",
    "roce_ecn_db_num",
    "nic_tx_all_pkg_num",
    "nic_tx_all_oct_num",
    "nic_rx_all_pkg_num",
    "nic_rx_all_oct_num",
)
"""The 48 counters in the order in which today's drivers print them; old drivers print fewer."""

_HEAD = re.compile(r"packet statistics:\s*", re.ASCII)
_COUNTER = re.compile(r"([a-z]\w*):\s*(\d{1,20})\s*", re.ASCII)
_VERB = re.compile(r"\[(?:devid|device) (\d{1,2})\]\s*([a-z]\w*):\s*(\d{1,20})\s*", re.ASCII)
_RATE = r":\s*(\d{1,9}\.\d{2}) MB/sec\s*"
_BANDWIDTH = (re.compile(r"Bandwidth TX" + _RATE, re.ASCII), re.compile(r"Bandwidth RX" + _RATE, re.ASCII))


def read_counters(reply: Reply) -> Counters | Gap:
    """Read `-stat -g`. Names that we know stand in the driver's order; one of them missing makes it partial."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    rows = [m for line in said[1:] if (m := _COUNTER.fullmatch(line))]
    if not _HEAD.fullmatch(said[0]) or len(rows) != len(said) - 1 or not rows:
        return unexpected(said)
    names = [m[1] for m in rows]
    known = [_NAMES.index(n) for n in names if n in _NAMES]
    if len(set(names)) != len(names) or known != sorted(known) or not known:
        return Gap("counters are doubled, out of order or all unknown", zh="计数项重复、乱序或均无法识别")
    values = tuple((m[1], int(m[2])) for m in rows)
    return Counters(values=values, partial=len(known) != len(_NAMES))


def frames(found: Counters) -> tuple[int, int] | None:
    """Return how many frames the port has sent and received; None where the driver does not tell both."""
    values = dict(found.values)
    sent, received = values.get("mac_tx_total_pkt_num"), values.get("mac_rx_total_pkt_num")
    return None if sent is None or received is None else (sent, received)


def read_again(reply: Reply) -> CountersAgain | Gap:
    """Read `-stat -g` for the second time."""
    found = read_counters(reply)
    return found if isinstance(found, Gap) else CountersAgain(values=found.values)


def read_verbs_counters(reply: Reply) -> VerbsCounters | Gap:
    """Read `-hw_stats -g`. Its names are not documented, so nothing proves that the list is whole."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    rows = [m for line in said if (m := _VERB.fullmatch(line))]
    devices = {int(m[1]) for m in rows}
    asked = asked_device(reply)
    if len(rows) != len(said) or len(devices) != 1 or (asked is not None and devices != {asked}):
        return unexpected(said)
    if len({m[2] for m in rows}) != len(rows):
        return Gap("a counter stands there twice", zh="同一计数项出现两次")
    return VerbsCounters(values=tuple((m[2], int(m[3])) for m in rows))


def read_bandwidth(reply: Reply) -> Bandwidth | Gap:
    """Read `-bandwidth -g`: what flows now, megabytes per second."""
    found = exactly(reply, *_BANDWIDTH)
    if isinstance(found, Gap):
        return found
    return Bandwidth(tx_mb_s=float(found[0][1]), rx_mb_s=float(found[1][1]))
