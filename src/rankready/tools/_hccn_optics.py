"""Reads the optical module (facts/hccn 3.1, 3.5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import shown, unexpected
from rankready.model.observed.optics import Limits, Optics, OpticsSwitches
from rankready.model.snapshot import Gap
from rankready.tools._hccn_words import exactly, payload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.command import Reply
    from rankready.model.observed.optics import Lanes

_HEAD = re.compile(r"optical info:\s*", re.ASCII)
_ROW = re.compile(r"([A-Za-z][\w ]*?)\s*: (\S(?:.*\S)?)\s*", re.ASCII)
_SWITCHES = (
    re.compile(r"optical dfx info:\s*", re.ASCII),
    re.compile(r"loopback status\s*: (enable|disable)d?\s*", re.ASCII),
    re.compile(r"tx disable status\s*: 0x([0-9A-Fa-f]{1,8})\s*", re.ASCII),
)
_NOT_TOLD = ("NA", "not supported", "get failed")
_NUMBER = r"(-?\d{1,7}(?:\.\d{1,6})?)"
_UNITS = {unit: re.compile(rf"{_NUMBER} {unit}", re.ASCII) for unit in ("C", "mV", "mW", "mA", "dB", "nm")}
_MASK = re.compile(r"0x([0-9A-Fa-f]{1,8})", re.ASCII)

_TEXTS = (
    "high power enable reg",
    "vendor name",
    "vendor part number",
    "vendor serial number",
    "vendor org unique id",
    "xsfp identifier",
    "xsfp wave length",
    "manufact date code",
)
_LANES = tuple(range(4))
_LANE_UNITS = {"Tx Power": "mW", "Rx Power": "mW", "Tx Bias": "mA", "Host SNR Lane": "dB", "Media SNR Lane": "dB"}
_SCALAR_UNITS = {
    "temperature": "C",
    "Vcc": "mV",
    "Vcc High Thres": "mV",
    "Vcc Low Thres": "mV",
    "Temp High Thres": "C",
    "Temp Low Thres": "C",
    "TxPower High Thres": "mW",
    "TxPower Low Thres": "mW",
    "RxPower High Thres": "mW",
    "RxPower Low Thres": "mW",
}
_FLAGS = ("Tx Los Flag", "Rx Los Flag", "Tx LoL Flag", "Rx LoL Flag")
_KNOWN = frozenset(
    {"present", *_TEXTS, *_SCALAR_UNITS, *_FLAGS, *(f"{name}{lane}" for name in _LANE_UNITS for lane in _LANES)}
)
"""Every label that a four-lane module gives; all of them there proves that nothing was lost."""

_LANE = re.compile(rf"({'|'.join(_LANE_UNITS)})(\d{{1,2}})", re.ASCII)


def read_optics(reply: Reply) -> Optics | Gap:
    """Read `-optical -g`. A value that is not told is None; a value in words that we don't know is a Gap."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    rows = [m for line in said[1:] if (m := _ROW.fullmatch(line))]
    found = {m[1]: m[2] for m in rows}
    if not _HEAD.fullmatch(said[0]) or len(found) != len(said) - 1 or not rows or rows[0][1] != "present":
        return unexpected(said)
    match found["present"]:
        case "not present":
            return Optics(present=False) if len(found) == 1 else unexpected(said[2:])
        case "present":
            wrong = next((label for label, value in found.items() if not _sane(label, value)), None)
            return _optics(found) if wrong is None else Gap(f"{wrong} of {shown(found[wrong])}")
    return unexpected(said[1:])


def read_switches(reply: Reply) -> OpticsSwitches | Gap:
    """Read `-optical -g dfx_cfg`."""
    found = exactly(reply, *_SWITCHES)
    if isinstance(found, Gap):
        return found
    return OpticsSwitches(loopback=found[1][1] == "enable", tx_disabled=int(found[2][1], 16))


def _optics(found: Mapping[str, str]) -> Optics:
    def number(label: str) -> float | None:
        return _number(found.get(label, "NA"), _SCALAR_UNITS[label])

    def flags(label: str) -> int | None:
        match = _MASK.fullmatch(found.get(label, ""))
        return int(match[1], 16) if match else None

    return Optics(
        present=True,
        vendor=_text(found, "vendor name"),
        part=_text(found, "vendor part number"),
        serial=_text(found, "vendor serial number"),
        temperature_c=number("temperature"),
        vcc_mv=number("Vcc"),
        tx_power_mw=_lanes(found, "Tx Power"),
        rx_power_mw=_lanes(found, "Rx Power"),
        tx_bias_ma=_lanes(found, "Tx Bias"),
        host_snr_db=_lanes(found, "Host SNR Lane"),
        media_snr_db=_lanes(found, "Media SNR Lane"),
        temperature_limits_c=Limits(low=number("Temp Low Thres"), high=number("Temp High Thres")),
        vcc_limits_mv=Limits(low=number("Vcc Low Thres"), high=number("Vcc High Thres")),
        tx_power_limits_mw=Limits(low=number("TxPower Low Thres"), high=number("TxPower High Thres")),
        rx_power_limits_mw=Limits(low=number("RxPower Low Thres"), high=number("RxPower High Thres")),
        tx_los=flags("Tx Los Flag"),
        rx_los=flags("Rx Los Flag"),
        tx_lol=flags("Tx LoL Flag"),
        rx_lol=flags("Rx LoL Flag"),
        partial=not found.keys() >= _KNOWN,
    )


def _sane(label: str, value: str) -> bool:
    """Tell whether a value has the form that its label asks for; a label that we don't know may hold anything."""
    if value in _NOT_TOLD:
        return True
    lane = _LANE.fullmatch(label)
    unit = _LANE_UNITS[lane[1]] if lane else _SCALAR_UNITS.get(label, "")
    if unit:
        return _UNITS[unit].fullmatch(value) is not None
    return label not in _FLAGS or _MASK.fullmatch(value) is not None


def _lanes(found: Mapping[str, str], name: str) -> Lanes:
    numbers = [int(m[2]) for label in found if (m := _LANE.fullmatch(label)) and m[1] == name]
    unit = _LANE_UNITS[name]
    return tuple(_number(found.get(f"{name}{lane}", "NA"), unit) for lane in range(max(numbers, default=-1) + 1))


def _number(value: str, unit: str) -> float | None:
    match = _UNITS[unit].fullmatch(value)
    return float(match[1]) if match else None


def _text(found: Mapping[str, str], label: str) -> str:
    value = found.get(label, "")
    return "" if value in _NOT_TOLD else value
