"""What can happen to a job in any guise, and what must be found: every kind of first fault, and what looks like one."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from log_guises import BEGIN, STAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from log_guises import Job, Who

Truth = dict[str, Any]
LOST, STUCK, CQE = "Heartbeat Lost Occurred", "Stuck Occurred", "Error cqe Occurred"


def truth(  # noqa: PLR0913  (the parts of a truth file)
    verdict: str, kind: str, who: Iterable[Who] = (), at: float | None = None, *, tol: float = 6.0, whole: bool = False
) -> Truth:
    found = list(who)
    time = None if at is None else f"{BEGIN + dt.timedelta(seconds=at):%Y-%m-%d %H:%M:%S}"
    hosts = list(dict.fromkeys(w.host for w in found))
    return {
        "verdict": verdict,
        "kind": kind,
        "root": {"hosts": hosts, "ranks": None if whole else [w.rank for w in found]},
        "time": time,
        "tolerance_s": tol,
    }


def _gone(j: Job, first: Who, at: float, code: int) -> None:
    """One ends, its siblings are stopped, the others lose all of them and wait."""
    j.end(first, at + 1.0, code)
    rest = j.stop_rest(first, at + 2.0)
    hearers = j.off(first.host)
    accused = [first, *rest]
    j.beat(hearers, accused, "LOST", at + 31.0)
    j.wait(
        hearers,
        at,
        peers={w.rank: first.rank for w in hearers},
        accused=[(a, LOST, at + 31.0) for a in [*rest[-1:], first, *rest[:-1]][:3]],
    )


def oom_in_a_container(j: Job) -> Truth:
    j.start()
    j.train(260)
    w = j.ranks[-1]
    j.kernel(w.host, 261, "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0")
    j.kernel(
        w.host, 261, f"Memory cgroup out of memory: Killed process {w.host_pid} (python3) total-vm:9kB, anon-rss:9kB"
    )
    _gone(j, w, 261, -9)
    return truth("cause", "host_oom_kill", [w], 261)


def npu_memory(j: Job) -> Truth:
    j.start()
    j.train(120)
    w = j.ranks[1]
    j.log(w, 121, "alloc device memory failed, runtime result = 207001", module="ASCENDCL")
    j.traceback(
        w, 121.2, "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 1; 60.96 GiB total capacity)"
    )
    j.api_error(w, 121.3, "ERR00006 PTA memory error")
    _gone(j, w, 121, 1)
    return truth("cause", "npu_oom", [w], 121)


def npu_memory_in_hccl(j: Job) -> Truth:
    """No traceback of torch: only the code that HCCL gives."""
    j.start()
    j.train(60)
    w = j.ranks[0]
    j.say(w, 61, f"EI0011: [PID: {w.pid}] {j.stamp(w.host, 61)} The NPU memory is insufficient. x")
    _gone(j, w, 61, 1)
    return truth("cause", "npu_oom", [w], 61)


def key_error(j: Job) -> Truth:
    j.start()
    j.train(500)
    w = j.ranks[-2]
    j.traceback(w, 501, "KeyError: 'position_ids'")
    _gone(j, w, 501, 1)
    return truth("cause", "python_exception", [w], 501)


def import_fails_everywhere(j: Job) -> Truth:
    """The script can't even be imported, on any rank; all are meant."""
    msrun = j.guise.launcher == "msrun"  # it tells no moment at all
    for w in j.ranks:
        j.traceback(w, 1 + 0.02 * w.rank, "ModuleNotFoundError: No module named 'apex'", "/w/pretrain.py")
        j.end(w, 2 + 0.02 * w.rank, 1)
    return truth("cause", "python_exception", j.ranks, None if msrun else 1, tol=8)


def aicore(j: Job) -> Truth:
    j.start()
    j.train(300)
    w = j.ranks[1]
    j.log(
        w,
        301,
        f"The error from device(chipId:{w.local}, dieId:0), serial number is 20, there is an "
        "exception of aicore error, core "
        "id is 4, error code = 0x800000, dump info: pc start: 0x1",
        module="RUNTIME",
    )
    j.log(
        w,
        301.001,
        "PrintErrorInfo: Aicore kernel execute failed, device_id=1, stream_id=2, fault "
        "kernel_name=MatMulV3_9c1f22d0e_3, fault kernel info ext=none",
        module="RUNTIME",
    )
    j.log(w, 301.002, "GetError:[EXEC][DEFAULT]stream synchronize failed, runtime result = 507015", module="RUNTIME")
    _gone(j, w, 301, 1)
    return truth("cause", "aicore_exception", [w], 301)


