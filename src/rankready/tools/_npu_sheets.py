"""Reads the sheets of `npu-smi info -t …`: lines of a padded label and a value (facts/hccn 10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import unexpected
from rankready.model.observed.chips import Board, ChipHealth, ChipState, NpuWorkMode, SuperPod, WorkMode
from rankready.model.snapshot import Gap
from rankready.tools._npu_words import payload

if TYPE_CHECKING:
    from rankready.model.command import Reply

_ROW = re.compile(r"\t([A-Za-z][\w -]*?)\s*: ?(.*?)\s*", re.ASCII)
_MORE = re.compile(r"\t\s+: (.*?)\s*")
_CODE = re.compile(r"[0-9A-Fa-f]{8}", re.ASCII)
_ID = re.compile(r"\d{1,10}", re.ASCII)
_PCI = re.compile(r"0x[0-9A-Fa-f]{4}", re.ASCII)
_VERSION = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_BUS = re.compile(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]", re.ASCII)
_NOT_TOLD = ("NA", "")
_SERVER_SHIFT = 22  # facts/hccn 5.2: the server's part of an SDID


def read_board(reply: Reply) -> Board | Gap:
    """Read `-t board`, of an NPU or (with `-c`) of a chip. What is not told, or lost, is empty or None."""
    found = _sheet(reply)
    if isinstance(found, Gap):
        return found
    forms = {
        "NPU ID": _ID,
        "Chip ID": _ID,
        "Chip Count": _ID,
        "Software Version": _VERSION,
        "Firmware Version": _VERSION,
        "PCI Device ID": _PCI,
        "PCIe Bus Info": _BUS,
    }
    wrong = [label for label, form in forms.items() if label in found and not _fits(found[label], form)]
    if wrong or "NPU ID" not in found or found["NPU ID"] in _NOT_TOLD or not _asked(reply, "-i", found["NPU ID"]):
        return unexpected(f"{label}: {found[label]}" if (label := next(iter(wrong), "")) else "no NPU ID, or another")
    told = {label: value for label, value in found.items() if value not in _NOT_TOLD}
    return Board(
        npu=int(told["NPU ID"]),
        chip=int(told["Chip ID"]) if "Chip ID" in told else None,
        name=told.get("Chip Name", ""),
        driver=told.get("Software Version", ""),
        firmware=told.get("Firmware Version", ""),
        pci_device=told.get("PCI Device ID", "").lower(),
        bus=told.get("PCIe Bus Info", ""),
        chips=int(told["Chip Count"]) if "Chip Count" in told else None,
    )


def read_health(reply: Reply) -> ChipHealth | Gap:
    """Read `-t health`: state, codes, and as many lines of information as there are codes."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    more = [m[1] for line in said if (m := _MORE.fullmatch(line))]
    rows = [m for line in said if not _MORE.fullmatch(line) and (m := _ROW.fullmatch(line))]
    found = {m[1]: m[2] for m in rows}
    if [m[1] for m in rows] != ["Health Status", "Error Code", "Error Information"] or len(rows) + len(more) != len(
        said
    ):
        return unexpected(said)
    if said[-len(more) :] != said[3:] if more else len(said) != 3:  # noqa: PLR2004  (three labels, then the rest)
        return unexpected(said)
    codes = () if found["Error Code"] == "NA" else tuple(c.upper() for c in found["Error Code"].split())
    information = () if found["Error Information"] == "NA" else (found["Error Information"], *more)
    states = {s.value: s for s in ChipState}
    if found["Health Status"] not in states or not all(_CODE.fullmatch(c) for c in codes):
        return unexpected(said)
    if len(information) != len(codes):
        return Gap(
            f"{len(codes)} error codes with {len(information)} lines of information",
            zh=f"{len(codes)} 个错误码，却有 {len(information)} 行说明",
        )
    return ChipHealth(state=states[found["Health Status"]], codes=codes, information=information)


def read_pod(reply: Reply) -> SuperPod | Gap:
    """Read `-t spod-info` (A3): four numbers; the id's server part and the server index must agree."""
    found = _sheet(reply)
    if isinstance(found, Gap):
        return found
    labels = ("SDID", "Super Pod Size", "Super Pod ID", "Server Index")
    if tuple(found) != labels or not all(_ID.fullmatch(v) for v in found.values()):
        return unexpected(next(iter(found.items()), ("", ""))[0])
    sdid, size, pod, server = (int(found[label]) for label in labels)
    if sdid >> _SERVER_SHIFT != server:
        return Gap(f"SDID {sdid} does not belong to server {server}", zh=f"SDID {sdid} 不属于服务器 {server}")
    return SuperPod(sdid=sdid, size=size, pod=pod, server=server)


def read_work_mode(reply: Reply) -> NpuWorkMode | Gap:
    """Read `-t work-mode` (A1)."""
    found = _sheet(reply)
    if isinstance(found, Gap):
        return found
    modes = {m.value: m for m in WorkMode}
    npu, mode = found.get("NPU ID", ""), found.get("work-mode", "")
    if tuple(found) != ("NPU ID", "work-mode") or not _ID.fullmatch(npu) or mode not in modes:
        return unexpected(mode or npu)
    if not _asked(reply, "-i", npu):
        return unexpected(f"NPU ID: {npu}, another was asked")
    return NpuWorkMode(npu=int(npu), mode=modes[mode])


def _sheet(reply: Reply) -> dict[str, str] | Gap:
    """Return label → value; a label that stands twice or a line of another form is a Gap."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    rows = [m for line in said if (m := _ROW.fullmatch(line))]
    found = {m[1]: m[2] for m in rows}
    return found if len(found) == len(said) else unexpected(said)


def _fits(value: str, form: re.Pattern[str]) -> bool:
    return value in _NOT_TOLD or form.fullmatch(value) is not None


def _asked(reply: Reply, option: str, value: str) -> bool:
    argv = reply.command.argv
    return option not in argv or argv[argv.index(option) + 1 :][:1] in ((value,), ())
