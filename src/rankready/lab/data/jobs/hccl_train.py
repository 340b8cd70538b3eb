"""train.py with a make-believe HCCL around it: it writes the logs that HCCL would, and can end as jobs end.

It needs train.py beside it: ``rankready run hccl_train.py --with train.py``. All options of train.py, and::

    --end KIND      killed | oom | greedy | exception | hung | disk_full | late | port_taken | wrong_nic
    --at-rank R     which rank ends so (late, wrong_nic: its whole server)
    --at-step S     at which step of training

What ends is real wherever this machine can do it: signals, exceptions, a full device, a stopped process, a taken port.
Only the choice of a network card, and with ``oom`` the kernel's word about memory, are told rather than done;
``greedy`` takes memory until the kernel of a server that has little ends it. The words of the logs are those of
facts/logs 3 to 5; nothing here knows who will read them.
"""

# ruff: noqa: PTH103, PTH110, PTH118, PTH123  (every rank pays for pathlib with memory; Python 3.7 on servers)
from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from array import array

    from rankready.lab.data.jobs import train
else:
    import train

ENDS = ("killed", "oom", "greedy", "exception", "hung", "disk_full", "late", "port_taken", "wrong_nic")
OWN = {"--end": "", "--at-rank": "-1", "--at-step": "3"}
HOLD = (
    "import socket,sys,time;s=socket.socket();s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1);"
    "s.bind((sys.argv[1],int(sys.argv[2])));s.listen(1);print('held',flush=True);time.sleep(float(sys.argv[3]))"
)
STALE_S = 20.0
PIECE, GREED = 8 << 20, 128  # a gibibyte: more than any lab server is given when its memory is short


class Plog:
    """The log files of one process, in the generation that names the function in its tags (8.2)."""

    def __init__(self, job: train.Job) -> None:
        self.job = job
        self.pid = os.getpid()
        self.root = os.environ.get("ASCEND_PROCESS_LOG_PATH") or os.path.expanduser("~/ascend/log")  # noqa: PTH111
        self.started = time.time()
        self.group = f"{job.master[0]}%eth0_60000_0_{int(self.started)}"
        for part in ("debug", "run"):
            os.makedirs(os.path.join(self.root, part, "plog"), exist_ok=True)

    def write(self, part: str, text: str, level: str = "ERROR", module: str = "HCCL") -> None:
        """Write one line with its head."""
        now = time.time()
        name = f"plog-{self.pid}_{stamp(self.started, '%Y%m%d%H%M%S')}{int(self.started * 1000) % 1000:03d}.log"
        fine = f"{int(now * 1000) % 1000:03d}.{int(now * 1e6) % 1000:03d}"
        head = f"[{level}] {module}({self.pid},python3):{stamp(now, '%Y-%m-%d-%H:%M:%S')}.{fine}"
        with open(os.path.join(self.root, part, "plog", name), "a") as file:
            file.write(f"{head} [lab.cc:1] [{self.pid}]{text}\n")

    def info(self, text: str) -> None:
        """Write to the run log."""
        self.write("run", text, "INFO")

    def error(self, text: str, module: str = "HCCL") -> None:
        """Write to the error log."""
        self.write("debug", text, "ERROR", module)

    def enter(self, card: str, address: str) -> None:
        """Say who this is, as far as that is said before anybody is reached."""
        job = self.job
        timeout = f"{max(1, int(job.timeout))}"
        self.info(f"HCCL_CONNECT_TIMEOUT set by environment to [{timeout}]s")
        self.info(f"HCCL_EXEC_TIMEOUT set by environment to [{timeout}]s")
        self.info(f"nic class[normal]: find nic[{address}%{card}] success.")
        if job.rank == 0:
            self.info(f"Entry-HcclGetRootInfo:rootInfo[0x1], deviceLogicId[{job.local}]")
        self.info(
            f"Entry-HcclCommInitRootInfoInner:ranks[{job.world}], rank[{job.rank}], rootinfo: host ip[{job.master[0]}] "
            f"port[60000] nicDeploy[1] identifier[{self.group}], deviceLogicId[{job.local}]"
        )
        self.info(
            f"[HCCL_TRACE]SetupAgent rankNum[{job.world}], rank[{job.rank}], rootInfo identifier[{self.group}], "
            f"server[{address}%{card}], serverPort[60000]deviceType[2], logicDevId[{job.local}], "
            f"phydevId[{job.device}], "
            f"deviceIp[{device_ip(job)}]"
        )

    def ready(self) -> None:
        """Say that the communicator stands."""
        took = int((time.time() - self.started) * 1e6)
        self.info(
            f"[HCCL_TRACE]HcclCommInitRootInfoInner success, take time [{took}]us, rankNum[{self.job.world}], "
            f"rank[{self.job.rank}]"
        )


