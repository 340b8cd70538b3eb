"""What is said of each kind of suspect, in both languages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.mesh.clues import Kind
from rankready.mesh.suspect import LOSS, NO_DEVICE, PATH, Accusation, Suspect, Way
from rankready.model.finding import Certainty, Finding, Severity
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.mesh.suspect import Direction
    from rankready.model.place import Place

_SHOWN = 6

NEXT = {
    Kind.LINK: Text(
        en="look at optic, cable and switch port of {a}: its link is down",
        zh="检查 {a} 的光模块、线缆与交换机端口：链路断开",
    ),
    Kind.ADDRESS: Text(
        en="rankready plan: the address of {a} is not the planned one",
        zh="执行 rankready plan：{a} 的地址与规划不一致",
    ),
    Kind.VLAN: Text(
        en="compare the VLAN of the switch port of {a} with the other ports of its segment",
        zh="比较 {a} 所接交换机端口与同网段其他端口的 VLAN",
    ),
    Kind.DUPLICATE: Text(
        en="rankready plan: another device holds the address of {a}",
        zh="执行 rankready plan：{a} 的地址被另一设备占用",
    ),
    Kind.NETMASK: Text(
        en="rankready plan: the netmask of {a} is not the planned one",
        zh="执行 rankready plan：{a} 的掩码与规划不一致",
    ),
    Kind.GATEWAY: Text(
        en="rankready plan: the gateway of {a} is not the planned one",
        zh="执行 rankready plan：{a} 的网关与规划不一致",
    ),
    Kind.CABLE: Text(
        en="rankready cabling: the cable of {a} ends at another port",
        zh="执行 rankready cabling：{a} 的线缆接在了别的端口",
    ),
    Kind.MISSING: Text(
        en="look for {a} on the PCIe bus and in the BMC",
        zh="在 PCIe 总线与 BMC 上查找 {a}",
    ),
    Kind.DEVICE: Text(
        en="swap the cables of {a} and a good device at the leaf: the fault stays with the port or follows the device",
        zh="在 leaf 上互换 {a} 与一个正常设备的线缆：故障留在端口，或跟随设备",
    ),
    Kind.ISLAND: Text(
        en="compare VLAN, ACL and netmask of {a} with the rest of the segment",
        zh="比较 {a} 与同网段其余设备的 VLAN、ACL 与掩码",
    ),
    Kind.SERVER: Text(
        en="see whether {a} is up and its driver loaded: rankready check --only HST",
        zh="查看 {a} 是否开机、驱动是否加载：rankready check --only HST",
    ),
    Kind.LEAF: Text(en="see whether {a} is up", zh="查看 {a} 是否正常运行"),
    Kind.LEAF_CUT_OFF: Text(en="look at the uplinks and the routing of {a}", zh="检查 {a} 的上行链路与路由"),
    Kind.UPLINKS: Text(en="read the error counters of the uplinks of {a}", zh="查看 {a} 上行端口的错误计数"),
    Kind.LOSS: Text(
        en="clean or replace optic and cable of {a}, and read the error counters of its switch port",
        zh="清洁或更换 {a} 的光模块与线缆，并查看所接交换机端口的错误计数",
    ),
    Kind.ONE_WAY_IN: Text(
        en="rankready check --only OPT: where {a} receives too little light, exchange the fibre or the optic of its "
        "switch port; else its own optic",
        zh="执行 rankready check --only OPT：若 {a} 收光过低，更换光纤或对端交换机端口的光模块；否则更换它自己的光模块",
    ),
    Kind.ONE_WAY_OUT: Text(
        en="read on the switch the light that the port of {a} receives: too little, exchange the fibre or the optic of "
        "{a}; else the optic of the port",
        zh="在交换机上查看 {a} 所接端口的收光：过低则更换光纤或 {a} 的光模块；否则更换该端口的光模块",
    ),
    Kind.PAIR: Text(
        en="swap the cables of {a} and {b} at the leaf, or ping the gateway from both: who fails is at fault",
        zh="在 leaf 上互换 {a} 与 {b} 的线缆，或分别 ping 网关：不通的一方有故障",
    ),
    Kind.FIBRE: Text(
        en="exchange the fibre between {a} and {b}, then the optic of one end, then of the other: the fault goes with "
        "what was exchanged",
        zh="先更换 {a} 与 {b} 之间的光纤，再依次更换两端的光模块：故障随被更换的部件消失",
    ),
    Kind.PATH: Text(
        en="trace the path between {a} and {b}: uplinks of both leaves, ACLs, netmasks",
        zh="追踪 {a} 与 {b} 之间的路径：两侧 leaf 的上行链路、ACL、掩码",
    ),
    Kind.PARTITION: Text(
        en="compare VLAN and gateway of the groups; the plan says which side is right",
        zh="比较各组的 VLAN 与网关；以规划为准判断哪一侧正确",
    ),
    Kind.SLOW_HOST: Text(en="see what keeps {a} busy, then probe again", zh="查看 {a} 被什么占用，然后重新探测"),
}


def accuse(kind: Kind, places: Sequence[Place], witnesses: int, certainty: Certainty, *, rate: float = 1.0) -> Suspect:
    """Make a suspect with its next test."""
    test = NEXT[kind]
    pair = kind in (Kind.PAIR, Kind.FIBRE, Kind.PATH)
    a, b = str(places[0]) if pair else shown(places), str(places[-1])
    return Suspect(
        places=tuple(places),
        kind=kind,
        witnesses=witnesses,
        certainty=certainty,
        next_test=Text(en=test.en.format(a=a, b=b), zh=test.zh.format(a=a, b=b)),
        rate=rate,
    )


def shown(places: Sequence[Place]) -> str:
    """Name some places and count the rest."""
    more = len(places) - _SHOWN
    return ", ".join(map(str, places[:_SHOWN])) + (f" (+{more})" if more > 0 else "")


def directed(accused: Accusation, direction: Direction) -> Accusation:
    """Say which way the packets of a suspect are lost; a device that loses one way alone is suspected of that."""
    old = accused.suspect
    one_way = _ONE_WAY.get(direction.way) if old.kind in (Kind.DEVICE, Kind.LOSS) else None
    suspect = accuse(one_way or old.kind, old.places, old.witnesses, old.certainty, rate=old.rate)
    told, why = _WAYS[direction.way], direction.why or Text(en="", zh="")
    x, r = old.places[0], direction.reference
    en, zh = told.en.format(x=x, r=r, why=why.en), told.zh.format(x=x, r=r, why=why.zh)
    findings = tuple(
        replace(f, message=Text(en=f.message.en + en, zh=f.message.zh + zh), remedy=suspect.next_test)
        for f in accused.findings
    )
    return Accusation(suspect=replace(suspect, direction=direction), findings=findings)


_ONE_WAY = {Way.TOWARDS: Kind.ONE_WAY_IN, Way.FROM: Kind.ONE_WAY_OUT}
_WAYS = {
    Way.TOWARDS: Text(
        en="; packets to {x} are lost, packets from it arrive (counted at {x} and {r})",
        zh="；发往 {x} 的报文丢失，由它发出的报文到达（依据 {x} 与 {r} 的端口计数）",
    ),
    Way.FROM: Text(
        en="; packets from {x} are lost, packets to it arrive (counted at {x} and {r})",
        zh="；由 {x} 发出的报文丢失，发往它的报文到达（依据 {x} 与 {r} 的端口计数）",
    ),
    Way.BOTH: Text(
        en="; packets to {x} and from it are lost (counted at {x} and {r})",
        zh="；发往 {x} 与由它发出的报文均丢失（依据 {x} 与 {r} 的端口计数）",
    ),
    Way.UNKNOWN: Text(en="; which way is not known: {why}", zh="；丢失方向未知：{why}"),
}


def silent(kind: Kind, device: Place, witnesses: Sequence[Place], collapsed: Sequence[Place]) -> Finding:
    """NET009 at one device."""
    many = len(witnesses)
    return _finding(
        NO_DEVICE,
        device,
        Text(
            en=f"no packet passes, planned to reach its rail; {many} working partners tried ({shown(witnesses)})",
            zh=f"没有报文能通，规划为与同轨设备互通；{many} 个正常的对端尝试过（{shown(witnesses)}）",
        ),
        accuse(kind, (device,), many, Certainty.SURE),
        blames=collapsed,
    )


def island(device: Place, members: Sequence[Place], witnesses: int, collapsed: Sequence[Place]) -> Finding:
    """NET009 at a member of a group that reaches only itself."""
    return _finding(
        NO_DEVICE,
        device,
        Text(
            en=f"it reaches only {shown([m for m in members if m != device])}, planned to reach its whole rail",
            zh=f"只能到达 {shown([m for m in members if m != device])}，规划为与同轨所有设备互通",
        ),
        accuse(Kind.ISLAND, members, witnesses, Certainty.SURE),
        blames=collapsed,
    )


def whole(kind: Kind, place: Place, devices: Sequence[Place], witnesses: int) -> Accusation:
    """NET009 at a server or leaf of which every device is silent, or that reaches only itself."""
    certainty = Certainty.SURE if place.kind is PlaceKind.SERVER else Certainty.LIKELY
    suspect = accuse(kind, (place,), witnesses, certainty)
    cut_off = kind is Kind.LEAF_CUT_OFF
    state = Text(en="reach only one another", zh="只能互相到达") if cut_off else Text(en="are silent", zh="均无应答")
    said = Text(
        en=f"all {len(devices)} devices that were probed here {state.en}, planned to reach their rails",
        zh=f"此处被探测的 {len(devices)} 个设备{state.zh}，规划为与同轨设备互通",
    )
    return Accusation(suspect=suspect, findings=(_finding(NO_DEVICE, place, said, suspect),))


def lossy(device: Place, rate: float, partners: Sequence[Place], probed: int) -> Accusation:
    """NET010 at one device."""
    suspect = accuse(Kind.LOSS, (device,), len(partners), Certainty.LIKELY, rate=rate)
    said = Text(
        en=f"about {rate:.1%} of its packets are lost, with {len(partners)} of {probed} partners, planned none",
        zh=f"约 {rate:.1%} 的报文丢失，涉及 {probed} 个对端中的 {len(partners)} 个，规划为不丢失",
    )
    return Accusation(suspect=suspect, findings=(_finding(LOSS, device, said, suspect),))


def lossy_pair(kind: Kind, ends: tuple[Place, Place], lost: int, sent: int) -> Accusation:
    """NET010 at both ends of a pair that no third device can split."""
    a, b = ends
    suspect = accuse(kind, (a, b), 0, Certainty.MAYBE, rate=lost / max(1, sent))
    return _both_ends(
        LOSS,
        suspect,
        Text(
            en=f"{lost} of {sent} packets between {a} and {b} are lost",
            zh=f"{a} 与 {b} 之间 {sent} 个报文丢失 {lost} 个",
        ),
    )


def broken(a: Place, b: Place, kind: Kind = Kind.PATH) -> Accusation:
    """NET011 at both ends of a pair where nothing passes and nobody is to blame."""
    suspect = accuse(kind, (a, b), 0, Certainty.MAYBE)
    return _both_ends(
        PATH,
        suspect,
        Text(
            en=f"no packet passes between {a} and {b}, planned to reach each other",
            zh=f"{a} 与 {b} 之间不通，规划为互通",
        ),
    )


def partly(device: Place, partners: Sequence[Place], probed: int) -> Accusation:
    """NET011 at a device that reaches some partners well and others not at all."""
    suspect = accuse(Kind.PATH, (device, *partners[:1]), len(partners), Certainty.LIKELY)
    said = Text(
        en=f"it reaches {probed - len(partners)} of {probed} partners and never {shown(partners)}",
        zh=f"能到达 {probed} 个对端中的 {probed - len(partners)} 个，始终到不了 {shown(partners)}",
    )
    return Accusation(suspect=suspect, findings=(_finding(PATH, device, said, suspect),))


def uplinks(leaf: Place, pairs: Sequence[tuple[Place, Place]], crossing: int) -> Accusation:
    """NET011 at a leaf whose pairs with other leaves fail here and there."""
    suspect = accuse(Kind.UPLINKS, (leaf,), len(pairs), Certainty.LIKELY)
    first = f"{pairs[0][0]} - {pairs[0][1]}"
    said = Text(
        en=f"{len(pairs)} of {crossing} pairs with other leaves fail ({first} …), though both ends do well elsewhere",
        zh=f"与其他 leaf 之间的 {crossing} 对中有 {len(pairs)} 对不通（{first} …），而两端与其余设备都正常",
    )
    return Accusation(suspect=suspect, findings=(_finding(PATH, leaf, said, suspect),))


def parted(cluster: Place, groups: Sequence[Sequence[Place]]) -> Accusation:
    """NET011 at the cluster: groups of devices that do not reach each other, none of them the majority."""
    suspect = accuse(Kind.PARTITION, [p for g in groups for p in g], 0, Certainty.MAYBE)
    listed = "; ".join(f"[{shown(g)}]" for g in groups[:_SHOWN])
    said = Text(
        en=f"devices fall into {len(groups)} groups that do not reach each other, none with a majority: {listed}",
        zh=f"设备分成 {len(groups)} 组，互不相通，且没有一组占多数：{listed}",
    )
    return Accusation(suspect=suspect, findings=(_finding(PATH, cluster, said, suspect),))


def _both_ends(code: str, suspect: Suspect, said: Text) -> Accusation:
    a, b = suspect.places
    ends = ((a, b), (b, a))
    return Accusation(
        suspect=suspect, findings=tuple(_finding(code, here, said, suspect, blames=(there,)) for here, there in ends)
    )


def _finding(code: str, place: Place, said: Text, suspect: Suspect, *, blames: Sequence[Place] = ()) -> Finding:
    return Finding(
        code=code,
        severity=Severity.ERROR,
        place=place,
        message=said,
        remedy=suspect.next_test,
        certainty=suspect.certainty,
        blames=tuple(blames),
    )
