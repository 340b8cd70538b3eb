"""A small data-parallel training job: logistic regression on data that each rank makes for itself.

The contract is torchrun's environment: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT.
Three engines do the same: hccl (torch_npu), gloo (torch), and the standard library alone.

Without torch the gradients travel in two rings. Ranks at the same position of every server are joined over the
devices' own network where there is one (/run/netns/npuN, N = physical device), over the servers' network else; the
ranks of one server are joined by Unix sockets. So a broken device link breaks the job, as it does on a real cluster.

Each rank prints one line after a checked all-reduce, rank 0 a line per step::

    rank=0 local=0 world=16 backend=stdlib sum=136 want=136 ok=True t=0.41
    step=1 loss=0.6931

Exit status: 0 trained, 1 failed (the last line says why, and for whom it waited), 2 wrong call.
"""

# ruff: noqa: PTH110, PTH112, PTH113, PTH118, PTH123, PLC0415  (every rank pays for pathlib and early imports with memory)
# ruff: noqa: B905  (Python 3.7 on servers)
from __future__ import annotations

import importlib
import json
import math
import os
import socket
import struct
import sys
import time
from array import array

FEATURES = 12
ROWS = 96
RATE = 0.8
NEWNET = 0x40000000
USAGE = "usage: train.py [--steps N] [--backend auto|stdlib|gloo|hccl] [--timeout S] [--pause S]"
TEST_FLAGS = ("--fail-rank", "--fail-step", "--wrong-rank")


class JobError(Exception):
    """The job can't go on; says for whom this rank waited."""


class Job:
    """Who this process is, from the environment, and what it was told to do."""

    def __init__(self, options: dict[str, str], environ: dict[str, str]) -> None:
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
        missing = [name for name in names if not environ.get(name)]
        if missing:
            raise JobError(f"not in the environment: {', '.join(missing)}")
        self.rank, self.world, self.local, self.local_world = (int(environ[n]) for n in names[:4])
        self.master = (environ["MASTER_ADDR"], int(environ["MASTER_PORT"]))
        self.servers, odd = divmod(self.world, self.local_world)
        if odd:
            raise JobError(f"{self.world} ranks don't divide into servers of {self.local_world}")
        self.server = self.rank // self.local_world
        devices = environ.get("ASCEND_RT_VISIBLE_DEVICES", "").split(",")
        self.device = int(devices[self.local]) if self.local < len(devices) and devices[self.local] else self.local
        self.timeout = float(options["--timeout"])
        self.steps = int(options["--steps"])
        self.pause = float(options["--pause"])
        self.fails = (int(options["--fail-rank"]), int(options["--fail-step"]))
        self.wrong = int(options["--wrong-rank"]) == self.rank
        self.started = time.monotonic()
        self.tag = f"rankready-train-{environ.get('RANKREADY_JOB', '')}-{self.master[0]}-{self.master[1]}"


# ── the standard-library engine ─────────────────────────────────────────────────────────────────────────────────────


class Peer:
    """One end of a ring: sends and receives whole messages, and says whom it waited for."""

    def __init__(self, sock: socket.socket, who: str) -> None:
        self.sock = sock
        self.who = who

    def send(self, data: bytes) -> None:
        """Send one message."""
        try:
            self.sock.sendall(struct.pack("!I", len(data)) + data)
        except OSError as error:
            raise JobError(f"sending to {self.who}: {words(error)}") from error

    def receive(self) -> bytes:
        """Receive one message."""
        (size,) = struct.unpack("!I", self._exactly(4))
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            try:
                part = self.sock.recv(size - len(data))
            except OSError as error:
                raise JobError(f"waiting for {self.who}: {words(error)}") from error
            if not part:
                raise JobError(f"waiting for {self.who}: peer closed")
            data += part
        return data


class Ring:
    """Ranks joined in a circle: each sends to the next and receives from the one before."""

    def __init__(self, after: Peer | None, before: Peer | None, place: int, size: int) -> None:
        self.after, self.before, self.place, self.size = after, before, place, size

    def total(self, values: array[float]) -> array[float]:
        """Sum over the ring, in one order everywhere, so that all ranks get the same bits."""
        parts = {self.place: values}
        moving = values.tobytes()
        for step in range(1, self.size):
            if self.after is None or self.before is None:
                break
            self.after.send(moving)
            moving = self.before.receive()
            parts[(self.place - step) % self.size] = array("d", moving)
        return array("d", (math.fsum(column) for column in zip(*(parts[i] for i in sorted(parts)))))