def stamp(when: float, form: str) -> str:
    """Write a moment in local time, as HCCL does."""
    return time.strftime(form, time.localtime(when))


def device_ip(job: train.Job) -> str:
    """Return the device's own address, where devices have networks of their own."""
    netns = f"/run/netns/npu{job.device}"
    try:
        return train.device_address(netns) if os.path.exists(netns) else ""
    except (train.JobError, OSError):
        return ""


# ── what HCCL makes of a failure ────────────────────────────────────────────────────────────────────────────────────


def report(plog: Plog, error: Exception, began: float) -> None:
    """Write and print what HCCL and torch_npu would, for what the make-believe transport says."""
    text = str(error)
    job = plog.job
    if "Address already in use" in text:
        where = re.search(r"listening on (\S+):(\d+)", text)
        address, port = where.groups() if where else (job.master[0], "0")
        plog.error(
            f"[HcclSocket][Listen] socket type[2], listen on ip[{address}%eth0] and specific port[{port}] fail. Please "
            "check the port status and whether the port is being used by other process."
        )
        code = f"EI0019: [PID: {plog.pid}] The IP address {address} and port {port} have already been bound."
    elif "(rendezvous)" in text:
        code = creation(plog, text)
    else:
        code = waiting(plog, text, began)
    print(f"rank={job.rank} error: {text}", file=sys.stderr)
    when = stamp(time.time(), "%Y-%m-%d-%H:%M:%S")
    print(
        f"[ERROR] {when} (PID:{plog.pid}, Device:{job.local}, RankID:{job.rank}) ERR02200 DIST call hccl api failed.",
        file=sys.stderr,
    )
    print(code, file=sys.stderr, flush=True)


def creation(plog: Plog, text: str) -> str:
    """The root lists who came; the others only know that they did not get through."""
    job = plog.job
    timeout = int(job.timeout)
    missing = sorted(int(n) for n in re.findall(r"\d+", (re.search(r"ranks ([\d, ]+)", text) or ["", ""])[1]))
    if job.rank == 0 and missing:
        plog.error(f"[Get][Connection]topo exchange server get socket timeout! timeout[{timeout} s]")
        here = ",".join(f"[{r:016d}]" for r in range(job.world) if r not in missing)
        plog.error(f"[DisplayConnectionedRank]total connected num is [{job.world - len(missing)}],line num is [1]")
        plog.error(f"[DisplayConnectionedRank]connected rankinfo[LINE 0]: {here};")
    elif "timed out" in text and "connecting" in text:
        plog.error(f"topo exchange agent get socket timeout! timeout[{timeout}]")
    else:
        plog.error("receive msg length from fdhandle failed")
    return f"EI0015: [PID: {plog.pid}] Failed to collect cluster information of the communicator."


def waiting(plog: Plog, text: str, began: float) -> str:
    """An operator that did not end: a notify that never came, and packets that were never answered."""
    job = plog.job
    found = re.search(r"rank (\d+)", text)
    peer = found[1] if found else "unknown"
    far = re.search(r"at ([\d.]+)", text)
    if "ring between servers" in text and "timed out" in text and far and not answers(job, far[1]):
        plog.error(
            f"[Heartbeat]cqe error status[12], time:[{stamp(time.time(), '%Y-%m-%d %H:%M:%S')}.000000],"
            f"localIP[{device_ip(job)}], remoteIP:[{far[1]}]"
        )
    tag = f"AllReduce_{plog.group}"
    where = "[TaskExceptionHandler][DealExceptionTask]Task run failed, "
    plog.error(
        f"{where}base information is streamID:[5], taskID[1], taskType[Notify Wait], tag[{tag}], "
        "AlgType(level 0-1-2):[ring]."
    )
    plog.error(f"{where}para information is notify id:[0x1], stage:[0], remote rank:[{peer}], tag[{tag}].")
    plog.error(
        f"{where}groupRank information is group:[{plog.group}], user define information[], rankSize[{job.world}], "
        f"rankId[{job.rank}]."
    )
    issued = stamp(began, "%Y-%m-%d-%H:%M:%S") + ".000.000"
    plog.error(
        f"{where}opData information is timeStamp:[{issued}], deviceId[{job.local}], index[{STEP['count']:.0f}], "
        "count[14], "
        "reduceType[sum], src[0x1], dst[0x2], dataType[fp64]."
    )
    return (
        f"EI0002: [PID: {plog.pid}] The wait execution of the Notify register times out. Reason: The Notify "
        "register has "
        f"not received the Notify record from remote rank: [{peer}]."
    )