def vector_core(j: Job) -> Truth:
    j.start()
    j.train(300)
    w = j.ranks[-1]
    j.log(w, 301, "rtStreamSynchronize execute failed, reason=[vector core exception], retCode=0x31", module="RUNTIME")
    j.log(w, 301.002, "GetError:[EXEC][DEFAULT]stream synchronize failed, runtime result = 507035", module="RUNTIME")
    _gone(j, w, 301, 1)
    return truth("cause", "aicore_exception", [w], 301)


def aicpu(j: Job) -> Truth:
    j.start()
    j.train(90)
    w = j.ranks[0]
    j.log(w, 91, "ProcessStarsAicpuErrorInfo:[INIT][DEFAULT]there is an exception of aicpu error", module="RUNTIME")
    j.log(
        w,
        91.001,
        "PrintErrorInfo: Aicpu kernel execute failed, device_id=0, fault kernel_name=Unique_1f2e3d4c, x",
        module="RUNTIME",
    )
    j.log(w, 91.002, "synchronize failed, runtime result = 507018", module="ASCENDCL")
    _gone(j, w, 91, 1)
    return truth("cause", "aicpu_exception", [w], 91)


def ecc(j: Job) -> Truth:
    j.start()
    j.train(400)
    w = j.ranks[2]
    j.event(w, 401, "80e18400", 2)
    j.event(w, 401.1, "80e01801", 1)
    j.log(w, 401.5, "ProcRasErrorInfo:[INIT][DEFAULT]hbm multi bit ecc error occurred", module="RUNTIME")
    j.log(w, 401.6, "synchronize failed, runtime result = 507054", module="ASCENDCL")
    _gone(j, w, 401, 1)
    return truth("cause", "hbm_ecc", [w], 401)


def board_lost(j: Job) -> Truth:
    j.start()
    j.train(200)
    w = j.ranks[-1]
    key = "device_id" if j.guise.style in STAGE else "device"
    j.kernel(
        w.host,
        201,
        "[ascend] [ERROR] [drv_soft_fault] [soft_fault_heartbeat 88] <k:1:1> Heartbeat lost! "
        f"({key}={w.device}; count=3)",
    )
    j.event(w, 201.2, "40f84e00", 1)
    j.log(w, 202, "halEschedSubmitEvent failed, runtime result = 507901", module="RUNTIME")
    _gone(j, w, 201, 1)
    return truth("cause", "device_lost", [w], 201)


def scheduler_of_the_device_lost(j: Job) -> Truth:
    """No kernel line at all: the runtime itself lost the task scheduler's heartbeat first."""
    j.start()
    j.train(200)
    w = j.ranks[1]
    j.log(w, 201, "DeviceMonitor:[EXEC][DEFAULT]ts heartbeat lost, runtime result = 507010", module="RUNTIME")
    _gone(j, w, 201, 1)
    return truth("cause", "device_lost", [w], 201)


def _cqe(j: Job, a: Who, c: Who, at: float) -> None:
    if j.guise.style in STAGE:
        w = j.when(a.host, at)
        text = (
            f"[TaskExecStage][RunFailed][ROCE CQE ERROR]cqe error status[12], time:[{w:%Y-%m-%d %H:%M:%S}.600000], "
            f"localInfo{{server[{a.ip}],deviceId[{a.device}],deviceIp[{a.address}]}}, "
            f"remoteInfo{{server[{c.ip}],deviceId[{c.device}],deviceIp[{c.address}]}}"
        )
    else:
        w = j.when(a.host, at)
        text = (
            f"[Heartbeat]cqe {'err' if j.guise.style == '8.0' else 'error'} status[12], "
            f"time:[{w:%Y-%m-%d %H:%M:%S}.600000],"
            f"localIP[{a.address}], remoteIP:[{c.address}]"
        )
    j.log(a, at, text)


def port_falls(j: Job) -> Truth:
    j.start()
    j.train(350)
    a, c = j.ranks[1], j.ranks[1 + j.guise.per_host]
    j.event(c, 351, "81078603", 1)
    j.event(c, 380, "81078603", 0)
    _cqe(j, a, c, 382)
    _cqe(j, c, a, 382.1)
    j.beat(j.ranks, [a, c], "ERROR CQE", 383)
    j.wait(j.ranks, 351, peers={a.rank: c.rank, c.rank: a.rank}, accused=[(a, CQE, 383), (c, CQE, 383)])
    return truth("cause", "link_down", [c], 351)