class Rings:
    """Both rings of the standard-library engine."""

    name = "stdlib"

    def __init__(self, job: Job) -> None:
        self.netns = f"/run/netns/npu{job.device}"
        if job.servers == 1 or not os.path.exists(self.netns):
            self.netns = ""
        rail, here = self._listen_rail(job), self._listen_here(job)
        table = meet(job, rail.getsockname()[1] if rail else 0, self._rail_address(job, rail))
        self.inside = self._join_inside(job, here)
        self.rail = self._join_rail(job, rail, table)

    def total(self, values: array[float]) -> array[float]:
        """Sum over all ranks: over the servers first, then inside the server."""
        return self.inside.total(self.rail.total(values))

    def close(self) -> None:
        """Leave: the sockets end with the process."""

    def _listen_rail(self, job: Job) -> socket.socket | None:
        if job.servers == 1:
            return None
        address = device_address(self.netns) if self.netns else own_address(job)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with Namespace(self.netns):
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.settimeout(job.timeout)
            listener.bind((address, 0))
            listener.listen(4)
        return listener

    def _rail_address(self, job: Job, rail: socket.socket | None) -> str:
        return rail.getsockname()[0] if rail else job.master[0]

    def _listen_here(self, job: Job) -> socket.socket | None:
        if job.local_world == 1:
            return None
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.settimeout(job.timeout)
        listener.bind(f"\0{job.tag}-{job.rank}")  # an abstract name: nothing to clean up
        listener.listen(4)
        return listener

    def _join_inside(self, job: Job, listener: socket.socket | None) -> Ring:
        if listener is None:
            return Ring(None, None, 0, 1)
        base = job.server * job.local_world
        after = base + (job.local + 1) % job.local_world
        before = base + (job.local - 1) % job.local_world
        name = f"\0{job.tag}-{after}"
        to = connect(socket.AF_UNIX, name, job, f"rank {after} (same server, ring inside)")
        return Ring(to, accept(listener, job, before, "same server, ring inside"), job.local, job.local_world)

    def _join_rail(self, job: Job, listener: socket.socket | None, table: dict[int, tuple[str, int]]) -> Ring:
        if listener is None:
            return Ring(None, None, 0, 1)
        after = (job.rank + job.local_world) % job.world
        before = (job.rank - job.local_world) % job.world
        address = table[after]
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        where = f"ring between servers, device {job.device}"
        with Namespace(self.netns):
            to = connect(family, address, job, f"rank {after} at {address[0]}:{address[1]} ({where})")
        return Ring(to, accept(listener, job, before, f"at {table[before][0]}, {where}"), job.server, job.servers)


class Namespace:
    """A visit to a network namespace; sockets made inside stay there. Nothing else may run meanwhile."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.home = -1

    def __enter__(self) -> None:
        if self.path:
            self.home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
            self._move(os.open(self.path, os.O_RDONLY))

    def __exit__(self, *_: object) -> None:
        if self.path:
            self._move(self.home)

    def _move(self, to: int) -> None:
        import ctypes  # costs memory, and is of use only where devices have namespaces

        if ctypes.CDLL(None, use_errno=True).setns(to, NEWNET) != 0:
            raise JobError(f"can't enter {self.path}: {os.strerror(ctypes.get_errno())}")
        os.close(to)


def device_address(netns: str) -> str:
    """Learn the address of a device's own eth0."""
    import fcntl

    with Namespace(netns), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            found = fcntl.ioctl(sock.fileno(), 0x8915, struct.pack("256s", b"eth0"))  # SIOCGIFADDR
        except OSError as error:
            raise JobError(f"eth0 of {netns} has no address: {words(error)}") from error
    return socket.inet_ntoa(found[20:24])


