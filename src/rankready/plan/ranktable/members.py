"""Who stands in a new table: from what the devices carry, or why there can be no table."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from rankready.model.cluster import Generation
from rankready.model.finding import Finding, Outcome, Severity, Verdict
from rankready.model.observed.chips import SuperPod
from rankready.model.observed.device import DeviceAddress
from rankready.model.observed.host import HccnConf
from rankready.model.place import device_place
from rankready.model.snapshot import GapKind
from rankready.model.text import Text
from rankready.plan.ranktable.live import CONF_KEY
from rankready.plan.ranktable.writer import Form, Member, Seat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.addressing import Address
    from rankready.model.cluster import Cluster, Server
    from rankready.model.finding import Evidence
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

NOT_LIVE, NOT_KEPT, SDID, LOOPBACK = "RTB093", "RTB094", "RTB095", "RTB033"
_APPLY = Text("rankready apply", "rankready apply")


@dataclass(frozen=True, slots=True, kw_only=True)
class Enlisted:
    """The members of a table, and what forbids it: with any FAIL or UNKNOWN there must be no table."""

    members: tuple[Member, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def whole(self) -> bool:
        """Tell whether a table may be written."""
        return all(v.outcome in (Outcome.PASS, Outcome.WARN) for v in self.verdicts)


def enlist(cluster: Cluster, seen: Seen, chosen: Mapping[str, tuple[int, ...]], form: Form) -> Enlisted:
    """Gather each server's devices in ``chosen``; addresses are those that devices carry, never a placeholder."""
    members: list[Member] = []
    verdicts: list[Verdict] = []
    for server in cluster.servers:
        if server.name not in chosen:
            continue
        seats: list[Seat] = []
        for device in chosen[server.name]:
            place = device_place(server.name, device)
            seat, found = _seat(place, seen, form)
            verdicts += found
            seats += [seat] if seat is not None else []
        named = server_id(server)
        verdicts.append(_named(server, named))
        members.append(_member(cluster, server, named or server.name, (tuple(seats), form, seen)))
    return Enlisted(members=tuple(members), verdicts=tuple(verdicts))


def server_id(server: Server) -> str | None:
    """Return the server's management address, else its name; None where both mean every server itself."""
    for text in (str(server.address or ""), server.login.host, server.name):
        if text and not _is_loopback(text):
            return text
    return None


def form_for(cluster: Cluster, seen: Seen, chosen: Mapping[str, tuple[int, ...]]) -> Form:
    """Return 1.2 for an A3 whose devices tell of a super pod, or may do so; else 1.0.

    An old npu-smi refuses the very question: such servers stand in no super pod that HCCL could use.
    """
    if cluster.generation is not Generation.A3:
        return Form.PLAIN
    gaps = [seen.gap(device_place(name, d), SuperPod) for name, devices in chosen.items() for d in devices]
    outside = all(g is not None and g.kind in (GapKind.UNSUPPORTED, GapKind.DENIED) for g in gaps)
    return Form.PLAIN if outside else Form.SUPER_POD


def _is_loopback(text: str) -> bool:
    try:
        return ip_address(text).is_loopback
    except ValueError:
        return text == "localhost" or text.startswith("localhost.")


def _member(cluster: Cluster, server: Server, name: str, about: tuple[tuple[Seat, ...], Form, Seen]) -> Member:
    """A1's table has no host_ip; without one others lose operator retry (facts/launch 1.2)."""
    seats, form, seen = about
    known = server.address is not None and not server.address.is_loopback
    pods = [p for s in seats if (p := seen.at(device_place(server.name, s.device), SuperPod)) is not None]
    return Member(
        server_id=name,
        name=server.name,
        seats=seats,
        host=server.address if known and cluster.generation is not Generation.A1 else None,
        pod=str(pods[0].pod) if pods and form is Form.SUPER_POD else "",
    )


def _named(server: Server, name: str | None) -> Verdict:
    if name is not None:
        return Verdict(code=LOOPBACK, place=server.place, outcome=Outcome.PASS)
    told = Text("its address and its name mean every server itself", "其地址与名称在每台服务器上都指自身")
    remedy = Text("add `address:` to it in cluster.yaml", "在 cluster.yaml 中为其补上 `address:`")
    return _fail(LOOPBACK, server.place, told, remedy)


def _seat(place: Place, seen: Seen, form: Form) -> tuple[Seat | None, list[Verdict]]:
    carried = seen.at(place, DeviceAddress)
    sdid, found = _sdid(place, seen, form)
    if carried is not None:
        address = carried.interface.ip
        return Seat(device=place.device, address=address, sdid=sdid), [*found, _kept(place, seen, address)]
    if seen.unset(place, DeviceAddress):
        told = Text("the device carries no address", "该设备未配置地址")
        return None, [*found, _fail(NOT_LIVE, place, told, _APPLY, evidence=seen.evidence(place, DeviceAddress))]
    gap = seen.gap(place, DeviceAddress)
    reason = gap.reason if gap else ""
    return None, [*found, Verdict(code=NOT_LIVE, place=place, outcome=Outcome.UNKNOWN, reason=reason)]


def _kept(place: Place, seen: Seen, carried: Address) -> Verdict:
    conf = seen.at(place.owner, HccnConf)
    if conf is None:
        gap = seen.gap(place.owner, HccnConf)
        reason = gap.reason if gap else ""
        return Verdict(code=NOT_KEPT, place=place, outcome=Outcome.UNKNOWN, reason=reason)
    kept = conf.value(CONF_KEY[carried.version], place.device)
    if _same(kept, carried):
        return Verdict(code=NOT_KEPT, place=place, outcome=Outcome.PASS)
    told = Text(
        f"the device carries {carried}, hccn.conf keeps {kept or 'nothing'} for it",
        f"设备地址为 {carried}，hccn.conf 中为 {kept or '空'}",
    )
    return _fail(NOT_KEPT, place, told, _APPLY, evidence=seen.evidence(place.owner, HccnConf))


def _same(kept: str | None, carried: Address) -> bool:
    try:
        return ip_address(kept or "") == carried
    except ValueError:
        return False


def _sdid(place: Place, seen: Seen, form: Form) -> tuple[int | None, list[Verdict]]:
    if form is not Form.SUPER_POD:
        return None, []
    found = seen.at(place, SuperPod)
    if found is not None:
        return found.sdid, []
    gap = seen.gap(place, SuperPod)
    reason = gap.reason if gap else ""
    return None, [Verdict(code=SDID, place=place, outcome=Outcome.UNKNOWN, reason=reason)]


def _fail(code: str, place: Place, told: Text, remedy: Text, *, evidence: tuple[Evidence, ...] = ()) -> Verdict:
    found = Finding(code=code, severity=Severity.ERROR, place=place, message=told, remedy=remedy, evidence=evidence)
    return Verdict(code=code, place=place, outcome=Outcome.FAIL, findings=(found,))