def port_fell_by_its_own_record_alone(j: Job) -> Truth:
    """No event anywhere; the device's own record of its link says which end."""
    j.start()
    j.train(350)
    a, c = j.ranks[0], j.ranks[j.guise.per_host]
    _cqe(j, a, c, 382)
    _cqe(j, c, a, 382.1)
    j.beat(j.ranks, [a, c], "ERROR CQE", 383)
    j.wait(j.ranks, 351, accused=[(a, CQE, 383), (c, CQE, 383)])
    for w, downs in ((a, 0), (c, 1)):
        now, up, down = (j.when(w.host, t) for t in (2500, 379, 351))
        old = "Sun Mar  8 08:07:00 2026"
        records = [
            f"    {up:%a %b} {up.day:2d} {up:%H:%M:%S %Y}    LINK UP",
            f"    {down:%a %b} {down.day:2d} {down:%H:%M:%S %Y}    LINK DOWN",
        ]
        lines = [
            f"current time        : {now:%a %b} {now.day:2d} {now:%H:%M:%S %Y}",
            f"link up count       : {downs + 1}",
        ]
        lines += [
            f"link down count     : {downs}",
            "link change records :",
            *(records if downs else []),
            f"    {old}    LINK UP",
        ]
        j.extra[f"{w.host}/environment_check/hccn_link_stat_{w.device}.txt"] = "".join(
            f"[devid {w.device}]{x}\n" for x in lines
        )
    return truth("cause", "link_down", [c], 351)


def port_down_at_start(j: Job) -> Truth:
    j.start(ready=False)
    w = j.ranks[1]
    j.log(
        w, 4.5, "tid:1,ra_rdev_init_with_backup_info(580) : [init][ra_rdev]ra rdev init failed, ret(-67)", module="HCCP"
    )
    j.log(
        w,
        4.502,
        f"[HcclSocket][Listen] socket type[0], listen on ip[{w.address}] and specific port[16666] "
        "fail. Please check the port status and whether the port has been using by other process.",
    )
    j.say(w, 4.7, f"EJ0002: [PID: {w.pid}] {j.stamp(w.host, 4.7)} The network port is down.")
    _unmade(j, w, 4.7)
    return truth("cause", "link_down", [w], 4.5)


def _unmade(j: Job, w: Who, at: float) -> None:
    """One fails while links are made; its siblings are stopped, the others give up later."""
    j.end(w, at + 1, 1)
    j.stop_rest(w, at + 2)
    for n, x in enumerate(j.off(w.host)):
        t = at + 2 + j.guise.connect + 0.01 * n
        j.log(
            x,
            t,
            f"[Wait][LinkEstablish]wait socket establish timeout, role[0] rank[{w.rank}] "
            f"timeout[{j.guise.connect:.0f}]",
        )
        j.say(x, t + 0.1, f"EI0006: [PID: {x.pid}] {j.stamp(x.host, t)} Getting socket times out. Reason: x")
        j.end(x, t + 2, 1)


def copies_over_hccs_fail(j: Job) -> Truth:
    j.start()
    j.train(150)
    bad = j.ranks[1]
    reporters = [w for w in j.on(bad.host) if w is not bad]
    for n, w in enumerate(reporters):
        t = 151 + 0.2 * n
        j.log(
            w,
            t,
            "ProcessStarsSdmaErrorInfo:[INIT][DEFAULT]there is an sdma error, sdma channel is 3, cqeStatus=0x9",
            module="RUNTIME",
        )
        j.log(
            w,
            t + 0.01,
            "[TaskExecStage][RunFailed][Host]Task run failed, para information is src:[0x12c1], "
            "dst:[0x12c2], size:[0x1000], "
            f"notify id:[0xffffffff], link type:[HCCS], remote rank:[{bad.rank}]",
        )
        j.say(
            w, t + 0.2, f"EI0012: [PID: {w.pid}] SDMA memory copy task exception occurred. Remote rank: [{bad.rank}]. x"
        )
        j.end(w, t + 3, 1)
    j.event(bad, 151, "81a38605", 1)
    j.end(bad, 155, -15)
    j.wait(j.off(bad.host), 151, peers={w.rank: bad.rank for w in j.off(bad.host)})
    return truth("cause", "hccs_link", [bad], 151)


def network_between_halves(j: Job) -> Truth:
    """No port fell; packets are lost and hearts go silent across one border."""
    j.start()
    j.train(310)
    hosts = j.guise.hosts
    half = len(hosts) // 2
    left = [w for w in j.ranks if w.host in hosts[:half]]
    right = [w for w in j.ranks if w.host in hosts[half:]]
    pairs = list(zip(left[-j.guise.per_host :], right[: j.guise.per_host], strict=True))
    for a, c in pairs:
        _cqe(j, a, c, 341 + 0.01 * a.local)
        _cqe(j, c, a, 341 + 0.01 * a.local)
    j.beat(left, [c for _, c in pairs], "LOST", 342)
    j.beat(right, [a for a, _ in pairs], "LOST", 342)
    j.wait(j.ranks, 311, accused=[(a, CQE, 342) for a, _ in pairs])
    return truth("unknown", "network_cut")