def own_address(job: Job) -> str:
    """Learn which own address leads to the master; no packet is sent."""
    if job.rank == 0:
        return job.master[0]
    family = socket.AF_INET6 if ":" in job.master[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect(job.master)
        return str(sock.getsockname()[0])


def connect(family: int, address: str | tuple[str, int], job: Job, who: str) -> Peer:
    """Connect to a peer, which is told who calls; try again while nobody listens yet."""
    until = time.monotonic() + job.timeout
    while True:
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.settimeout(job.timeout)
        try:
            sock.connect(address)
        except ConnectionRefusedError as error:
            sock.close()
            if time.monotonic() > until:
                raise JobError(f"connecting to {who}: {words(error)}") from error
            time.sleep(0.05)
        except OSError as error:
            raise JobError(f"connecting to {who}: {words(error)}") from error
        else:
            break
    if family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer = Peer(sock, who)
    peer.send(str(job.rank).encode())
    return peer


def accept(listener: socket.socket, job: Job, rank: int, where: str) -> Peer:
    """Take the call of one peer; anybody else's is an error."""
    who = f"rank {rank} ({where})"
    try:
        sock, _ = listener.accept()
    except OSError as error:
        raise JobError(f"waiting for the call of {who}: {words(error)}") from error
    sock.settimeout(job.timeout)
    peer = Peer(sock, who)
    caller = peer.receive()
    if caller != str(rank).encode():
        raise JobError(f"waiting for the call of {who}: {caller[:20]!r} called")
    return peer


def meet(job: Job, port: int, address: str) -> dict[int, tuple[str, int]]:
    """Exchange addresses through rank 0, which listens on MASTER_ADDR:MASTER_PORT."""
    mine = {job.rank: (address, port)}
    if job.rank == 0:
        return {int(k): (v[0], v[1]) for k, v in gather(job, mine).items()}
    family = socket.AF_INET6 if ":" in job.master[0] else socket.AF_INET
    master = connect(family, job.master, job, f"rank 0 at {job.master[0]}:{job.master[1]} (rendezvous)")
    master.send(json.dumps(mine).encode())
    table = json.loads(master.receive())
    master.sock.close()
    return {int(k): (v[0], v[1]) for k, v in table.items()}


def gather(job: Job, table: dict[int, tuple[str, int]]) -> dict[int, tuple[str, int]]:
    """Be the master of the rendezvous: hear every rank once, then tell all of them the table."""
    if job.world == 1:
        return table
    family = socket.AF_INET6 if ":" in job.master[0] else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.settimeout(job.timeout)
    try:
        listener.bind(job.master)
    except OSError as error:
        raise JobError(f"listening on {job.master[0]}:{job.master[1]}: {words(error)}") from error
    listener.listen(job.world)
    peers = []
    while len(table) < job.world:
        missing = ", ".join(str(r) for r in range(job.world) if r not in table)
        try:
            sock, _ = listener.accept()
        except OSError as error:
            raise JobError(f"waiting for ranks {missing} (rendezvous): {words(error)}") from error
        sock.settimeout(job.timeout)
        peer = Peer(sock, f"one of ranks {missing} (rendezvous)")
        peer.receive()
        table.update({int(k): (v[0], v[1]) for k, v in json.loads(peer.receive()).items()})
        peers.append(peer)
    listener.close()
    for peer in peers:
        peer.send(json.dumps(table).encode())
    return table


def words(error: OSError) -> str:
    """Say what went wrong in the system's own words."""
    return error.strerror or str(error)


# ── torch ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Torch:
    """torch.distributed with gloo on CPUs, or hccl on NPUs."""

    def __init__(self, job: Job, name: str) -> None:
        import datetime as dt

        torch = importlib.import_module("torch")
        dist = importlib.import_module("torch.distributed")
        self.torch, self.dist, self.name = torch, dist, name
        self.device = torch.device("cpu")
        if name == "hccl":
            torch.npu.set_device(job.local)  # before the group: else two ranks share device 0
            self.device = torch.device(f"npu:{job.local}")
        torch.set_num_threads(1)
        limit = dt.timedelta(seconds=job.timeout)
        dist.init_process_group(name, rank=job.rank, world_size=job.world, timeout=limit)

    def total(self, values: array[float]) -> array[float]:
        """Sum over all ranks; hccl has no float64 reduction."""
        tensor = self.torch.tensor(list(values), dtype=self.torch.float32, device=self.device)
        self.dist.all_reduce(tensor)
        return array("d", tensor.cpu().tolist())

    def close(self) -> None:
        """Leave the group."""
        self.dist.destroy_process_group()


def engine(job: Job, asked: str) -> Rings | Torch:
    """Choose: what was asked for, or the best that is here. hccl without an NPU is refused, never replaced."""
    if asked in ("auto", "hccl"):
        devices = npu_count()
        if devices > job.local:
            return Torch(job, "hccl")
        if asked == "hccl":
            raise JobError(f"hccl was asked for, and local rank {job.local} has no NPU ({devices} visible)")
    if asked == "gloo" or (asked == "auto" and importable("torch")):
        return Torch(job, "gloo")
    return Rings(job)


def npu_count() -> int:
    """Count NPUs that torch_npu sees."""
    if not importable("torch_npu"):
        return 0
    torch = importlib.import_module("torch")
    importlib.import_module("torch_npu")  # makes torch.npu
    return int(torch.npu.device_count()) if torch.npu.is_available() else 0


def importable(name: str) -> bool:
    """Look for a package on the path without importing anything."""
    return any(os.path.isfile(os.path.join(p, name, "__init__.py")) for p in sys.path)


# ── training ────────────────────────────────────────────────────────────────────────────────────────────────────────


def shard(rank: int) -> tuple[list[list[float]], list[int]]:
    """Make this rank's rows and labels; the same on every run."""
    state = 12345 + 7919 * rank
    rows = []
    labels = []
    for _ in range(ROWS):
        row = []
        for _ in range(FEATURES):
            state = (1103515245 * state + 12345) % 2147483648
            row.append(state / 1073741824 - 1)
        rows.append(row)
        labels.append(int(sum(v * (1 - i % 3) for i, v in enumerate(row)) > 0))
    return rows, labels


def gradient(weights: array[float], rows: list[list[float]], labels: list[int]) -> array[float]:
    """Return the gradient of the summed loss, then the loss itself, then the number of rows."""
    out = array("d", [0.0] * (FEATURES + 2))
    for row, label in zip(rows, labels):
        chance = 1 / (1 + math.exp(-sum(w * v for w, v in zip(weights, row))))
        for i, v in enumerate(row):
            out[i] += (chance - label) * v
        out[FEATURES] -= math.log(max(chance if label else 1 - chance, 1e-12))
    out[FEATURES + 1] = len(rows)
    return out


def checked(job: Job, group: Rings | Torch) -> bool:
    """Sum rank + 1 over all ranks and say whether the sum is right."""
    mine = float(job.rank + (2 if job.wrong else 1))
    seen = round(group.total(array("d", [mine]))[0])
    want = job.world * (job.world + 1) // 2
    took = time.monotonic() - job.started
    say(
        f"rank={job.rank} local={job.local} world={job.world} backend={group.name} "
        f"sum={seen} want={want} ok={seen == want} t={took:.2f}"
    )
    return seen == want


def train(job: Job, group: Rings | Torch) -> None:
    """Descend; every rank ends with the same weights."""
    rows, labels = shard(job.rank)
    weights = array("d", [0.0] * FEATURES)
    for step in range(1, job.steps + 1):
        if job.fails == (job.rank, step):
            raise RuntimeError(f"rank {job.rank} fails at step {step}, as it was told to")
        total = group.total(gradient(weights, rows, labels))
        count = total[FEATURES + 1]
        for i in range(FEATURES):
            weights[i] -= RATE * total[i] / count
        if job.rank == 0:
            say(f"step={step} loss={total[FEATURES] / count:.4f}")
        if job.pause:
            time.sleep(job.pause)


def say(line: str) -> None:
    """Print a line in one write, so that lines of several ranks don't mix."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def hold_device(job: Job) -> None:
    """Note this process as its device's user where a make-believe tool looks: real devices know it by themselves."""
    folder = os.environ.get("LAB_RUN", "/run/lab")
    if os.path.isdir(folder):
        try:
            with open(f"{folder}/npu{job.device}.owner", "a") as file:
                file.write(f"{os.getpid()}:python3\n")
        except OSError as error:
            say(f"rank={job.rank} note: {error}")


def read_options(argv: list[str]) -> dict[str, str]:
    """Read ``--name value`` pairs; argparse alone would cost each rank 1.5 MiB."""
    options = {"--steps": "20", "--backend": "auto", "--timeout": "30", "--pause": "0"}
    options.update(dict.fromkeys(TEST_FLAGS, "-1"))
    flat = [part for word in argv for part in word.split("=", 1)]
    for name, value in zip(flat[::2], flat[1::2]):
        if name not in options:
            raise JobError(f"{name}: no such option\n{USAGE}")
        options[name] = value
    if len(flat) % 2:
        raise JobError(f"{flat[-1]}: a value is missing\n{USAGE}")
    return options


def main(argv: list[str]) -> int:
    """Train; return the exit status."""
    try:
        options = read_options(argv)
        job = Job(options, dict(os.environ))
    except (JobError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        return 2
    hold_device(job)
    try:
        group = engine(job, options["--backend"])
        if not checked(job, group):
            print(f"rank={job.rank} error: the sum is wrong", file=sys.stderr, flush=True)
            return 1
        train(job, group)
        group.close()
    except (JobError, OSError) as error:
        print(f"rank={job.rank} error: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
