"""One story for each kind of first fault (facts/logs 12.1): what happened, and what must be found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from log_bundles import moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from log_bundles import Bundle, Rank


@dataclass(frozen=True)
class Truth:
    outcome: str
    kind: str
    hosts: tuple[str, ...]
    ranks: tuple[int, ...] | None
    at: float | None = None
    tolerance: float = 6.0


def oom(b: Bundle) -> Truth:
    b.start()
    b.train(200)
    r = b.ranks[-2]
    b.dmesg(r.host, 201, f"Out of memory: Killed process {r.host_pid} (python3) total-vm:9kB, anon-rss:1kB")
    b.exited(r, 202, -9)
    gone = [r, *b.stop_siblings(r, 203)]
    b.beat(gone, b.off(r.host), "LOST", 232)
    b.wait(b.off(r.host), 201)
    return Truth("cause", "host_oom_kill", (r.host,), (r.rank,), 201)


def old_oom_wording(b: Bundle) -> Truth:
    b.start()
    b.train(200)
    r = b.ranks[1]
    b.dmesg(
        r.host, 201, f"Memory cgroup out of memory: Kill process {r.host_pid} (python3) score 900 or sacrifice child"
    )
    b.exited(r, 202, -9)
    b.stop_siblings(r, 203)
    b.wait(b.off(r.host), 201)
    return Truth("cause", "host_oom_kill", (r.host,), (r.rank,), 201)


def oom_of_a_worker(b: Bundle) -> Truth:
    """The kernel kills a data-loader process; its rank tells which one."""
    b.start()
    b.train(200)
    r = b.ranks[2]
    b.dmesg(r.host, 201, f"Out of memory: Killed process {r.host_pid + 5} (pt_data_worker) total-vm:9kB, anon-rss:1kB")
    b.traceback(r, 202, f"RuntimeError: DataLoader worker (pid {r.host_pid + 5}) is killed by signal: Killed.")
    b.exited(r, 203, 1)
    b.stop_siblings(r, 204)
    b.wait(b.off(r.host), 201)
    return Truth("cause", "host_oom_kill", (r.host,), (r.rank,), 201)


def oom_of_a_stranger(b: Bundle) -> Truth:
    """The kernel killed a process whose number is that of a rank inside its container."""
    truth = python_exception(b)
    if b.container:
        b.dmesg("n11", 150, f"Out of memory: Killed process {b.ranks[0].pid} (java) total-vm:9kB, anon-rss:1kB")
    return truth


def stuck_in_a_subgroup(b: Bundle) -> Truth:
    """Ranks wait in a communicator of half the job, whose numbers are its own: number 1 of it is rank 3."""
    b.start()
    b.train(100)
    half = [r for r in b.ranks if r.rank % 2 == 1]
    whole, size = b.group, len(b.ranks)
    for n, r in enumerate(half):
        b.plog(
            r,
            20,
            f"Entry-HcclCommInitRootInfo:ranks[{len(half)}], rank[{n}], rootinfo: host ip[{half[0].hostip}] "
            "port[60002] nicDeploy[1] identifier[sub_1], deviceLogicId[0]",
            level="INFO",
            part="run",
        )
    quiet = half[1]
    b.group, ranks = "sub_1", b.ranks
    b.wait([r for r in half if r is not quiet], 101, peer={r.rank: 1 for r in half})
    b.group = whole
    b.files = {
        p: [
            (
                t,
                x.replace(
                    f"group:[sub_1], user define information[], rankSize[{size}]",
                    f"group:[sub_1], user define information[], rankSize[{len(half)}]",
                ),
            )
            for t, x in v
        ]
        for p, v in b.files.items()
    }
    for n, r in enumerate(half):
        b.files = {
            p: [
                (
                    t,
                    x.replace(f"rankSize[{len(half)}], rankId[{r.rank}]", f"rankSize[{len(half)}], rankId[{n}]")
                    if f"-{r.pid}_" in p and f"/{r.host}/" in f"/{p}"
                    else x,
                )
                for t, x in v
            ]
            for p, v in b.files.items()
        }
    for r in ranks:
        if r not in half or r is quiet:
            b.exited(r, 101 + b.execute + 8, -15, stopped=True)
    return Truth("suspect", "stuck", (quiet.host,), (quiet.rank,), 101, 30)


def npu_oom(b: Bundle) -> Truth:
    b.start()
    b.train(90)
    for r in b.ranks:  # harmless ones everywhere
        b.plog(r, 40, "aclrtMallocImpl: alloc device memory failed, runtime result = 207001", module="ASCENDCL")
        b.plog(
            r,
            40.0003,
            '"[PTA]:"Get a block from the existing pool failed. This error log can be ignored.""',
            module="APP",
        )
    r = b.ranks[2]
    b.plog(r, 91, "aclrtMallocImpl: alloc device memory failed, runtime result = 207001", module="ASCENDCL")
    b.traceback(r, 91.1, "RuntimeError: NPU out of memory. Tried to allocate 20.00 GiB (NPU 2; 60.96 GiB total)")
    b.ptaerr(r, 91.2, "ERR00006 PTA memory error")
    b.exited(r, 92, 1)
    b.stop_siblings(r, 93)
    b.wait(b.off(r.host), 91)
    return Truth("cause", "npu_oom", (r.host,), (r.rank,), 91)


def python_exception(b: Bundle) -> Truth:
    b.start()
    b.train(300)
    r = b.ranks[5]
    b.traceback(r, 301, "ValueError: cannot reshape array of size 12 into shape (5,)")
    b.exited(r, 302, 1)
    b.beat([r, *b.stop_siblings(r, 303)], b.off(r.host), "LOST", 332)
    b.wait(b.off(r.host), 301, unknown=True)
    return Truth("cause", "python_exception", (r.host,), (r.rank,), 301)


def aicpu(b: Bundle) -> Truth:
    b.start()
    b.train(120)
    r = b.ranks[3]
    b.plog(
        r,
        121,
        "ProcessStarsAicpuErrorInfo: The error from device(chipId:3, dieId:0), serial number is 1, there is an "
        "exception of aicpu error",
        module="RUNTIME",
    )
    b.plog(
        r,
        121.001,
        "PrintErrorInfo: Aicpu kernel execute failed, device_id=3, stream_id=2, fault "
        "kernel_name=GetNextFromQueue_1a2b3c4d",
        module="RUNTIME",
    )
    b.plog(r, 121.002, "synchronize stream failed, runtime result = 507018", module="ASCENDCL")
    b.exited(r, 122, 1)
    b.stop_siblings(r, 123)
    b.wait(b.off(r.host), 121)
    return Truth("cause", "aicpu_exception", (r.host,), (r.rank,), 121)


def device_lost(b: Bundle) -> Truth:
    b.start()
    b.train(150)
    r = b.ranks[6]
    b.dmesg(
        r.host,
        151,
        f"[ascend] [ERROR] [drv_soft_fault] [soft_fault_check 88] Heartbeat lost! (device_id={r.npu}; count=3)",
    )
    b.plog(r, 152, "halResourceConfig failed, runtime result = 507901", module="RUNTIME")
    b.exited(r, 155, 1)
    b.stop_siblings(r, 156)
    b.wait(b.off(r.host), 151)
    return Truth("cause", "device_lost", (r.host,), (r.rank,), 151)


def ecc_new_driver(b: Bundle) -> Truth:
    b.start()
    b.train(150)
    r = b.ranks[0]
    b.dmesg(
        r.host,
        151,
        f"[ascend] [fault_manager] event_id=0x80E01801; device_id={r.npu}; node_type=0x70[HBM]; "
        "event_type=0xc[multi bit ecc]; severity=3[Critical]; assertion=1[Event occur]; "
        "event_raised_time=1764770551000",
    )
    b.plog(r, 151.5, "ProcRasErrorInfo: hbm multi bit ecc error, event_id=0x80e01801.", module="RUNTIME")
    b.exited(r, 154, 1)
    b.stop_siblings(r, 155)
    b.wait(b.off(r.host), 151)
    return Truth("cause", "hbm_ecc", (r.host,), (r.rank,), 151)


def ecc_of_another(b: Bundle) -> Truth:
    """ECC on a device outside the job; an exception is the cause."""
    b.start()
    b.train(300)
    r = b.ranks[1]
    b.dmesg(
        r.host,
        280,
        f"[ascend] [ERROR] [dms_module] Event id=0x80e01801, dev_id={b.first_npu + b.per_host + 3}, assertion=1",
    )
    b.traceback(r, 301, "KeyError: 'input_ids'")
    b.exited(r, 302, 1)
    b.stop_siblings(r, 303)
    b.wait(b.off(r.host), 301)
    return Truth("cause", "python_exception", (r.host,), (r.rank,), 301)


def _cqe(b: Bundle, a: Rank, c: Rank, at: float) -> None:
    b.plog(
        a,
        at,
        f"[Heartbeat]cqe error status[12], time:[2025-12-03 14:00:00.000000],localIP[{a.address}], "
        f"remoteIP:[{c.address}]",
    )


def link_down(b: Bundle) -> Truth:
    b.start()
    b.train(240)
    a, c = b.ranks[1], b.ranks[1 + b.per_host]
    b.dmesg(a.host, 100 - 3600, f"[ascend] [ERROR] [dms_module] Event id=0x81078603, dev_id={a.npu}, assertion=1")
    b.dmesg(a.host, 101 - 3600, f"[ascend] [ERROR] [dms_module] Event id=0x81078603, dev_id={a.npu}, assertion=0")
    b.dmesg(
        c.host,
        241,
        f"[ascend] [fault_manager] event_id=0x81078603; device_id={c.npu}; node_type=0x83[PORT]; "
        "event_type=0x3[port link status change(up to down)]; severity=2[Alarm]; assertion=1[Event occur]; x",
    )
    b.dmesg(
        c.host,
        260,
        f"[ascend] [fault_manager] event_id=0x81078603; device_id={c.npu}; node_type=0x83[PORT]; "
        "event_type=0x3[x]; severity=2[Alarm]; assertion=0[Event resume]; x",
    )
    _cqe(b, a, c, 271)
    _cqe(b, c, a, 271)
    b.beat([a, c], b.ranks, "ERROR CQE", 272)
    b.wait(b.ranks, 241)
    return Truth("cause", "link_down", (c.host,), (c.rank,), 241)


def link_down_at_start(b: Bundle) -> Truth:
    b.start(ready=False)
    r = b.ranks[2]
    b.plog(r, 4.5, "tid:1,ra_rdev_init: [init][ra_rdev]rdev init failed, ret(-67)", module="HCCP")
    b.plog(
        r,
        4.502,
        f"[HcclSocket][Listen] socket type[0], listen on ip[{r.address}] and specific port[16666] fail. Please "
        "check the port status and whether the port is being used by other process.",
    )
    b.say(r, 4.7, f"[rank2]: EJ0002: [PID: {r.pid}] {moment_(b, r, 4.7)} The network port is down.")
    b.exited(r, 6, 1)
    b.stop_siblings(r, 7)
    for w in b.off(r.host):
        b.plog(w, 124, "wait socket establish timeout, role[0] rank[1] timeout[120]")
        b.say(w, 124, f"[rank{w.rank}]: EI0006: [PID: {w.pid}] Getting socket times out.")
        b.exited(w, 126, 1)
    return Truth("cause", "link_down", (r.host,), (r.rank,), 4.5)


def moment_(b: Bundle, r: Rank, at: float) -> str:
    return moment(b.skewed(r.host, at))


def hccs(b: Bundle) -> Truth:
    b.start()
    b.train(180)
    bad = b.ranks[2]
    for r in b.on(bad.host):
        if r is bad:
            continue
        b.plog(
            r,
            181 + r.rank * 0.1,
            "ProcessStarsSdmaErrorInfo: The error from device, sdma error, cqeStatus=0x9",
            module="RUNTIME",
        )
        b.plog(
            r,
            181.01 + r.rank * 0.1,
            "[TaskExecStage][RunFailed][Host]Task run failed, para information is src:[0x1], dst:[0x2], "
            f"size:[4096], notify id:[0x1], link type:[HCCS], remote rank:[{bad.rank}]",
        )
        b.say(
            r,
            181.2,
            f"[rank{r.rank}]: EI0012: [PID: {r.pid}] SDMA memory copy task exception occurred. Remote rank: "
            f"[{bad.rank}].",
        )
        b.exited(r, 184, 1)
    b.dmesg(bad.host, 181, f"[ascend] [ERROR] [dms_module] Event id=0x81a38605, dev_id={bad.npu}, assertion=1")
    b.exited(bad, 185, -15, stopped=True)
    b.wait(b.off(bad.host), 181)
    return Truth("cause", "hccs_link", (bad.host,), (bad.rank,), 181)


def hccs_without_event(b: Bundle) -> Truth:
    b.start()
    b.train(180)
    bad = b.ranks[2]
    for r in b.on(bad.host):
        if r is bad:
            continue
        b.plog(r, 181 + r.rank * 0.1, "ProcessStarsSdmaErrorInfo: sdma error, cqeStatus=0x9", module="RUNTIME")
        b.plog(
            r,
            181.01 + r.rank * 0.1,
            "Task run failed, para information is src:[0x1], dst:[0x2], size:[4096], notify id:[0x1], link "
            f"type:[HCCS], remote rank:[{bad.rank}]",
        )
        b.exited(r, 184, 1)
    b.exited(bad, 185, -15, stopped=True)
    b.wait(b.off(bad.host), 181)
    return Truth("cause", "hccs_link", (bad.host,), (bad.rank,), 181)


def network_cut(b: Bundle) -> Truth:
    b.start()
    b.train(240)
    left, right = b.on("n11"), b.on("n12")
    for a, c in zip(left, right, strict=True):
        _cqe(b, a, c, 271)
        _cqe(b, c, a, 271)
    b.beat(left + right, b.ranks, "ERROR CQE", 272)
    b.beat(right, left, "LOST", 273)
    b.beat(left, right, "LOST", 273)
    b.wait(b.ranks, 241)
    return Truth("unknown", "network_cut", ("n11", "n12"), None, 241)


def wrong_nic(b: Bundle) -> Truth:
    b.start(ready=False, cards={"n12": ("br-9f31", "172.18.0.1")})
    _unconnected(b, [r.rank for r in b.on("n12")])
    return Truth("cause", "wrong_nic", ("n12",), tuple(r.rank for r in b.on("n12")), 2, 130)


def _unconnected(b: Bundle, missing: list[int], *, agents: bool = True) -> None:
    root = b.ranks[0]
    t = 2.3 + b.connect
    new = b.style in ("8.5", "9.0")
    b.plog(
        root,
        t,
        "[InitGroupStage][RanktableDetect]topo exchange server get socket timeout! timeout[120 s]"
        if new
        else "[Get][Connection]topo exchange server get socket timeout! timeout[120 s]",
    )
    here = ",".join(f"[{r.rank:016d}]" for r in b.ranks if r.rank not in missing)
    b.plog(
        root,
        t + 0.01,
        f"[DisplayConnectionedRank]total connected num is [{len(b.ranks) - len(missing)}],line num is [1]",
    )
    b.plog(root, t + 0.02, f"[DisplayConnectionedRank]connected rankinfo[LINE 0]: {here};")
    for r in b.ranks:
        if r.rank in missing:
            if agents and r.rank not in b.no_entry:
                b.plog(r, t + 1, "topo exchange agent get socket timeout! timeout[120 s]")
                b.say(r, t + 1.1, f"[rank{r.rank}]: EI0015: [PID: {r.pid}] Failed to collect cluster information.")
                b.exited(r, t + 3, 1)
            continue
        if new:
            told = ",".join(str(m) for m in missing)
            b.plog(
                r,
                t + 0.05,
                f'TopoDetect ERROR occur !!! fault_type[1], fault_info["Failed to connect agent[{told},]"]'
                if b.style == "8.5"
                else f'TopoDetect ERROR occur fault_type[1], fault_info["[{told},]"]',
            )
        b.say(r, t + 0.1, f"[rank{r.rank}]: EI0015: [PID: {r.pid}] Failed to collect cluster information.")
        b.exited(r, t + 3, 1)


def late(b: Bundle) -> Truth:
    b.start(ready=False, late={"n12": 150.0})
    _unconnected(b, [r.rank for r in b.on("n12")], agents=False)
    for r in b.on("n12"):
        b.plog(r, 2 + 150 + 121, "topo exchange agent get socket timeout! timeout[120 s]")
        b.exited(r, 2 + 150 + 123, 1)
    return Truth("cause", "late_start", ("n12",), tuple(r.rank for r in b.on("n12")), 122, 20)


def never_started(b: Bundle) -> Truth:
    gone = b.ranks[-1]
    ranks = b.ranks
    b.ranks = [r for r in ranks if r is not gone]
    b.start(ready=False)
    b.ranks = ranks
    for _r in ranks[:-1]:
        b.files = {
            p: [
                (
                    t,
                    x.replace(f"ranks[{len(ranks) - 1}]", f"ranks[{len(ranks)}]").replace(
                        f"rankNum[{len(ranks) - 1}]", f"rankNum[{len(ranks)}]"
                    ),
                )
                for t, x in v
            ]
            for p, v in b.files.items()
        }
    _unconnected(b, [gone.rank], agents=False)
    gone.pid = None
    return Truth("cause", "never_started", (gone.host,), (gone.rank,), 2, 130)


def tls(b: Bundle) -> Truth:
    b.start()
    odd = b.ranks[1]
    for r in b.ranks:
        b.put(
            f"{r.host}/ascend/log/run/device-{r.npu - b.first_npu}/device-{r.pid}_{b.stamp(r, 2.0)}.log",
            3.0,
            f"[INFO] HCCP(3000,hccp_service.bin):{moment_(b, r, 3.0)} [rs_ssl.c:1529]tid:3000,rs_ssl_init(1529) "
            f": TLS SWITCH ({int(r is odd)})",
        )
        b.plog(r, 126 + r.rank * 0.01, "wait socket establish timeout, role[0] rank[1] timeout[120]")
        b.say(r, 126.2, f"[rank{r.rank}]: EI0006: [PID: {r.pid}] Getting socket times out.")
        b.exited(r, 128, 1)
    return Truth("cause", "tls_differs", (odd.host,), (odd.rank,), 6, 60)


def tls_equal(b: Bundle) -> Truth:
    """All switches equal and one rank silent: TLS is not to blame."""
    b.start()
    quiet = b.ranks[3]
    for r in b.ranks:
        b.put(
            f"{r.host}/ascend/log/run/device-{r.npu - b.first_npu}/device-{r.pid}_{b.stamp(r, 2.0)}.log",
            3.0,
            f"[INFO] HCCP(3000,hccp_service.bin):{moment_(b, r, 3.0)} [rs_ssl.c:1529] : TLS SWITCH (1)",
        )
        if r is quiet:
            continue
        peer = (r.rank + 1) % len(b.ranks) if r.rank < 3 else 3
        b.plog(r, 126 + r.rank * 0.01, "wait socket establish timeout, role[0] rank[1] timeout[120]")
        b.plog(
            r,
            126.01 + r.rank * 0.01,
            "[Create][DestLink]Transport init error! createLink "
            f"para:rank[{r.rank}]-localUserrank[{r.rank}]-localIpAddr[{r.hostip}], "
            f"dst_rank[{peer}]-remoteUserrank[{peer}]-remote_ip_addr[10.9.0.1], machineType[0]",
        )
        b.exited(r, 128, 1)
    return Truth("suspect", "stuck", (quiet.host,), (quiet.rank,), 6, 130)


def version(b: Bundle) -> Truth:
    b.start()
    for r in b.ranks:
        own, other = ("8.3.RC1", "8.2.RC1") if r.host == "n11" else ("8.2.RC1", "8.3.RC1")
        b.plog(
            r,
            8,
            f"errNo[0x04] Inconsistent {'CANN' if b.style == '8.2' else 'HCCL'} Versions. local_version {own}, "
            f"remote_version {other}.",
        )
        b.say(
            r,
            8.2,
            f"[rank{r.rank}]: EI0008: [PID: {r.pid}] The ops (cann-hccl) versions are inconsistent. The local "
            f"version is {own}, while the remote version is {other}.",
        )
        b.exited(r, 9, 1)
    return Truth("cause", "version_differs", tuple(dict.fromkeys(r.host for r in b.ranks)), None, 8)


def arguments(b: Bundle) -> Truth:
    b.start()
    odd = b.ranks[-1]
    for r in b.ranks:
        own, other = ("512", "1024") if r is odd else ("1024", "512")
        if r is odd or r.rank % 2 == 0:
            b.plog(r, 12, f"CMD information count check fail. local[{own}], remote[{other}]")
        b.say(
            r,
            12.1,
            f"[rank{r.rank}]: EI0005: [PID: {r.pid}] The arguments for collective communication are inconsistent "
            "between ranks",
        )
        b.exited(r, 13, 1)
    return Truth("cause", "arguments_differ", (odd.host,), (odd.rank,), 12)


def operator(b: Bundle) -> Truth:
    b.start()
    b.train(100)
    odd = b.ranks[4]
    tags = {r.rank: ("AllReduce", 812) for r in b.ranks} | {odd.rank: ("ReduceScatter", 811)}
    b.wait(b.ranks, 101, tags=tags, peer={r.rank: odd.rank for r in b.ranks})
    return Truth("cause", "operator_differs", (odd.host,), (odd.rank,), 101, 60)


def table_invalid(b: Bundle) -> Truth:
    b.start(ready=False)
    r = b.ranks[0]
    b.say(r, 4, f"[rank0]: EI0014: [PID: {r.pid}] The value of device_ip in the ranktable is invalid")
    b.exited(r, 5, 1)
    b.stop_siblings(r, 6)
    return Truth("cause", "rank_table_invalid", (r.host,), (r.rank,), 4)


def environment(b: Bundle) -> Truth:
    b.start(ready=False)
    r = b.ranks[5]
    b.say(
        r,
        4,
        f"[rank5]: EI0001: [PID: {r.pid}] Environment variable [HCCL_SOCKET_IFNAME] is invalid. Reason: nic not found",
    )
    b.exited(r, 5, 1)
    b.stop_siblings(r, 6)
    _unconnected(b, [r.rank for r in b.on(r.host)], agents=False)
    return Truth("cause", "environment_invalid", (r.host,), (r.rank,), 4)


def left_over(b: Bundle) -> Truth:
    b.start(ready=False)
    r = b.ranks[3]
    b.say(
        r,
        4,
        f"[rank3]: EJ0001: [PID: {r.pid}] Failed to initialize the HCCP process. Reason: Maybe the last training "
        "process is running.",
    )
    b.ptaerr(r, 4.0, "ERR02200 DIST call hccl api failed.")
    b.exited(r, 5, 1)
    b.stop_siblings(r, 6)
    for w in b.off(r.host):
        b.plog(w, 124, "wait socket establish timeout, role[0] rank[1] timeout[120]")
        b.exited(w, 126, 1)
    return Truth("cause", "process_left_over", (r.host,), (r.rank,), 4)


def stuck_io(b: Bundle) -> Truth:
    b.start()
    b.train(300)
    r = b.ranks[6]
    b.dmesg(r.host, 303, "nfs: server 10.9.0.200 not responding, still trying")
    b.dmesg(r.host, 423, f"INFO: task python3:{r.host_pid} blocked for more than 120 seconds.")
    b.beat([r], [x for x in b.ranks if x is not r], "STUCK", 301 + 300, by={r.rank: b.ranks[5]})
    b.wait([x for x in b.ranks if x is not r], 301)
    b.exited(r, 960, -9)
    return Truth("cause", "stuck_io", (r.host,), (r.rank,), 301, 10)


def stuck(b: Bundle) -> Truth:
    b.start()
    b.train(300)
    r = b.ranks[2]
    b.beat([r], [x for x in b.ranks if x is not r], "STUCK", 301 + 300, by={r.rank: b.ranks[1]})
    b.wait([x for x in b.ranks if x is not r], 301)
    b.exited(r, 950, -15, stopped=True)
    return Truth("suspect", "stuck", (r.host,), (r.rank,), 301, 30)


def disk_full(b: Bundle) -> Truth:
    b.start()
    b.train(400)
    r = b.ranks[0]
    b.traceback(r, 401, "OSError: [Errno 28] No space left on device: '/ckpt/iter_100/model.pt'")
    b.exited(r, 402, 1)
    b.stop_siblings(r, 403)
    b.wait(b.off(r.host), 401)
    return Truth("cause", "disk_full", (r.host,), (r.rank,), 401)


def host_silent(b: Bundle) -> Truth:
    b.start()
    b.train(200)
    gone = b.on("n12")
    b.files = {p: v for p, v in b.files.items() if not p.startswith("n12/")}
    b.unreachable["n12"] = ["everything: no route to host"]
    b.gaps["n12"] = b.unreachable["n12"]
    b.beat(gone, b.off("n12"), "LOST", 232)
    b.wait(b.off("n12"), 201)
    return Truth("suspect", "host_silent", ("n12",), tuple(r.rank for r in gone), 201, 40)


def port(b: Bundle) -> Truth:
    b.start(ready=False)
    r = b.ranks[0]
    b.plog(
        r,
        2.4,
        f"[InitGroupStage][RanktableDetect] socket type[2], listen on ip[{r.hostip}%eth1] and specific "
        "port[60001] fail. Please check the port status and whether the port is being used by other process.",
    )
    b.put(
        f"{r.host}/meta/ss_listen.txt",
        1,
        f'LISTEN 0      128    {r.hostip}:60001     0.0.0.0:*     users:(("python3",pid=777,fd=88))',
    )
    b.exited(r, 5, 1)
    for w in b.ranks[1:]:
        b.traceback(
            w,
            6,
            "RuntimeError: [1] is setting up HCCL communicator and retrieving hcclUniqueId from [0] via c10d "
            "key-value store by key '0', but store->get('0') got error: Connection reset by peer.",
        )
        b.exited(w, 7, 1)
    return Truth("cause", "port_in_use", (r.host,), (0,), 2.4)


def killed(b: Bundle) -> Truth:
    b.start()
    b.train(200)
    r = b.ranks[1]
    b.exited(r, 201, -9)
    b.beat([r, *b.stop_siblings(r, 203)], b.off(r.host), "LOST", 232)
    b.wait(b.off(r.host), 201)
    return Truth("suspect", "unknown", (r.host,), (r.rank,), 201)


def segfault(b: Bundle) -> Truth:
    b.start()
    b.train(200)
    r = b.ranks[1]
    b.dmesg(r.host, 201, f"python3[{r.host_pid}]: segfault at 10 ip 0000 sp 0000 error 4 in libhccl.so")
    b.exited(r, 201.5, -11)
    b.stop_siblings(r, 203)
    b.wait(b.off(r.host), 201)
    return Truth("cause", "crashed", (r.host,), (r.rank,), 201)


def first_error_lost(b: Bundle) -> Truth:
    b.start()
    b.train(200)
    r = b.ranks[3]
    old = f"{r.host}/ascend/log/debug/plog/plog-{r.pid}_{b.stamp(r, 1.0)}.log"
    b.files.pop(old)
    b.put(
        f"{r.host}/ascend/log/debug/plog/plog-{r.pid}_{b.stamp(r, 700.0)}.log",
        701,
        f"[ERROR] RUNTIME({r.pid},python3):{moment_(b, r, 701)} [a.cc:1]{r.pid} "
        "GetError:[EXEC][DEFAULT]stream_id=5, runtime result = 507899",
    )
    b.exited(r, 790, 1)
    b.beat([r], [x for x in b.ranks if x is not r], "STUCK", 201 + 300, by={r.rank: b.ranks[2]})
    b.wait([x for x in b.ranks if x is not r], 201)
    return Truth("suspect", "first_error_lost", (r.host,), (r.rank,), 201, 30)


def healthy(b: Bundle) -> Truth:
    b.start()
    b.train(300)
    for r in b.ranks:
        b.plog(r, 40, "aclrtMallocImpl: alloc device memory failed, runtime result = 207001", module="ASCENDCL")
        b.plog(r, 40.0003, '"[PTA]:"Get a block failed. This error log can be ignored.""', module="APP")
        b.plog(r, 305, "Entry-HcclCommDestroy: op_base comm destroy begin", level="INFO", part="run")
        b.plog(r, 306, "hdc session closed, runtime result = 507901", module="RUNTIME")
        b.say(r, 306, "training finished")
    return Truth("none", "none", (), None)


def late_oom(b: Bundle) -> Truth:
    """207001 after the job stood still is a consequence."""
    t = python_exception(b)
    w = b.ranks[0]
    b.plog(w, 301 + 590, "aclrtMallocImpl: alloc device memory failed, runtime result = 207001", module="ASCENDCL")
    return t


STORIES: dict[str, Callable[[Bundle], Truth]] = {
    f.__name__: f
    for f in (
        oom,
        old_oom_wording,
        oom_of_a_worker,
        oom_of_a_stranger,
        stuck_in_a_subgroup,
        npu_oom,
        python_exception,
        aicpu,
        device_lost,
        ecc_new_driver,
        ecc_of_another,
        link_down,
        link_down_at_start,
        hccs,
        hccs_without_event,
        network_cut,
        wrong_nic,
        late,
        never_started,
        tls,
        tls_equal,
        version,
        arguments,
        operator,
        table_invalid,
        environment,
        left_over,
        stuck_io,
        stuck,
        disk_full,
        host_silent,
        port,
        killed,
        segfault,
        first_error_lost,
        healthy,
        late_oom,
    )
}