def _not_collected_by_root(j: Job, missing: list[Who], at: float, *, agents: bool = True) -> None:
    """The root gives up, tells who came; the others hear of it."""
    new, names = j.guise.style in STAGE, {w.rank for w in missing}
    root = j.ranks[0]
    tag = "[InitGroupStage][RanktableDetect]" if new else "[Get][Connection]"
    j.log(root, at, f"{tag}topo exchange server get socket timeout! timeout[{j.guise.connect:.0f} s]")
    show = "DisplayConnectedRank" if j.guise.style == "9.0" else "DisplayConnectionedRank"
    came = [w for w in j.ranks if w.rank not in names]
    j.log(root, at + 0.001, f"[{show}]total connected num is [{len(came)}],line num is [1]")
    for n in range(0, len(came), 10):
        row = ",".join(f"[{w.rank:016d}]" for w in came[n : n + 10])
        j.log(root, at + 0.002 + 0.0001 * n, f"[{show}]connected rankinfo[LINE {n // 10}]: {row};")
    for w in came:
        told = ",".join(str(r) for r in sorted(names))
        text = {
            "8.5": (
                "[InitGroupStage][RanktableDetect] TopoDetect ERROR occur !!! fault_type[1], "
                f'fault_info["Failed to connect agent[{told},]"]'
            ),
            "9.0": f'[InitGroupStage][RanktableDetect] TopoDetect ERROR occur fault_type[1], fault_info["[{told},]"]',
        }.get(j.guise.style, "receive msg length from fdhandle failed")
        j.log(w, at + 0.02, text)
        if new:
            j.say(
                w,
                at + 0.1,
                f"[PID: {w.pid}] {j.stamp(w.host, at)} Communication_Error_Ranktable_Detect(EI0015): "
                "Failed to collect cluster information. Reason: x",
            )
        j.end(w, at + 3, 1)
    for w in missing if agents else ():
        t = at + 6
        j.log(w, t, f"topo exchange agent get socket timeout! timeout[{j.guise.connect:.0f}{' s' if new else ''}]")
        j.end(w, t + 3, 1)


def bridge_before_the_card(j: Job) -> Truth:
    """One server's HCCL takes a bridge; older generations do not tell the card but in who they are."""
    host = j.guise.hosts[-1]
    j.start(ready=False, cards={host: ("br-9c1e44", "172.18.0.1")})
    _not_collected_by_root(j, j.on(host), 3.0 + j.guise.connect)
    return truth("cause", "wrong_nic", j.on(host), 2, tol=j.guise.connect + 30)


def one_server_is_late(j: Job) -> Truth:
    host = j.guise.hosts[1]
    delay = j.guise.connect + 45.0
    j.start(ready=False, late={host: delay})
    _not_collected_by_root(j, j.on(host), 3.0 + j.guise.connect, agents=False)
    for w in j.on(host):
        t = 3 + delay + j.guise.connect
        j.log(w, t, f"topo exchange agent get socket timeout! timeout[{j.guise.connect:.0f}]")
        j.end(w, t + 3, 1)
    j.said[host] = ["INFO:root:copying the data set to the local disk ...", f"INFO:root:copy done in {delay:.1f} s"]
    return truth("cause", "late_start", j.on(host), 2 + j.guise.connect, tol=60)


def a_server_never_started(j: Job) -> Truth:
    host = j.guise.hosts[-1]
    j.silent = {w.rank for w in j.on(host)}
    j.start(ready=False)
    _not_collected_by_root(j, j.on(host), 3.0 + j.guise.connect, agents=False)
    j.said[host] = ["bash: torchrun: command not found"]
    return truth("cause", "never_started", j.on(host), 2, tol=j.guise.connect + 30)


def stands_before_hccl(j: Job) -> Truth:
    """A server's processes run but never enter."""
    host = j.guise.hosts[1]
    j.start(ready=False, mute=[w.rank for w in j.on(host)])
    _not_collected_by_root(j, j.on(host), 3.0 + j.guise.connect, agents=False)
    for w in j.on(host):
        j.end(w, 20 + j.guise.connect, -15)
    return truth("suspect", "stuck", j.on(host), 2, tol=j.guise.connect + 30)


