"""What a farm's make-believe servers say: hccn_tool, npu-smi, a few programs of the host (facts/hccn 3)."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from rankready.model.place import device_place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.model.cluster import Cluster
    from rankready.model.place import Place

Answer = tuple[str, str, int]

DSCP = "dscp      tc\n" + "".join(f"{dscp:4}{2 if dscp == 33 else 0:8}\n" for dscp in range(64))
OPTICAL = "optical info:\n" + "".join(
    f"{label:21}: {value}\n"
    for label, value in {
        "present": "present",
        "temperature": "44 C",
        "Vcc": "3281.40 mV",
        **{f"Tx Power{n}": "1.2011 mW" for n in range(4)},
        **{f"Rx Power{n}": "1.0007 mW" for n in range(4)},
        "Vcc High Thres": "3465.00 mV",
        "Vcc Low Thres": "3135.00 mV",
        "Temp High Thres": "70 C",
        "Temp Low Thres": "0 C",
        "TxPower High Thres": "3.5481 mW",
        "TxPower Low Thres": "0.2818 mW",
        "RxPower High Thres": "3.5481 mW",
        "RxPower Low Thres": "0.1445 mW",
        **{f"Tx Bias{n}": "7.9000 mA" for n in range(4)},
        **{f"{way} {kind} Flag": "0x0" for kind in ("Los", "LoL") for way in ("Tx", "Rx")},
        **{f"Media SNR Lane{n}": "23.0211 dB" for n in range(4)},
    }.items()
)
STAT = "packet statistics:\n" + "".join(
    f"{name}:0\n"
    for name in (
        *(f"mac_tx_pfc_pri{n}_pkt_num" for n in range(8)),
        *(f"mac_rx_pfc_pri{n}_pkt_num" for n in range(8)),
        "mac_tx_bad_pkt_num",
        "mac_rx_bad_pkt_num",
        "mac_rx_fcs_err_pkt_num",
        "roce_out_of_order_num",
        "roce_qp_status_err_num",
        "roce_new_pkt_rty_num",
    )
)
LEAF = 32  # servers on one leaf
LOST = "".join(f"recv time out seq={n}\n" for n in range(3))
GOT = "".join(f"recv seq={n},time=0.0{31 + n}000ms\n" for n in range(3))


_ALIKE = {
    "command -v hccn_tool": "path=/usr/bin/hccn_tool\n",
    "ss -Hltn": "LISTEN 0      128    0.0.0.0:22 0.0.0.0:*\nend\n",
}


@dataclass
class Words:
    """The words of a planned cluster's servers; ``dead`` devices answer nobody, ``busy_probes`` are in use.

    A job holds the ``held`` ones.
    """

    cluster: Cluster
    dead: set[Place] = field(default_factory=set)
    busy_probes: set[Place] = field(default_factory=set)
    held: set[Place] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._number = {s.name: n for n, s in enumerate(self.cluster.servers)}
        self._owner: dict[IPv4Address, Place] = {
            a.interface.ip: p for p, a in self.cluster.addressing.items() if isinstance(a.interface.ip, IPv4Address)
        }

    def answer(self, server: str, argv: Sequence[str]) -> Answer:  # noqa: PLR0911  (one a program)
        """Answer one call; a constant shell script of the product runs in a real shell, once for all servers."""
        match tuple(argv):
            case ("hccn_tool", "-i", device, *words):
                return self._device(device_place(server, int(device)), tuple(words))
            case ("npu-smi", "info"):
                return _chips(len(self.cluster.server(server).devices)), "", 0
            case ("npu-smi", *_):
                return "Error parameter of -t\n", "", 215
            case ("ip", "-o", "addr"):
                return f"2: eth0    inet {self._host(server)}/16 scope global eth0\\       valid_lft forever\n", "", 0
            case ("sh", "-c", shell, "sh", *rest):
                return self._shell(server, shell, tuple(rest))
            case ("ufw" | "nft" | "firewall-cmd" | "lspci", *_):
                return "", f"{argv[0]}: command not found\n", 127
            case words:
                return _really(words)

    def _shell(self, server: str, shell: str, rest: tuple[str, ...]) -> Answer:  # noqa: PLR0911  (one a question)
        match rest:
            case ("hostname,user,os,clock",):
                return f"hostname={server}\nuser=root\nos=Linux\nclock={time.time():.6f}\n", "", 0
            case ("getent ahosts $(uname -n)",):
                return f"hostname={server}\naddress={self._host(server)}\nend\n", "", 0
            case ("cat", "/etc/hccn.conf"):
                return self._conf(server), "", 0
            case ("ls /dev/davinci*",):
                names = [f"davinci{d}" for d in self.cluster.server(server).devices]
                return "\n".join([*names, "end"]) + "\n", "", 0
            case ("ufw" | "nft" | "firewall-cmd", *_):
                return "", f"{rest[0]}: command not found\n", 127
            case ("ss -Hltn" | "command -v hccn_tool" as asked,):
                return _ALIKE[asked], "", 0
            case (word, *_) if word.startswith("dmesg"):
                return "first=[    0.000000] Linux version 6.1\nend\n" if "NPU" in word else "", "", 0
        return _really(("sh", "-c", shell, "sh", *rest))

    def _host(self, server: str) -> IPv4Address:
        return IPv4Address("172.30.0.0") + self._number[server] + 1

    def _conf(self, server: str) -> str:
        lines: list[str] = []
        for place in self.cluster.server(server).device_places():
            planned = self.cluster.addressing[place]
            lines.append(f"address_{place.device}={planned.interface.ip}")
            lines.append(f"netmask_{place.device}={planned.interface.netmask}")
            lines += [f"gateway_{place.device}={planned.gateway}"] if planned.gateway else []
            lines += [f"netdetect_{place.device}={planned.netdetect}"] if planned.netdetect else []
        return "\n".join(lines) + "\n"

    def _device(self, place: Place, words: tuple[str, ...]) -> Answer:
        if words[:3] == ("-ping", "-g", "address"):
            if place in self.busy_probes:
                return "hccn_tool is busy, please try again.\n", "", 11
            return self._ping(place, IPv4Address(words[3]))
        planned = self.cluster.addressing[place]
        if words == ("-gateway", "-g") and planned.gateway is None:
            return "", "Get gateway failed, because no gateway was preset there!\n", 2
        said = self._facts(place).get(words)
        return (said, "", 0) if said is not None else ("", "Get invalid major cmd.\n", 1)

    def _facts(self, place: Place) -> Mapping[tuple[str, ...], str]:
        planned = self.cluster.addressing[place]
        number, d = self._number[place.name], place.device
        day = "Mon Mar  2 08:01:22 2026"
        return {
            ("-ip", "-g"): f"ipaddr:{planned.interface.ip}\nnetmask:{planned.interface.netmask}\n",
            ("-gateway", "-g"): f"default gateway:{planned.gateway}, Iface:eth{d}\n",
            ("-netdetect", "-g"): f"netdetect address: {planned.netdetect or IPv4Address(0)}\n",
            ("-net_health", "-g"): f"net health status: {'Success' if planned.netdetect else 'Init'}\n",
            ("-link", "-g"): "link status: UP\n",
            ("-mac", "-g"): f"mac addr: 02:5e:{number >> 8:02x}:{number & 255:02x}:00:{d:02x}\n",
            ("-mtu", "-g"): "mtu:1500\n",
            ("-tls", "-g"): f"dev_id:{d}, tls switch[0](0:disable, 1:enable), tls preconfigured[1]"
            "(0:non-preset, 1:preset), tls alarm time threshold[60]days\n",
            ("-process", "-g"): f"device hccp process: {'exist' if place in self.held else 'not exist'}\n",
            ("-lldp", "-g"): _lldp(number, d),
            ("-link_stat", "-g"): f"[devid {d}]current time        : {day}\n[devid {d}]link up count       : 1\n"
            f"[devid {d}]link down count     : 0\n[devid {d}]link change records :\n[devid {d}]    {day}    LINK UP\n",
            ("-speed", "-g"): "Speed: 200000 Mb/s\n",
            ("-fec", "-g"): "fec mode: rs FEC mode\n",
            ("-pfc", "-g"): "PFC configuration:\npriority   0 1 2 3 4 5 6 7\nenabled    0 0 0 0 1 0 0 0\n",
            ("-dscp_to_tc", "-g"): DSCP,
            ("-optical", "-g"): OPTICAL,
            ("-version", "-g"): "Network Driver Version:    23.0.5\nNetwork Firmware Version:  7.1.0.7.220\n",
            ("-stat", "-g"): STAT,
        }

    def _ping(self, source: Place, target: IPv4Address) -> Answer:
        head = f"device {source.device} PING {target}\n"
        owner = self._owner.get(target)
        if owner is None or owner in self.dead or source in self.dead:
            return (
                f"{head}{LOST}3 packets transmitted, 0 received, 100.00% packet loss\n",
                "Command execute failed!\n",
                1,
            )
        return f"{head}{GOT}3 packets transmitted, 3 received, 0.00% packet loss\n", "", 0


def _lldp(number: int, device: int) -> str:
    leaf, port = number // LEAF + 1, number % LEAF * 16 + device
    return (
        f"Chassis ID TLV\n\tMAC: 02:5e:ff:00:{leaf >> 8:02x}:{leaf & 255:02x}\nPort ID TLV\n\tIfname: GE1/0/{port}\n"
        f"Time to Live TLV\n\t120\nPort Description TLV\n\tGE1/0/{port}\nSystem Name TLV\n\tleaf{leaf}\n"
        "System Description TLV\n\tExample leaf\nSystem Capabilities TLV\n\tSystem capabilities:  Bridge, Router\n"
        "\tEnabled capabilities: Bridge, Router\nManagement Address TLV\n\tIPv4: 10.0.0.11\n\tIfindex: 57\n\tOID: 0.\n"
        f"Maximum Frame Size TLV\n\t9216\nPort VLAN ID TLV\n\tPVID: {100 + device % 4}\nEnd of LLDPDU TLV\n"
    )


@cache
def _chips(count: int) -> str:
    """The table of `npu-smi info` of an A1 server (facts/hccn 10)."""
    rule = "+===========================+===============+====================================================+"
    head = "+---------------------------+---------------+----------------------------------------------------+"
    rows = [
        "+------------------------------------------------------------------------------------------------+",
        "| npu-smi 23.0.5                   Version: 23.0.5                                               |",
        head,
        "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|",
        "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |",
        rule,
    ]
    for d in range(count):
        rows += [
            f"| {d}     910A                | OK            | 67.1        37                0    / 0             |",
            f"| 0                         | 0000:6{d}:00.0  | 0           1210 / 15567      0    / 32768         |",
            rule,
        ]
    rows += [
        head,
        "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |",
        rule,
    ]
    for d in range(count):
        rows += [
            f"| No running processes found in NPU {d}                                                            |",
            rule,
        ]
    return "\n".join(rows) + "\n"


@cache
def _really(words: tuple[str, ...]) -> Answer:
    """Ask this machine: the words name nothing of a server's own, so one answer does for all."""
    try:
        done = subprocess.run(list(words), capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False)
    except FileNotFoundError:
        return "", f"{words[0]}: command not found\n", 127
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode
