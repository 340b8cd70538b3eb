"""Make-believe jobs in many guises: other launchers, generations, servers, clocks and layouts; written from facts/logs.

Nothing here knows our readers, and nothing is shared with the other writer of bundles: two that agree prove more.
"""

from __future__ import annotations

import datetime as dt
import json
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

BEGIN = dt.datetime(2026, 3, 9, 21, 30, 0)  # noqa: DTZ001  (a printed clock)
STAGE = ("8.5", "9.0")  # generations that tag by stage
SIGNALS = {-9: "SIGKILL", -15: "SIGTERM", -11: "SIGSEGV"}


@dataclass(frozen=True)
class Guise:
    """How a job looks: nothing of it is a fault."""

    style: str = "8.5"
    hosts: tuple[str, ...] = ("node-1", "node-2")
    per_host: int = 4
    first_device: int = 0
    launcher: str = "torchrun"
    container: bool = False
    skew: tuple[float, ...] = ()
    measured: bool = True
    detail: bool = True  # task-level detail (facts/logs 4: off by default on A2 and A3)
    stdout: bool = False  # host lines go to the training output, no plog files
    dmesg: bool = True  # else the kernel's lines stand in messages alone
    execute: float = 900.0
    connect: float = 150.0
    strangers: bool = False  # an older job's files in the same folders
    everyone_prints: bool = False


GUISES = {
    "two of eight, 8.0": Guise(style="8.0", per_host=8, execute=1836.0, connect=120.0),
    "three of four, containers, clocks not measured": Guise(
        hosts=("gpu-a", "gpu-b", "gpu-c"), container=True, skew=(0.0, 97.0, -41.0), measured=False
    ),
    "two of sixteen, 9.0": Guise(style="9.0", per_host=16, execute=600.0, dmesg=False),
    "four of two, 8.2, msrun, no task detail": Guise(
        style="8.2", hosts=("w01", "w02", "w03", "w04"), per_host=2, launcher="msrun", detail=False
    ),
    "two of four, 8.2, lines on the output": Guise(style="8.2", stdout=True, everyone_prints=True),
    "twelve of two, 8.5": Guise(hosts=tuple(f"n{n:02}" for n in range(21, 33)), per_host=2, connect=240.0),
    "names against the order of ranks, devices 4 to 7, an older job's files": Guise(
        style="8.2", hosts=("zeta", "alpha"), first_device=4, strangers=True, skew=(3600.0, 0.0)
    ),
    "9.0, no task detail, messages alone": Guise(
        style="9.0", hosts=("h1", "h2", "h3"), per_host=2, detail=False, dmesg=False, skew=(-600.0, 0.0, 0.4)
    ),
}


@dataclass
class Who:
    """One rank."""

    rank: int
    host: str
    local: int
    device: int
    pid: int
    host_pid: int
    ip: str
    address: str