def tls_of_one_server(j: Job) -> Truth:
    host = j.guise.hosts[1]
    odd = j.on(host) if len(j.guise.hosts) > 2 else j.on(host)[:1]
    j.start(tls={w.rank: 1 for w in odd})
    for n, w in enumerate(j.ranks):
        t = 8 + j.guise.connect + 0.01 * n
        peer = j.ranks[(w.rank + j.guise.per_host) % len(j.ranks)]
        j.log(
            w,
            t,
            f"[Wait][LinkEstablish]wait socket establish timeout, role[0] rank[{w.rank}] "
            f"timeout[{j.guise.connect:.0f}]",
        )
        j.log(
            w,
            t + 0.001,
            f"   |  {peer.address}({peer.rank})  |  16666  |   {w.address}({w.rank})  |  0  |  client  | time out |  ",
        )
        j.say(w, t + 0.1, f"EI0006: [PID: {w.pid}] {j.stamp(w.host, t)} Getting socket times out. Reason: x")
        j.end(w, t + 2, 1)
    return truth("cause", "tls_differs", odd, 8, tol=180)


def tls_by_its_own_code(j: Job) -> Truth:
    odd = j.ranks[2]
    j.start(ready=False, tls={odd.rank: 1})
    rest = ",".join(str(w.rank) for w in j.ranks if w is not odd)
    for w in j.ranks:
        j.say(
            w,
            5,
            f"EI0016: [PID: {w.pid}] {j.stamp(w.host, 5)} The tls configuration is inconsistent. "
            f"enabled ranks: [{odd.rank}], disabled ranks: [{rest}], not readable: []",
        )
        j.end(w, 7, 1)
    return truth("cause", "tls_differs", [odd], 5, tol=30)


def versions_differ(j: Job) -> Truth:
    j.start()
    odd = j.guise.hosts[-1]
    for w in j.ranks:
        own, other = ("8.1.RC1", "8.2.RC1") if w.host == odd else ("8.2.RC1", "8.1.RC1")
        if w.host not in (odd, j.guise.hosts[-2]):
            j.end(w, 14, 1)
            continue
        peer = j.on(j.guise.hosts[-2] if w.host == odd else odd)[w.local]
        name = "CANN" if j.guise.style in ("8.0", "8.2") else "HCCL"
        j.log(
            w,
            9,
            f"[InitChannelStage][VersionConflict] errNo[0x0000000000000004] Inconsistent {name} "
            f"Versions. local_version {own}, remote_version {other}.",
        )
        j.log(
            w,
            9.001,
            "[InitChannelStage][RunFailed]Transport init error! createLink "
            f"para:rank[{w.rank}]-localUserrank[{w.rank}]-"
            f"localIpAddr[{w.ip}/{w.device}], "
            f"remoteRank[{peer.rank}]-remoteUserrank[{peer.rank}]-remoteIpAddr[{peer.ip}/{peer.device}], "
            "machineType[0]",
        )
        j.say(
            w,
            9.1,
            f"EI0008: [PID: {w.pid}] The ops (cann-hccl) versions are inconsistent. The local version "
            f"is {own}, while the remote version is {other}.",
        )
        j.end(w, 12, 1)
    reporters = [w for w in j.ranks if w.host in (odd, j.guise.hosts[-2])]
    return truth("cause", "version_differs", reporters, 9, whole=True)


def arguments_of_one(j: Job) -> Truth:
    j.start()
    odd = j.ranks[2]
    for w in j.ranks:
        own, other = ("4096", "8192") if w is odd else ("8192", "4096")
        if w is odd or w.rank in (1, 3):
            j.log(w, 12, f"CMD information count check fail. local[{own}], remote[{other}]")
            j.say(
                w,
                12.1,
                f"EI0005: [PID: {w.pid}] The arguments for collective communication are inconsistent between ranks: x",
            )
            j.end(w, 13, 1)
        else:
            j.end(w, 14, -15)
    return truth("cause", "arguments_differ", [odd], 12)


def count_of_one_at_a_later_call(j: Job) -> Truth:
    """The check runs at the first use alone: later a wrong count hangs all."""
    j.start()
    j.train(200)
    odd = j.ranks[-1]
    j.wait(j.ranks, 201, counts={odd.rank: 1024})
    return truth("cause", "arguments_differ", [odd], 201, tol=30)


def operator_of_one(j: Job) -> Truth:
    j.start()
    j.train(200)
    odd = j.ranks[1]
    j.wait(j.ranks, 201, ops={odd.rank: ("AllGather", 76)})
    return truth("cause", "operator_differs", [odd], 201, tol=30)