def answers(job: train.Job, address: str) -> bool:
    """Tell whether a device answers at all: a stopped process's network card still does, a cut link's does not."""
    netns = f"/run/netns/npu{job.device}"
    with train.Namespace(netns if os.path.exists(netns) else ""), socket.socket() as sock:
        sock.settimeout(1.0)
        try:
            sock.connect((address, 9))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
        return True


# ── how a job can end ───────────────────────────────────────────────────────────────────────────────────────────────

STEP: dict[str, float] = {"count": 0, "began": 0.0}


def end(kind: str) -> None:
    """End this process in one of the ways."""
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "oom":
        kernel(f"Out of memory: Killed process {os.getpid()} (python3) total-vm:9kB, anon-rss:9kB")
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "greedy":
        held: list[bytearray] = []
        while len(held) < GREED:
            held.append(bytearray(b"x") * PIECE)
        raise MemoryError("nobody took it away")
    if kind == "exception":
        with open("/data/shard_00123.idx", "rb"):
            pass
    if kind == "hung":
        os.kill(os.getpid(), signal.SIGSTOP)
    if kind == "disk_full":
        with open("/dev/full", "w") as file:
            file.write("checkpoint")


def kernel(text: str) -> None:
    """Put a line into this make-believe server's kernel log."""
    with open(os.path.join(os.environ.get("LAB_RUN", "/run/lab"), "dmesg"), "a") as file:
        file.write(f"{int(time.time())} {text}\n")


def before(job: train.Job, kind: str, at: int) -> tuple[str, str]:
    """What goes wrong before HCCL begins; returns the network card and address that it chooses."""
    mine = at // job.local_world == job.server
    if kind == "port_taken" and job.rank == 0:
        words = [sys.executable, "-c", HOLD, job.master[0], str(job.master[1]), str(STALE_S)]
        holder = subprocess.Popen(words, stdout=subprocess.PIPE)
        if holder.stdout is not None:
            holder.stdout.readline()
    if kind == "late" and mine:
        print(f"INFO:root:sync of the data index done in {job.timeout * 2:.1f} s", flush=True)
        time.sleep(job.timeout * 2)
    if kind == "wrong_nic" and mine:
        return "docker0", "172.17.0.1"
    return "eth0", train.own_address(job)


def wrong_way(job: train.Job) -> None:
    """Call the root from a card that does not lead to it: nobody answers before the time is over."""
    time.sleep(job.timeout + 2.0)
    raise train.JobError(f"connecting to rank 0 at {job.master[0]}:{job.master[1]} (rendezvous): timed out")


def split(argv: list[str]) -> tuple[dict[str, str], list[str]]:
    """Take our own options out of the words."""
    own, rest = dict(OWN), []
    words = iter([part for word in argv for part in word.split("=", 1)])
    for word in words:
        if word in own:
            own[word] = next(words, "")
        else:
            rest.append(word)
    return own, rest


def main(argv: list[str]) -> int:
    """Train, and tell as HCCL would how it went."""
    own, rest = split(argv)
    kind, at, step = own["--end"], int(own["--at-rank"]), int(own["--at-step"])
    if kind and kind not in ENDS:
        print(f"error: --end {kind}: one of {', '.join(ENDS)}", file=sys.stderr)
        return 2
    options = train.read_options(rest)
    job = train.Job(options, dict(os.environ))
    card, address = before(job, kind, at)
    plog = Plog(job)
    plog.enter(card, address)
    plain = train.gradient

    def gradient(weights: array[float], rows: list[list[float]], labels: list[int]) -> array[float]:
        STEP.update(count=STEP["count"] + 1, began=time.time())
        if kind and (job.rank, STEP["count"]) == (at, step):
            end(kind)
        return plain(weights, rows, labels)

    train.gradient = gradient
    try:
        if card == "docker0":
            wrong_way(job)
        patience = job.timeout
        job.timeout += 0.0 if job.rank == 0 else 2.0  # the root gives up first, and says who did not come
        group = train.engine(job, options["--backend"])
        job.timeout = patience
        plog.ready()
        train.checked(job, group)
        train.train(job, group)
        plog.info("Entry-HcclCommDestroy: op_base comm destroy begin")
        group.close()
    except (train.JobError, ConnectionError, TimeoutError) as error:
        report(plog, error, STEP["began"] or plog.started)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
