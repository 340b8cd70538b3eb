"""Make-believe jobs that ended in a known way, written line by line from facts/logs; nothing here knows our readers."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

T0 = dt.datetime(2025, 12, 3, 14, 0, 0)  # noqa: DTZ001  (a printed clock)
STYLES = ("8.0", "8.2", "8.5", "9.0")


def moment(s: float, sep: str = "-") -> str:
    when = T0 + dt.timedelta(seconds=s)
    return f"{when:%Y-%m-%d}{sep}{when:%H:%M:%S}.{when.microsecond // 1000:03d}.{when.microsecond % 1000:03d}"


def asctime(s: float) -> str:
    when = T0 + dt.timedelta(seconds=s)
    return f"{when:%a %b} {when.day:2d} {when:%H:%M:%S %Y}"


@dataclass
class Rank:
    rank: int
    host: str
    npu: int
    pid: int | None
    host_pid: int
    address: str
    hostip: str


@dataclass
class Bundle:
    """A job of some hosts with some NPUs each; hosts' clocks may be wrong, pids may be a container's."""

    root: Path
    hosts: int = 2
    per_host: int = 4
    style: str = "8.5"
    skew: dict[str, float] = field(default_factory=dict)
    container: bool = False
    execute: float = 600.0
    connect: float = 120.0
    first_npu: int = 0
    measured: bool = True
    heartbeat: bool = True
    no_entry: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.files: dict[str, list[tuple[float, str]]] = {}
        self.ranks = [
            Rank(
                rank=h * self.per_host + i,
                host=f"n{h + 11}",
                npu=i + self.first_npu,
                pid=(100 + i * 7) if self.container else 30000 + h * 1000 + i * 9,
                host_pid=30000 + h * 1000 + i * 9,
                address=f"172.16.{h}.{i + 10}",
                hostip=f"10.9.0.{h + 1}",
            )
            for h in range(self.hosts)
            for i in range(self.per_host)
        ]
        self.group = f"{self.ranks[0].hostip}%eth1_60001_0_1764770400001234"
        self.unreachable: dict[str, list[str]] = {}
        self.gaps: dict[str, list[str]] = {}

    # ── writing ──

    def put(self, path: str, at: float, text: str) -> None:
        self.files.setdefault(path, []).append((at, text))

    def skewed(self, host: str, at: float) -> float:
        return at + self.skew.get(host, 0.0)

    def plog(  # noqa: PLR0913  (the parts of one line)
        self, r: Rank, at: float, text: str, *, level: str = "ERROR", module: str = "HCCL", part: str = "debug"
    ) -> None:
        name = f"plog-{r.pid}_{self.stamp(r, 1.0)}.log"
        t = self.skewed(r.host, at)
        self.put(
            f"{r.host}/ascend/log/{part}/plog/{name}",
            at,
            f"[{level}] {module}({r.pid},python3):{moment(t)} [file.cc:12] [{r.pid}]{text}",
        )

    def stamp(self, r: Rank, at: float) -> str:
        when = T0 + dt.timedelta(seconds=self.skewed(r.host, at))
        return f"{when:%Y%m%d%H%M%S}{when.microsecond // 1000:03d}"

    def say(self, r: Rank, at: float, text: str) -> None:
        self.put(f"{r.host}/train/rank-{r.rank}.log", at, text)

    def dmesg(self, host: str, at: float, text: str) -> None:
        self.put(f"{host}/os/dmesg", at, f"[{asctime(self.skewed(host, at))}] {text}")

    # ── what every job does ──

    def start(
        self,
        *,
        at: float = 2.0,
        ready: bool = True,
        late: dict[str, float] | None = None,
        cards: dict[str, tuple[str, str]] | None = None,
    ) -> None:
        late, cards = late or {}, cards or {}
        for r in self.ranks:
            t = at + late.get(r.host, 0.0) + r.rank * 0.01
            self.say(r, t, f"INFO:root:rank {r.rank} local_rank {r.npu} world_size {len(self.ranks)}")
            self.plog(r, t - 1.5, "comm buffer size is default value", level="WARNING")
            for n, v in (("HCCL_CONNECT_TIMEOUT", f"{self.connect:.0f}"), ("HCCL_EXEC_TIMEOUT", f"{self.execute:.0f}")):
                self.plog(r, t, f"[HCCL_ENV] {n} set by environment to [{v}]s", level="INFO", part="run")
            name, addr = cards.get(r.host, ("eth1", r.hostip))
            self.plog(r, t + 0.1, f"nic class[normal]: find nic[{addr}%{name}] success.", level="INFO", part="run")
            if r.rank in self.no_entry:
                continue
            if r.rank == 0:
                self.plog(
                    r, t + 0.2, "Entry-HcclGetRootInfo:rootInfo[0xfff], deviceLogicId[0]", level="INFO", part="run"
                )
            inner = "" if self.style == "8.0" else "Inner"
            self.plog(
                r,
                t + 0.3,
                f"Entry-HcclCommInitRootInfo{inner}:ranks[{len(self.ranks)}], rank[{r.rank}], rootinfo: host "
                f"ip[{self.ranks[0].hostip}] port[60001] nicDeploy[1] identifier[{self.group}], "
                f"deviceLogicId[{r.npu - self.first_npu}]",
                level="INFO",
                part="run",
            )
            self.plog(
                r,
                t + 0.4,
                f"[HCCL_TRACE]SetupAgent rankNum[{len(self.ranks)}], rank[{r.rank}], rootInfo "
                f"identifier[{self.group}], server[{addr}%{name}], logicDevId[{r.npu - self.first_npu}], "
                f"phydevId[{r.npu}], deviceIp[{r.address}]",
                level="INFO",
                part="run",
            )
            if ready:
                self.plog(
                    r,
                    at + 3.0,
                    f"[HCCL_TRACE]HcclCommInitRootInfo{inner} success,take time [1098422]us, "
                    f"rankNum[{len(self.ranks)}], rank[{r.rank}]",
                    level="INFO",
                    part="run",
                )

    def train(self, until: float, begin: float = 6.0, step: float = 3.0) -> None:
        for n in range(int((until - begin) / step) + 1):
            t = begin + n * step
            when = T0 + dt.timedelta(seconds=self.skewed(self.ranks[0].host, t))
            self.say(self.ranks[0], t, f" [{when:%Y-%m-%d %H:%M:%S}] iteration {n:8d}/  100000 | lm loss: 5.0E+00 |")

    def wait(
        self,
        ranks: list[Rank],
        stall: float,
        *,
        tags: dict[int, tuple[str, int]] | None = None,
        unknown: bool = False,
        peer: dict[int, int] | None = None,
    ) -> None:
        """EI0002 of those who waited, at the end of the timeout."""
        new = self.style in ("8.5", "9.0")
        tag_ = (
            "[TaskExecStage][Timeout][HOST]"
            if self.style == "9.0"
            else "[TaskExecStage][Timeout][Host]"
            if new
            else "[TaskExceptionHandler][DealExceptionTask]"
        )
        for r in ranks:
            op, index = (tags or {}).get(r.rank, ("AllReduce", 812))
            t = stall + self.execute + r.rank * 0.05
            other = (peer or {}).get(r.rank, (r.rank + 1) % len(self.ranks))
            when = moment(self.skewed(r.host, stall + r.rank * 0.05))
            self.plog(
                r,
                t - 0.02,
                f"The error from device(chipId:{r.npu}, dieId:0), serial number is 3, hccl fftsplus task timeout "
                "occurred during task execution, stream_id:5",
                module="RUNTIME",
            )
            self.plog(
                r,
                t,
                f"{tag_}Task run failed, base information is streamID:[5], taskID[27], taskType[Notify Wait], "
                f"tag[{op}_{self.group}], AlgType(level 0-1-2):[x].",
            )
            if not unknown:
                self.plog(
                    r,
                    t + 0.001,
                    f"{tag_}Task run failed, para information is notify id:[0x5], stage:[0], remote "
                    f"rank:[{other}], tag[{op}_{self.group}].",
                )
            self.plog(
                r,
                t + 0.002,
                f"{tag_}Task run failed, groupRank information is group:[{self.group}], user define "
                f"information[], rankSize[{len(self.ranks)}], rankId[{r.rank}].",
            )
            self.plog(
                r,
                t + 0.003,
                f"{tag_}Task run failed, opData information is timeStamp:[{when}], "
                f"deviceId[{r.npu - self.first_npu}], index[{index}], count[4096], reduceType[sum], src[0x1], "
                "dst[0x2], dataType[bfp16].",
            )
            self.say(r, t + 0.1, f"[rank{r.rank}]: Traceback (most recent call last):")
            self.say(r, t + 0.1, f'[rank{r.rank}]:   File "/opt/t.py", line 9, in <module>')
            self.say(
                r,
                t + 0.1,
                f"[rank{r.rank}]: RuntimeError: npuSynchronizeDevice NPU function error: "
                "AclrtSynchronizeDeviceWithTimeout, error code is 507048",
            )
            self.ptaerr(r, t, "ERR00100 PTA call acl api failed")
            text = (
                "Communication_Error_Timeout(EI0002): A timeout occurs when the Notify register waits for "
                f"execution. Waiting peer rank: {'unknown' if unknown else other};"
                if new
                else "EI0002: The wait execution of the Notify register times out. Reason: has not received the "
                f"Notify record from remote rank: [{'unknown' if unknown else other}]."
            )
            self.say(r, t + 0.1, f"[rank{r.rank}]: [PID: {r.pid}] {moment(self.skewed(r.host, t))} {text}")
            self.exited(r, t + 3.0, 1)

    def ptaerr(self, r: Rank, at: float, text: str) -> None:
        when = T0 + dt.timedelta(seconds=self.skewed(r.host, at))
        self.say(
            r,
            at + 0.1,
            f"[rank{r.rank}]: [ERROR] {when:%Y-%m-%d-%H:%M:%S} (PID:{r.pid}, Device:{r.npu - self.first_npu}, "
            f"RankID:{r.rank}) {text}",
        )

    def beat(
        self, accused: list[Rank], hearers: list[Rank], state: str, at: float, *, by: dict[int, Rank] | None = None
    ) -> None:
        if not self.heartbeat:
            return
        for h in hearers:
            for a in accused:
                who = (by or {}).get(a.rank) or (a if state == "ERROR CQE" else h)
                if self.style in ("8.5", "9.0"):
                    text = (
                        f"[TaskExecStage][HeartbeatAbnormal]local rank [{h.hostip}/{h.npu}]: crimer rank "
                        f"[{a.hostip}/{a.npu}] status[{state}] by informer rank [{who.hostip}/{who.npu}]"
                    )
                else:
                    text = (
                        f"[HCCL_TRACE]rank [{h.hostip}/{h.npu}]: rank [{a.hostip}/{a.npu}] status[{state}] by "
                        f"rank [{who.hostip}/{who.npu}]"
                    )
                self.plog(h, at, text, level="INFO", part="run")

    def exited(self, r: Rank, at: float, code: int, *, stopped: bool = False) -> None:
        when = T0 + dt.timedelta(seconds=self.skewed(r.host, at))
        log = f"{r.host}/train/launcher.log"
        if stopped:
            self.put(
                log,
                at - 0.5,
                f"W1203 {when:%H:%M:%S}.100000 281473 torch/distributed/elastic/multiprocessing/api.py:908] "
                f"Sending process {r.host_pid} closing signal SIGTERM",
            )
        names = {-9: " (SIGKILL)", -15: " (SIGTERM)", -11: " (SIGSEGV)"}
        self.put(log, at, f"[{0}]:")
        for key, value in (
            ("time      ", f"{when:%Y-%m-%d_%H:%M:%S}"),
            ("host      ", r.host),
            ("rank      ", f"{r.rank} (local_rank: {r.rank % self.per_host})"),
            ("exitcode  ", f"{code} (pid: {r.host_pid}){names.get(code, ' ')}"),
        ):
            self.put(log, at, f"  {key}: {value}")

    def stop_siblings(self, of: Rank, at: float) -> list[Rank]:
        rest = [r for r in self.ranks if r.host == of.host and r is not of]
        for r in rest:
            self.exited(r, at, -15, stopped=True)
        return rest

    def on(self, host: str) -> list[Rank]:
        return [r for r in self.ranks if r.host == host]

    def off(self, host: str) -> list[Rank]:
        return [r for r in self.ranks if r.host != host]

    def traceback(self, r: Rank, at: float, last: str, frame: str = '  File "/opt/data.py", line 77, in load') -> None:
        for text in (
            "Traceback (most recent call last):",
            '  File "/opt/t.py", line 9, in <module>',
            frame,
            "    x()",
            last,
        ):
            self.say(r, at, f"[rank{r.rank}]: {text}")

    def write(self) -> Path:
        for path, lines in self.files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(f"{t}\n" for _, t in sorted(lines, key=lambda item: item[0])))
        for host in dict.fromkeys(r.host for r in self.ranks):
            kernel = self.root / host / "os" / "dmesg"
            if host not in self.unreachable and not kernel.exists() and "dmesg" not in str(self.gaps.get(host)):
                kernel.parent.mkdir(parents=True, exist_ok=True)
                kernel.write_text(f"[{asctime(self.skewed(host, 1.0))}] eth0: link up\n")
        offsets = {
            h: (self.skew.get(h, 0.0) if self.measured else None) for h in dict.fromkeys(r.host for r in self.ranks)
        }
        ips = {r.host: r.hostip for r in self.ranks}
        job = {
            "launcher": "torchrun",
            "world_size": len(self.ranks),
            "started": T0.isoformat(),
            "hosts": [{"host": h, "ip": ips[h], "clock_offset_s": o} for h, o in offsets.items()],
            "env": {},
            "ranks": [
                {
                    "rank": r.rank,
                    "host": r.host,
                    "local_rank": r.rank % self.per_host,
                    "npu": r.npu,
                    "device_ip": r.address,
                    "pid": r.pid,
                }
                | ({"host_pid": r.host_pid} if self.container else {})
                for r in self.ranks
            ],
        }
        (self.root / "job.json").write_text(json.dumps(job))
        collect = {h: {"reachable": h not in self.unreachable, "gaps": self.gaps.get(h, [])} for h in offsets}
        (self.root / "collect.json").write_text(json.dumps(collect))
        return self.root