def address_of_the_table(j: Job) -> Truth:
    j.start(ready=False)
    w = j.ranks[-1]
    j.log(
        w,
        4.5,
        "tid:1,ra_rdev_init_check_ip(480) : [check][ip]fail, ret(129) the IP address(192.168.77.9) "
        f"in the ranktable is inconsistent with the IP address({w.address}) of the network adapter, "
        "please make sure they're consistent. num(1)",
        module="HCCP",
    )
    j.log(
        w,
        4.502,
        "[HcclSocket][Listen] socket type[0], listen on ip[192.168.77.9] and specific port[16666] "
        "fail. Please check the port status and whether the port is being used by other process.",
    )
    j.say(
        w,
        4.7,
        f"EJ0004: [PID: {w.pid}] {j.stamp(w.host, 4.7)} The IP address 192.168.77.9 in the ranktable is inconsistent x",
    )
    _unmade(j, w, 4.7)
    return truth("cause", "device_ip_differs", [w], 4.5)


def table_of_one_server(j: Job) -> Truth:
    """One server has no rank table where the others have theirs."""
    j.start(ready=False, mute=[w.rank for w in j.on(j.guise.hosts[1])])
    host = j.guise.hosts[1]
    for w in j.on(host):
        j.log(
            w,
            3.5,
            "[InitGroupStage][RanktableConfig]rank table path /etc/hccl/rank_table.json is not a valid real path",
        )
        j.say(w, 3.6, f"EI0004: [PID: {w.pid}] {j.stamp(w.host, 3.6)} The ranktable or rank is invalid. Reason: x")
        j.end(w, 5, 1)
    for w in j.off(host):
        j.log(
            w,
            5 + j.guise.connect,
            f"[Wait][LinkEstablish]wait socket establish timeout, role[0] rank[{w.rank}] "
            f"timeout[{j.guise.connect:.0f}]",
        )
        j.end(w, 8 + j.guise.connect, 1)
    return truth("cause", "rank_table_invalid", j.on(host), 3.5)


def setting_of_one_server(j: Job) -> Truth:
    host = j.guise.hosts[-1]
    j.start(ready=False, mute=[w.rank for w in j.on(host)])
    for w in j.on(host):
        j.say(
            w,
            3,
            f"EI0001: [PID: {w.pid}] {j.stamp(w.host, 3)} Environment variable [HCCL_SOCKET_IFNAME] "
            "is invalid. Reason: x",
        )
        j.end(w, 4.2, 1)
    _not_collected_by_root(j, j.on(host), 3.0 + j.guise.connect, agents=False)
    return truth("cause", "environment_invalid", j.on(host), 3)


def port_of_the_root(j: Job) -> Truth:
    j.start(ready=False, mute=[w.rank for w in j.ranks[1:]])
    root = j.ranks[0]
    tag = "[InitChannelStage][RanktableDetect]" if j.guise.style in STAGE else "[HcclSocket][Listen]"
    j.log(
        root,
        3.4,
        f"{tag} socket type[2], listen on ip[{root.ip}%{j.card}] and specific port[60000] fail. "
        "Please check the port status and whether the port is being used by other process.",
    )
    j.say(
        root,
        3.6,
        f"[PID: {root.pid}] {j.stamp(root.host, 3.6)} Communication_Error_Bind_IP_Port(EI0019): "
        f"Failed to enable listening. Reason: The IP address {root.ip} and port 60000 have already "
        "been bound.",
    )
    j.extra[f"{root.host}/meta/ss_listen.txt"] = (
        "State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
        f'LISTEN 0      128    {root.ip}:60000     0.0.0.0:*     users:(("python",pid=4242,fd=88))\n'
    )
    j.end(root, 5, 1)
    for w in j.ranks[1:]:
        j.traceback(
            w,
            6,
            "RuntimeError: [1] is setting up HCCL communicator and retrieving hcclUniqueId from [0] "
            "via c10d key-value store by key '0', but store->get('0') got error: Connection reset by "
            "peer.",
        )
        j.api_error(w, 6.1, "ERR02005 DIST internal error")
        j.end(w, 7, 1)
    return truth("cause", "port_in_use", [root], 3.4)


def port_of_an_npu(j: Job) -> Truth:
    """Port 16666 of one NPU is held by another job's process; no sign of a link or an address."""
    j.start(ready=False)
    w = j.ranks[1]
    j.log(
        w,
        4.5,
        f"[HcclSocket][Listen] socket type[0], listen on ip[{w.address}] and specific port[16666] "
        "fail. Please check the port status and whether the port is being used by other process.",
    )
    code = "EI0020" if j.guise.style in STAGE else "EJ0003"
    j.say(
        w,
        4.7,
        f"{code}: [PID: {w.pid}] Failed to bind. Reason: The IP address {w.address} and port 16666 "
        "have already been bound.",
    )
    _unmade(j, w, 4.7)
    return truth("cause", "port_in_use", [w], 4.5)