@dataclass
class Job:
    """Lines by file, written out at the end in the order of their true times."""

    root: Path
    guise: Guise
    ranks: list[Who] = field(default_factory=list)
    lines: dict[str, list[tuple[float, int, str]]] = field(default_factory=dict)
    ends: dict[int, tuple[float, int]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)  # hosts of which nothing was collected
    gaps: dict[str, list[str]] = field(default_factory=dict)
    silent: set[int] = field(default_factory=set)  # ranks that never began
    said: dict[str, list[str]] = field(default_factory=dict)  # what a host's launcher said before its summary
    extra: dict[str, str] = field(default_factory=dict)  # whole files

    def __post_init__(self) -> None:
        g = self.guise
        self.dice = random.Random(g.hosts[0])  # noqa: S311  (noise, no secret)
        for h, host in enumerate(g.hosts):
            pid = 500_000 + 3000 * h
            for i in range(g.per_host):
                pid += self.dice.randrange(5, 11)
                inner = 70 + 6 * i if g.container else pid
                self.ranks.append(
                    Who(
                        rank=h * g.per_host + i,
                        host=host,
                        local=i,
                        device=i + g.first_device,
                        pid=inner,
                        host_pid=pid,
                        ip=f"10.30.{h}.5",
                        address=f"192.168.{20 + h}.{40 + i}",
                    )
                )
        root = self.ranks[0]
        self.card = "enp66s0f0"
        self.group = f"{root.ip}%{self.card}_60000_0_1773063000123456"

    # ── clocks and files ──

    def shift(self, host: str) -> float:
        at = self.guise.hosts.index(host)
        return self.guise.skew[at] if at < len(self.guise.skew) else 0.0

    def when(self, host: str, at: float) -> dt.datetime:
        return BEGIN + dt.timedelta(seconds=at + self.shift(host))

    def stamp(self, host: str, at: float) -> str:
        w = self.when(host, at)
        return f"{w:%Y-%m-%d-%H:%M:%S}.{w.microsecond // 1000:03d}.{w.microsecond % 1000:03d}"

    def add(self, file: str, at: float, text: str) -> None:
        found = self.lines.setdefault(file, [])
        found.append((at, len(found), text))

    def digits(self, host: str, at: float) -> str:
        w = self.when(host, at)
        return f"{w:%Y%m%d%H%M%S}{w.microsecond // 1000:03d}"

    def output(self, who: Who) -> str:
        name = f"worker_{who.rank}.log" if self.guise.launcher == "msrun" else f"rank-{who.rank}.log"
        return f"{who.host}/train/{name}"

    def log(  # noqa: PLR0913  (the parts of one line)
        self, who: Who, at: float, text: str, *, level: str = "ERROR", module: str = "HCCL", part: str = "debug"
    ) -> None:
        blank = "" if self.guise.style == "8.0" and module == "HCCL" else " "
        body = f"{blank}[{who.pid}]{text}" if module in ("HCCL", "HCCP") else f"{who.pid} {text}"
        line = f"[{level}] {module}({who.pid},python3):{self.stamp(who.host, at)} [unit.cc:77]{body}"
        if self.guise.stdout:
            self.add(self.output(who), at, line)
            return
        self.add(f"{who.host}/ascend/log/{part}/plog/plog-{who.pid}_{self.digits(who.host, 0.8)}.log", at, line)

    def info(self, who: Who, at: float, text: str) -> None:
        self.log(who, at, text, level="INFO", part="run")

    def say(self, who: Who, at: float, text: str) -> None:
        prefix = "" if self.guise.launcher == "msrun" else f"[rank{who.rank}]: "
        self.add(self.output(who), at, f"{prefix}{text}")

    def kernel(self, host: str, at: float, text: str) -> None:
        w = self.when(host, at)
        if self.guise.dmesg:
            self.add(f"{host}/os/dmesg", at, f"[{w:%a %b} {w.day:2d} {w:%H:%M:%S %Y}] {text}")
        self.add(f"{host}/os/messages", at, f"{w:%b} {w.day:2d} {w:%H:%M:%S} {host} kernel: {text}")

    def event(self, who: Who, at: float, code: str, assertion: int = 1) -> None:
        """A device's event, in the old driver's words or the new one's, in the kernel's log and the device's own."""
        if self.guise.style in STAGE:
            text = (
                f"[ascend] [fault_manager] [fault_event_report 310] event_id=0x{code}; device_id={who.device}; "
                f"node_type=0x83[PORT]; event_type=0x3[x]; severity=2[Alarm]; assertion={assertion}[Event occur]; "
                f"event_raised_time={int(at * 1000)}"
            )
        else:
            text = f"[ascend] [ERROR] [dms_module] [dms_event_print 233] <dmp_daemon:9:9> Event id=0x{code}, "
            text += f"dev_id={who.device}, assertion={assertion}"
        self.kernel(who.host, at, text)
        name = f"{who.host}/device_log/slog/dev-os-0/run/event/event_{self.digits(who.host, 0)}.log"
        head = f"[EVENT] KERNEL(3551,sklogd):{self.stamp(who.host, at)} [klogd.c:248][104468.500000]"
        self.add(
            name, at, f"{head} [ascend] [dms_module] Event id=0x{code}, dev_id={who.device}, assertion={assertion}"
        )

    # ── what every job does ──

    def start(
        self,
        *,
        ready: bool = True,
        late: dict[str, float] | None = None,
        cards: dict[str, tuple[str, str]] | None = None,
        tls: dict[int, int] | None = None,
        mute: Iterable[int] = (),
    ) -> None:
        g = self.guise
        quiet = set(mute)
        for who in self.ranks:
            if who.rank in self.silent:
                continue
            t = 2.0 + (late or {}).get(who.host, 0.0) + 0.013 * who.rank
            name, ip = (cards or {}).get(who.host, (self.card, who.ip))
            self.add(
                self.output(who),
                t - 0.5,
                f"INFO:root:rank {who.rank} local_rank {who.local} world_size {len(self.ranks)}",
            )
            self.log(who, t, "comm buffer size is default value", level="WARNING")
            prefix = "[HCCL_ENV] " if g.style != "8.0" else ""
            self.info(who, t + 0.01, f"{prefix}HCCL_CONNECT_TIMEOUT set by environment to [{g.connect:.0f}]s")
            value = f"{g.execute:.2f}" if g.style in STAGE else f"{g.execute:.0f}"
            self.info(who, t + 0.02, f"{prefix}HCCL_EXEC_TIMEOUT set by environment to [{value}]s")
            if g.style in STAGE:
                self.info(who, t + 0.1, f"nic class[normal]: find nic[{ip}%{name}] success.")
            on = (tls or {}).get(who.rank, 0)
            self.add(
                f"{who.host}/ascend/log/run/device-{who.local}/device-{who.pid}_{self.digits(who.host, 1.5)}.log",
                t + 0.2,
                f"[INFO] HCCP(3000,hccp_service.bin):{self.stamp(who.host, t + 0.2)} "
                f"[rs_ssl.c:1529]tid:3000,rs_ssl_init(1529) : TLS SWITCH ({on})",
            )
            if who.rank in quiet:
                continue
            self._enter(who, t, name, ip)
            if ready:
                inner = "" if g.style == "8.0" else "Inner"
                self.info(
                    who,
                    6.0,
                    f"[HCCL_TRACE]HcclCommInitRootInfo{inner} success, take time [2098422]us, "
                    f"rankNum[{len(self.ranks)}], rank[{who.rank}]",
                )

    def _enter(self, who: Who, t: float, name: str, ip: str) -> None:
        root, inner = self.ranks[0], "" if self.guise.style == "8.0" else "Inner"
        if who is root:
            self.info(who, t + 0.3, "Entry-HcclGetRootInfo:rootInfo[0xffffe85c79a0], deviceLogicId[0]")
        self.info(
            who,
            t + 0.4,
            f"Entry-HcclCommInitRootInfo{inner}:ranks[{len(self.ranks)}], rank[{who.rank}], rootinfo: "
            f"host ip[{root.ip}] "
            f"port[60000] nicDeploy[1] identifier[{self.group}], deviceLogicId[{who.local}]",
        )
        mode = "[Flat]" if self.guise.style in STAGE else ""
        self.info(
            who,
            t + 0.5,
            f"[HCCL_TRACE]{mode}SetupAgent rankNum[{len(self.ranks)}], rank[{who.rank}], rootInfo "
            f"identifier[{self.group}], "
            f"server[{ip}%{name}], serverPort[60000]deviceType[2], logicDevId[{who.local}], phydevId[{who.device}], "
            f"deviceIp[{who.address}]",
        )

    def train(self, until: float, step: float = 4.0) -> None:
        """Progress on the last rank of each host, or on all; harmless allocator groups everywhere."""
        for who in self.ranks:
            if who.rank in self.silent:
                continue
            prints = self.guise.everyone_prints or who.local == self.guise.per_host - 1
            for n in range(int((until - 8.0) / step) + 1 if prints else 0):
                t = 8.0 + n * step
                w = self.when(who.host, t)
                self.add(
                    self.output(who),
                    t,
                    f" [{w:%Y-%m-%d %H:%M:%S}] iteration {n:8d}/  100000 | consumed samples: {n * 64} "
                    "| lm loss: 1.1E+01 |",
                )
            self.harmless(who, 20.0 + who.rank * 0.2)

    def harmless(self, who: Who, at: float) -> None:
        self.log(
            who,
            at,
            "aclrtMallocImpl:[EXEC][DEFAULT]alloc device memory failed, runtime result = 207001",
            module="ASCENDCL",
        )
        self.log(
            who,
            at + 0.001,
            '<a.cpp>:f:9: "[PTA]:"Get a block from the existing pool failed. Try to free cached blocks and reallocate. '
            'This error log can be ignored.""',
            module="APP",
        )

    # ── how those who wait end ──

    def wait(  # noqa: PLR0913  (what may differ from rank to rank)
        self,
        waiters: Iterable[Who],
        stall: float,
        *,
        peers: dict[int, int] | None = None,
        ops: dict[int, tuple[str, int]] | None = None,
        counts: dict[int, int] | None = None,
        accused: list[tuple[Who, str, float]] | None = None,
    ) -> None:
        g = self.guise
        tag = {
            "8.0": "[TaskExceptionHandler][Callback]",
            "8.2": "[TaskExceptionHandler][DealExceptionTask]",
            "8.5": "[TaskExecStage][Timeout][Host]",
        }.get(g.style, "[TaskExecStage][Timeout][HOST]")
        for who in waiters:
            op, index = (ops or {}).get(who.rank, ("AllReduce", 77))
            begin = stall + 0.02 * who.rank
            t = begin + g.execute
            peer = (peers or {}).get(who.rank)
            name = f"{op}_{self.group}"
            self.log(
                who,
                t - 0.03,
                f"The error from device(chipId:{who.local}, dieId:0), serial number is 3, hccl "
                "fftsplus task timeout occurred "
                "during task execution, stream_id:5",
                module="RUNTIME",
            )
            self.log(
                who,
                t,
                f"{tag}Task run failed, base information is streamID:[5], taskID[27], taskType[Notify "
                f"Wait], tag[{name}], "
                "AlgType(level 0-1-2):[ring].",
            )
            if g.detail and peer is not None:
                self.log(
                    who,
                    t + 0.001,
                    f"{tag}Task run failed, para information is notify id:[0x5], stage:[0], remote "
                    f"rank:[{peer}], tag[{name}].",
                )
            self.log(
                who,
                t + 0.002,
                f"{tag}Task run failed, groupRank information is group:[{self.group}], user define information[], "
                f"rankSize[{len(self.ranks)}], rankId[{who.rank}].",
            )
            self.log(
                who,
                t + 0.003,
                f"{tag}Task run failed, opData information is "
                f"timeStamp:[{self.stamp(who.host, begin)}], deviceId[{who.local}], "
                f"index[{index}], count[{(counts or {}).get(who.rank, 53687091)}], reduceType[sum], "
                "src[0x12c0c0013000], "
                "dst[0x12c0c0014000], dataType[bfp16].",
            )
            shown = peer if g.detail and peer is not None else "unknown"
            listed = list(accused or ())
            self._report(who, t + 0.05, shown, listed)
            self.log(
                who,
                t + 0.04,
                "GetError:[EXEC][DEFAULT]synchronize stream failed, runtime result = 507048",
                module="RUNTIME",
            )
            self.end(who, t + 3.0, 1)

    def _report(self, who: Who, at: float, peer: int | str, accused: list[tuple[Who, str, float]]) -> None:
        for text in (
            "Traceback (most recent call last):",
            '  File "/w/pretrain.py", line 9, in <module>',
            "    train_step()",
            "RuntimeError: npuSync: NPU function error: AclrtSynchronizeDeviceWithTimeout, error code is 507048",
        ):
            self.say(who, at, text)
        self.api_error(who, at, "ERR00100 PTA call acl api failed")
        if self.guise.style in STAGE:
            text = (
                f"[PID: {who.pid}] {self.stamp(who.host, at)} Communication_Error_Timeout(EI0002): A "
                "timeout occurs when the "
                f"Notify register waits for execution. Waiting peer rank: {peer}; task information: "
                "streamID:[5]; communicator: x"
            )
        else:
            text = (
                f"EI0002: [PID: {who.pid}] {self.stamp(who.host, at)} The wait execution of the "
                "Notify register times out. "
                "Reason: The Notify register has not received the Notify record from remote rank: "
                f"[{peer}]. base information: x"
            )
        self.say(who, at + 0.001, text)
        if accused:
            self.say(who, at + 0.002, f"there are(is) {len(accused)} abnormal device(s):")
        for other, kind, heard in accused[:3]:
            line = self.exception(who, other, kind, heard)
            self.say(who, at + 0.003, f"\t{line}")
            self.log(who, at - 0.01, line)

    def exception(self, who: Who, other: Who, kind: str, heard: float) -> str:
        w = self.when(who.host, heard)
        by = f"Discoverer:[{who.ip}/{who.device}], " if "Lost" in kind else ""
        return (
            f"Cluster Exception Location[IP/ID]:[{other.ip}/{other.device}], Arrival Time:[{w:%a %b} {w.day:2d} "
            f"{w:%H:%M:%S %Y}], {by}ExceptionType:[{kind}], Possible Reason:1. x"
        )

    def api_error(self, who: Who, at: float, text: str) -> None:
        w = self.when(who.host, at)
        self.say(
            who, at, f"[ERROR] {w:%Y-%m-%d-%H:%M:%S} (PID:{who.pid}, Device:{who.local}, RankID:{who.rank}) {text}"
        )

    def beat(
        self, hearers: Iterable[Who], accused: Iterable[Who], state: str, at: float, *, by: Who | None = None
    ) -> None:
        for n, other in enumerate(accused):
            for h in hearers:
                who = by or (other if state == "ERROR CQE" else h)
                t = at + 0.1 * n + 0.003 * h.rank
                if self.guise.style in STAGE:
                    text = (
                        f"[TaskExecStage][HeartbeatAbnormal]local rank [{h.ip}/{h.device}]: crimer rank "
                        f"[{other.ip}/{other.device}] status[{state}] by informer rank [{who.ip}/{who.device}]"
                    )
                else:
                    text = (
                        f"[HCCL_TRACE]rank [{h.ip}/{h.device}]: rank [{other.ip}/{other.device}] "
                        f"status[{state}] by rank "
                        f"[{who.ip}/{who.device}]"
                    )
                self.info(h, t, text)

    def traceback(self, who: Who, at: float, last: str, frame: str = "/w/data/loader.py") -> None:
        for text in (
            "Traceback (most recent call last):",
            '  File "/w/pretrain.py", line 9, in <module>',
            "    main()",
            f'  File "{frame}", line 118, in __getitem__',
            "    return self.table[key]",
            last,
        ):
            self.say(who, at, text)

    def end(self, who: Who, at: float, code: int) -> None:
        self.ends.setdefault(who.rank, (at, code))

    def stop_rest(self, first: Who, at: float) -> list[Who]:
        """The launcher ends the siblings of the first that failed."""
        rest = [w for w in self.ranks if w.host == first.host and w is not first and w.rank not in self.ends]
        for who in rest:
            self.end(who, at, -15)
        return rest

    def on(self, host: str) -> list[Who]:
        return [w for w in self.ranks if w.host == host]

    def off(self, *hosts: str) -> list[Who]:
        return [w for w in self.ranks if w.host not in hosts]

    # ── writing ──

    def write(self) -> Path:
        self._noise()
        if self.guise.launcher == "torchrun":
            self._launchers()
        for file, lines in self.lines.items():
            if file.partition("/")[0] in self.hidden:
                continue
            path = self.root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{text}\n" for _, _, text in sorted(lines, key=lambda x: (x[0], x[1]))))
        for file, text in self.extra.items():
            path = self.root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self._records()
        return self.root

    def _noise(self) -> None:
        for host in self.guise.hosts:
            for n in range(12):
                at = 3.0 + 37.0 * n
                self.kernel(
                    host,
                    at,
                    f"[ascend] [devdrv] [devdrv_pci_probe 812] <kworker/8:1:88:88> heartbeat ok (dev_id={n % 8})",
                )
                self.kernel(host, at + 9, f"EDAC MC{n % 8}: 1 CE memory read error on page")
        if self.guise.strangers:
            self._older_job()

    def _older_job(self) -> None:
        """A job of the morning: other pids, an AI Core error, an OOM kill, a port that fell and came back."""
        for host in self.guise.hosts:
            at = -9.0 * 3600
            name = f"{host}/ascend/log/debug/plog/plog-7777_{self.digits(host, at)}.log"
            head = f"[ERROR] RUNTIME(7777,python3):{self.stamp(host, at + 60)} [x.cc:1]7777 "
            self.add(
                name,
                at + 60,
                f"{head}there is an exception of aicore error, error code = 0x800000, runtime result = 507015",
            )
            self.kernel(host, at + 61, "Out of memory: Killed process 7777 (python3) total-vm:9kB, anon-rss:9kB")
            self.event(self.on(host)[0], at, "81078603", 1)
            self.event(self.on(host)[0], at + 20, "81078603", 0)

    def _launchers(self) -> None:
        for host in self.guise.hosts:
            mine = [(at, code, w) for w in self.on(host) if w.rank in self.ends for at, code in [self.ends[w.rank]]]
            told = "".join(f"{t}\n" for t in self.said.get(host, ()))
            bad = sorted((m for m in mine if m[1] != 0), key=lambda m: (m[1] == -15, m[0], m[2].rank))
            if bad:
                told += self._summary(host, bad)
            if told and host not in self.hidden:
                self.extra[f"{host}/train/launcher.log"] = told

    def _summary(self, host: str, bad: list[tuple[float, int, Who]]) -> str:
        first = bad[0]
        w = self.when(host, first[0])
        source = "281473 torch/distributed/elastic/multiprocessing/api.py"
        out = [
            f"W{w:%m%d %H:%M:%S}.100000 {source}:908] Sending process {x.host_pid} closing signal SIGTERM"
            for _, code, x in bad
            if code == -15
        ]
        _, code, who = first
        out.append(
            f"E{w:%m%d %H:%M:%S}.300000 {source}:882] failed (exitcode: {code}) local_rank: "
            f"{who.local} (pid: {who.host_pid}) "
            "of binary: /usr/bin/python3"
        )
        out += [
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
            "=" * 60,
            "/w/pretrain.py FAILED",
            "Failures:",
        ]
        others = [b for b in bad[1:] if b[1] == -15 or b[0] <= first[0] + 1.0]
        if not others:
            out.append("  <NO_OTHER_FAILURES>")
        for n, entry in enumerate(others, 1):
            out += self._entry(n, host, entry)
        out += ["-" * 60, "Root Cause (first observed failure):", *self._entry(0, host, first), "=" * 60]
        return "".join(f"{line}\n" for line in out)

    def _entry(self, n: int, host: str, entry: tuple[float, int, Who]) -> list[str]:
        at, code, who = entry
        name = f"({SIGNALS[code]})" if code in SIGNALS else ""
        return [
            f"[{n}]:",
            f"  time      : {self.when(host, at):%Y-%m-%d_%H:%M:%S}",
            f"  host      : {host}",
            f"  rank      : {who.rank} (local_rank: {who.local})",
            f"  exitcode  : {code} (pid: {who.host_pid}) {name}",
            "  error_file: <N/A>",
            f"  traceback : {'Signal received by PID' if code < 0 else 'To enable traceback see the docs'}",
        ]

    def _records(self) -> None:
        g = self.guise
        rows: list[dict[str, Any]] = []
        for w in self.ranks:
            row: dict[str, Any] = {"rank": w.rank, "host": w.host, "local_rank": w.local, "npu": w.device}
            row |= {"device_ip": w.address, "pid": None if w.rank in self.silent else w.pid}
            rows.append(row | ({"host_pid": w.host_pid} if g.container and w.rank not in self.silent else {}))
        hosts = [
            {"host": h, "ip": self.on(h)[0].ip, "clock_offset_s": self.shift(h) if g.measured else None}
            for h in g.hosts
        ]
        job = {"launcher": g.launcher, "world_size": len(rows), "started": BEGIN.isoformat(), "hosts": hosts, "env": {}}
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "job.json").write_text(json.dumps(job | {"ranks": rows, "master": f"{self.ranks[0].ip}:29500"}))
        told = {h: {"reachable": h not in self.hidden, "gaps": self.gaps.get(h, [])} for h in g.hosts}
        (self.root / "collect.json").write_text(json.dumps(told))
