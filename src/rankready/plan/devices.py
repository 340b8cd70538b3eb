"""Which devices of a server a job uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.errors import PlanError
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rankready.kind.product import Product


def pick_devices(product: Product, wanted: int | Sequence[int], *, busy: Collection[int] = ()) -> tuple[int, ...]:
    """Return the physical ids that a job uses on each server, ascending (facts/launch 7).

    ``wanted`` is a count, or the ids themselves. For a count the product's default pick stands unless one of its
    devices is ``busy``: then the next block of that size. Raises PlanError with the product's rule, in both languages.
    """
    if isinstance(wanted, int):
        _refuse_count(product, wanted)
        return _block(product, wanted, busy)
    _refuse_list(product, wanted)
    return tuple(sorted(wanted))


def devices_note(product: Product, picked: Collection[int]) -> Text | None:
    """Return the remark that a possible but unusual pick deserves, or None."""
    odd_count = len(picked) not in product.legal_counts
    half = len(picked) > 1 and any(
        product.never_joined(mine, other) and other not in picked for mine in picked for other in product.devices
    )
    return product.counts_note if odd_count or half else None


def _refuse_count(product: Product, count: int) -> None:
    if count < 1 or count > len(product.devices):
        raise _error(
            product,
            Text(
                en=f"{count} devices asked for, a server has {len(product.devices)}",
                zh=f"要求 {count} 个设备，每台服务器有 {len(product.devices)} 个",
            ),
        )
    if product.counts_note is None and count not in product.legal_counts:
        raise _error(product, Text(en=f"{count} devices asked for", zh=f"要求 {count} 个设备"))


def _refuse_list(product: Product, wanted: Sequence[int]) -> None:
    words = ",".join(str(d) for d in wanted)
    if len(set(wanted)) != len(wanted):
        raise _error(product, Text(en=f"devices {words}: one is named twice", zh=f"设备 {words}：有重复"))
    span = f"{product.devices[0]}-{product.devices[-1]}"
    if strangers := sorted(set(wanted) - set(product.devices)):
        raise _error(
            product,
            Text(
                en=f"devices {words}: no device {strangers[0]}, a server has {span}",
                zh=f"设备 {words}：没有 {strangers[0]} 号设备，每台服务器为 {span}",
            ),
        )
    _refuse_count(product, len(wanted))
    whole = len(wanted) == len(product.devices)
    if product.job_in_one_ring and not whole and not any(set(wanted) <= set(ring) for ring in product.rings):
        raise _error(product, Text(en=f"devices {words} cross the rings", zh=f"设备 {words} 跨环"))


def _block(product: Product, count: int, busy: Collection[int]) -> tuple[int, ...]:
    """Blocks start at multiples of their size, so that none of 1, 2 or 4 crosses a ring or splits an NPU."""
    starts = range(0, len(product.devices) - count + 1, count)
    blocks = (product.devices_for(count), *(product.devices[at : at + count] for at in starts))
    for block in blocks:
        if not set(block) & set(busy):
            return block
    words = ",".join(str(d) for d in sorted(busy))
    raise _error(
        product,
        Text(en=f"{count} devices asked for, in use: {words}", zh=f"要求 {count} 个设备，已占用：{words}"),
    )


def _error(product: Product, seen: Text) -> PlanError:
    return PlanError(f"{seen.en}: {product.counts_rule.en}\n{seen.zh}：{product.counts_rule.zh}")