def left_over(j: Job) -> Truth:
    j.start(ready=False)
    w = j.ranks[0]
    j.say(
        w,
        4,
        f"EJ0001: [PID: {w.pid}] {j.stamp(w.host, 4)} Failed to initialize the HCCP process. Reason: "
        "Maybe the last training process is running.",
    )
    _unmade(j, w, 4)
    return truth("cause", "process_left_over", [w], 4)


def file_server_gone(j: Job) -> Truth:
    j.start()
    j.train(420)
    w = j.ranks[2]
    j.kernel(w.host, 424, "nfs: server 10.30.9.9 not responding, still trying")
    j.kernel(w.host, 545, f"INFO: task python3:{w.host_pid} blocked for more than 120 seconds.")
    rest = [x for x in j.ranks if x is not w]
    j.beat(rest, [w], "STUCK", 421 + 0.5 * j.guise.execute, by=rest[-1])
    j.wait(rest, 421, accused=[(w, STUCK, 421 + 0.5 * j.guise.execute)])
    told = f"Unable to shutdown process {w.host_pid} via 15, forcefully exiting via 9"
    j.said[w.host] = [f"W0309 22:01:00.100000 2 torch/x.py:1] {told}"]
    j.end(w, 421 + j.guise.execute + 40, -9)
    return truth("cause", "stuck_io", [w], 421, tol=10)


def stands_still(j: Job) -> Truth:
    j.start()
    j.train(420)
    w = j.ranks[-1]
    rest = [x for x in j.ranks if x is not w]
    j.beat(rest, [w], "STUCK", 421 + 0.5 * j.guise.execute, by=rest[0])
    j.wait(rest, 421, peers={x.rank: w.rank for x in rest}, accused=[(w, STUCK, 421 + 0.5 * j.guise.execute)])
    j.end(w, 421 + j.guise.execute + 10, -15)
    return truth("suspect", "stuck", [w], 421, tol=30)


def silent_while_all_wait(j: Job) -> Truth:
    """No heartbeat at all: all but one report."""
    j.start()
    j.train(420)
    w = j.ranks[1]
    j.wait([x for x in j.ranks if x is not w], 421)
    return truth("suspect", "stuck", [w], 421, tol=30)


def disk_full(j: Job) -> Truth:
    j.start()
    j.train(600)
    w = j.ranks[0]
    j.traceback(w, 601, "OSError: [Errno 28] No space left on device", "/w/checkpoint.py")
    _gone(j, w, 601, 1)
    return truth("cause", "disk_full", [w], 601)


def a_server_dies(j: Job) -> Truth:
    j.start()
    j.train(260)
    host = j.guise.hosts[-1]
    j.hidden.add(host)
    j.gaps[host] = ["everything: no route to host"]
    gone, rest = j.on(host), j.off(host)
    j.beat(rest, gone, "LOST", 291)
    j.wait(rest, 261, accused=[(w, LOST, 291) for w in gone])
    return truth("suspect", "host_silent", gone, 261, tol=40)


def first_error_rotated_away(j: Job) -> Truth:
    j.start()
    j.train(300)
    w = j.ranks[2]
    rest = [x for x in j.ranks if x is not w]
    j.beat(rest, [w], "STUCK", 301 + 0.5 * j.guise.execute, by=rest[0])
    j.wait(rest, 301, accused=[(w, STUCK, 301 + 0.5 * j.guise.execute)])
    old = [f for f in j.lines if f.startswith(f"{w.host}/ascend/log/debug/plog/plog-{w.pid}_")]
    for file in old:
        j.lines.pop(file)
    name = f"{w.host}/ascend/log/debug/plog/plog-{w.pid}_{j.digits(w.host, 700)}.log"
    head = f"[ERROR] RUNTIME({w.pid},python3):{j.stamp(w.host, 701)} [stream.cc:1]{w.pid} "
    j.add(name, 701, f"{head}GetError:[EXEC][DEFAULT]stream_id=5, status=0x1, runtime result = 507899")
    j.end(w, 301 + j.guise.execute + 5, 1)
    return truth("suspect", "first_error_lost", [w], 301, tol=30)


def nothing_tells(j: Job) -> Truth:
    """All wait in the same call, no heart is missed, no edge is told: nobody may be named."""
    j.start()
    j.train(300)
    j.wait(j.ranks, 301)
    return truth("unknown", "unknown")


