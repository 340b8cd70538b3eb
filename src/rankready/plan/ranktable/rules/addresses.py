"""Device addresses (facts/launch 1.2, 1.5, 12)."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from rankready.model.cluster import Generation
from rankready.model.text import Text
from rankready.plan.ranktable.rule import NOTE, WARNING, Rule, card_spot, mark, word_spot
from rankready.plan.ranktable.table import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.addressing import Address
    from rankready.model.finding import Severity
    from rankready.plan.ranktable.rule import Mark, Sheet
    from rankready.plan.ranktable.table import Card, Table, Word

_BROADCAST = (1 << 32) - 1


def _missing(sheet: Sheet) -> Iterator[Mark]:
    """The old template's missing keys are a matter of shape already."""
    table = sheet.table
    if table is None or table.dialect is not Dialect.SERVER_LIST:
        return
    bare = [c for c in table.cards() if not c.addresses]
    severity, en, zh = _weight(sheet, table)
    if not bare or not en:
        return
    if len(bare) == sum(1 for _ in table.cards()):
        yield mark(card_spot(bare[0]), f"no device has a device_ip{en}", f"所有设备都没有 device_ip{zh}", severity)
        return
    for card in bare:
        yield mark(card_spot(card), f"no device_ip{en}", f"缺少 device_ip{zh}", severity)


def _weight(sheet: Sheet, table: Table) -> tuple[Severity | None, str, str]:
    """Return how much it matters, and why; a single A2 or A3 server needs none (empty words)."""
    servers = len(table.machines)
    if table.super_pods:
        pods = len(table.pods or ())
        if pods > 1:
            return None, f", needed between {pods} super pods", f"，{pods} 个超节点之间必须提供"
        en = ", accepted in one super pod while HCCL_INTER_HCCS_DISABLE is not TRUE and HCCL_INTRA_ROCE_ENABLE is not 1"
        return (
            NOTE,
            en,
            "，仅在单个超节点内且 HCCL_INTER_HCCS_DISABLE 不为 TRUE、HCCL_INTRA_ROCE_ENABLE 不为 1 时可接受",
        )
    if servers > 1:
        return None, f", needed between {servers} servers", f"，{servers} 台服务器之间必须提供"
    if sheet.product.generation is Generation.A1:
        return WARNING, ", which the guide of this generation asks for", "，该产品代的手册要求提供"
    return NOTE, "", ""


def _bad(sheet: Sheet) -> Iterator[Mark]:
    for card, word, text in _texts(sheet.table):
        found = parsed(text)
        if found is None:
            yield mark(word_spot(word, card), f"{text!r} is no IP address", f"{text!r} 不是合法的 IP 地址")
        elif _unusable(found):
            yield mark(word_spot(word, card), f"no device can carry {text}", f"设备不可能使用地址 {text}")


def _texts(table: Table | None) -> Iterator[tuple[Card, Word, str]]:
    for card in table.cards() if table else ():
        for word in (card.device_ip, card.backup_device_ip):
            for text in word.text.split(",") if word is not None and word.text else ():
                if word is not None:
                    yield card, word, text


def parsed(text: str) -> Address | None:
    """Parse an address; a scope (fe80::1%eth0) is none that a table may hold."""
    try:
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None


def _unusable(found: Address) -> bool:
    broadcast = found.version == 4 and int(found) == _BROADCAST  # noqa: PLR2004  (IPv4)
    return found.is_unspecified or found.is_multicast or found.is_loopback or broadcast


def _twice(sheet: Sheet) -> Iterator[Mark]:
    first: dict[Address, Word] = {}
    for card in sheet.table.cards() if sheet.table else ():
        for text in card.addresses:
            found, word = parsed(text), card.device_ip
            if found is None or word is None:
                continue
            if (before := first.setdefault(found, word)) is not word:
                yield mark(
                    word_spot(word, card),
                    f"device_ip {found} stands twice, first in line {before.line}",
                    f"device_ip {found} 重复，首次在第 {before.line} 行",
                )


def _families(sheet: Sheet) -> Iterator[Mark]:
    usual: int | None = None
    for card in sheet.table.cards() if sheet.table else ():
        for text in card.addresses:
            found, word = parsed(text), card.device_ip
            if found is None or word is None:
                continue
            usual = usual or found.version
            if found.version != usual:
                yield mark(
                    word_spot(word, card),
                    f"{found} is IPv{found.version}, the first device_ip is IPv{usual}",
                    f"{found} 为 IPv{found.version}，第一个 device_ip 为 IPv{usual}",
                )


def _backup(sheet: Sheet) -> Iterator[Mark]:
    """The other die of the same NPU, and in the job too (facts/launch 1.2)."""
    for _, cards in sheet.table.hosts() if sheet.table else ():
        owners = {text: c.device for c in cards for text in c.addresses}
        for card in cards:
            word = card.backup_device_ip
            if word is None or card.device is None or not word.text:
                continue
            if owners.get(word.text) != card.device ^ 1:
                yield mark(
                    word_spot(word, card),
                    f"backup_device_ip {word.text!r} is not the device_ip of the NPU's other die ({card.device ^ 1})",
                    f"backup_device_ip {word.text!r} 不是同一 NPU 另一个 die（{card.device ^ 1}）的 device_ip",
                )


RULES = (
    Rule(
        code="RTB050",
        name="device_ip_missing",
        title=Text("every device has its device_ip where one is needed", "需要时每个设备都有 device_ip"),
        matters=Text("Ranks on different servers can't find each other.", "不同服务器上的 rank 无法互相连接。"),
        mend=Text(
            "write each device's own address: rankready ranktable write",
            "写入各设备的实际地址：rankready ranktable write",
        ),
        judge=_missing,
        hccl="EI0014",
        tokens="'device_ip' is not set correctly",
    ),
    Rule(
        code="RTB051",
        name="device_ip_bad",
        title=Text("every device_ip is an address that a device can have", "每个 device_ip 都是设备可用的地址"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=Text(
            "write each device's own address: rankready ranktable write",
            "写入各设备的实际地址：rankready ranktable write",
        ),
        judge=_bad,
        hccl="EI0014",
    ),
    Rule(
        code="RTB052",
        name="device_ip_twice",
        title=Text("no two devices have one address", "没有两个设备使用同一地址"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=Text(
            "look for the wrong one: rankready check --only NET003", "找出错误的一个：rankready check --only NET003"
        ),
        judge=_twice,
        hccl="EI0014",
        tokens="is already exist",
    ),
    Rule(
        code="RTB053",
        name="families_mixed",
        title=Text("all device addresses are of one family", "所有设备地址属于同一地址族"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=Text("use IPv4 everywhere, or IPv6 everywhere", "全部使用 IPv4，或全部使用 IPv6"),
        judge=_families,
        hccl="EI0001",
        tokens="device ip family[2] is not same as others[10]",
    ),
    Rule(
        code="RTB054",
        name="backup_misfit",
        title=Text("a backup address is that of the other die", "备用地址为另一个 die 的地址"),
        matters=Text("A retry would go to another NPU.", "重试会连到其他 NPU。"),
        mend=Text("write the device_ip of the other die of the same NPU", "填写同一 NPU 另一个 die 的 device_ip"),
        judge=_backup,
        severity=WARNING,
    ),
)