def nobody_knows_who_killed_it(j: Job) -> Truth:
    """kill -9 by somebody; the kernel's log could not be read."""
    j.start()
    j.train(200)
    w = j.ranks[1]
    _gone(j, w, 201, -9)
    j.gaps[w.host] = ["dmesg: operation not permitted"]
    if j.guise.launcher == "msrun":  # no exit status: all of its server went silent at once
        return truth("suspect", "host_silent", j.on(w.host), 201, tol=30)
    return truth("suspect", "unknown", [w], 201)


def two_faults(j: Job) -> Truth:
    """An exception, and on another server an OOM kill a minute later: the first in time is meant."""
    j.start()
    j.train(200)
    w, other = j.ranks[0], j.ranks[-1]
    j.traceback(w, 201, "ValueError: bad shape")
    j.end(w, 202, 1)
    j.stop_rest(w, 203)
    j.kernel(other.host, 262, f"Out of memory: Killed process {other.host_pid} (python3) total-vm:9kB, anon-rss:9kB")
    j.end(other, 263, -9)
    j.wait([x for x in j.off(w.host) if x is not other], 201)
    return truth("cause", "python_exception", [w], 201)


def first_line_from_a_waiter(j: Job) -> Truth:
    """The waiters' store breaks a moment before the culprit's traceback is printed."""
    j.start()
    j.train(200)
    w = j.ranks[1]
    for x in j.on(w.host):
        if x is not w:
            j.traceback(
                x,
                200.9,
                "RuntimeError: [0] is setting up HCCL communicator, but store->get('0') got error: "
                "Connection reset by peer",
            )
    j.log(w, 201, "there is an exception of aicore error, core id is 4, error code = 0x800000", module="RUNTIME")
    j.log(w, 201.01, "synchronize failed, runtime result = 507015", module="ASCENDCL")
    _gone(j, w, 201, 1)
    return truth("cause", "aicore_exception", [w], 201)


def collective_kernels_time_out(j: Job) -> Truth:
    """Vector-core timeouts of a kernel that is itself a collective: they only waited; one rank stands still."""
    j.start()
    j.train(200)
    w = j.ranks[-1]
    rest = [x for x in j.ranks if x is not w]
    for x in rest:
        t = 201 + j.guise.execute + 0.1 * x.rank - 0.4
        j.log(
            x,
            t,
            "PrintErrorInfo: AiVector kernel execute failed, device_id=1, fault "
            "kernel_name=aiv_all_reduce_910b_x_fp16, x",
            module="RUNTIME",
        )
        j.log(x, t + 0.01, "synchronize failed, runtime result = 507034", module="ASCENDCL")
    j.wait(rest, 201)
    return truth("suspect", "stuck", [w], 201, tol=30)


def healthy(j: Job) -> Truth:
    j.start()
    j.train(300)
    for w in j.ranks:
        j.info(w, 306, "Entry-HcclCommDestroy: op_base comm destroy begin")
        j.log(w, 306.5, "hdc session closed, runtime result = 507901", module="RUNTIME")
        j.add(j.output(w), 307, "training finished")
    return truth("none", "none")


def healthy_beside_trouble(j: Job) -> Truth:
    """The job is well; on its servers other jobs are not."""
    found = healthy(j)
    for w in j.ranks[:2]:
        j.kernel(w.host, 120, "Out of memory: Killed process 3999999 (java) total-vm:9kB, anon-rss:9kB")
        j.kernel(w.host, 130, "INFO: task rsync:4444 blocked for more than 120 seconds.")
        j.kernel(
            w.host,
            131,
            "[ascend] [ERROR] [dms_module] [dms_event_print 233] <d:9:9> Event id=0x80e01801, dev_id=63, assertion=1",
        )
    return found


STORIES: dict[str, Callable[[Job], Truth]] = {
    f.__name__: f
    for f in (
        oom_in_a_container, npu_memory, npu_memory_in_hccl, key_error, import_fails_everywhere, aicore,
        vector_core, aicpu, ecc, board_lost, scheduler_of_the_device_lost, port_falls,
        port_fell_by_its_own_record_alone, port_down_at_start, copies_over_hccs_fail, network_between_halves,
        bridge_before_the_card, one_server_is_late, a_server_never_started, stands_before_hccl,
        tls_of_one_server, tls_by_its_own_code, versions_differ, arguments_of_one, count_of_one_at_a_later_call,
        operator_of_one, address_of_the_table, table_of_one_server, setting_of_one_server, port_of_the_root,
        port_of_an_npu, left_over, file_server_gone, stands_still, silent_while_all_wait, disk_full,
        a_server_dies, first_error_rotated_away, nothing_tells, nobody_knows_who_killed_it, two_faults,
        first_line_from_a_waiter, collective_kernels_time_out, healthy, healthy_beside_trouble,
    )
}  # fmt: skip
