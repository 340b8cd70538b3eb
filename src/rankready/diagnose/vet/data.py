"""Which data a rank reads: its own share, in a new order each epoch, fetched once a server."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankready.diagnose.vet.found import for_one_rank, found
from rankready.diagnose.vet.program import keyword
from rankready.model.finding import Certainty, Severity
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.diagnose.vet.program import Module, Program
    from rankready.diagnose.vet.style import Style
    from rankready.model.finding import Finding

_LOADER = ("torch.utils.data.DataLoader", "*.DataLoader")
_SHARED = (
    "*.DistributedSampler",
    "*.DistributedBatchSampler",
    "*.StatefulDistributedSampler",
    "*.split_dataset_by_node",
)
_FETCH = (
    "huggingface_hub.snapshot_download", "huggingface_hub.hf_hub_download", "modelscope.snapshot_download",
    "urllib.request.urlretrieve", "torchvision.datasets.utils.download_url", "gdown.download",
    "torch.hub.download_url_to_file", "torch.hub.load_state_dict_from_url",
)  # fmt: skip


def judge(program: Program, style: Style) -> Iterator[Finding]:
    """Yield what is wrong with data."""
    yield from _downloads(program)
    if style.mindspore and not style.torch:
        yield from _mindspore(program)
    if style.managed or not style.torch or not program.called("torch.distributed.init_process_group"):
        return
    yield from _unshared(program)
    yield from _same_order(program)


def _unshared(program: Program) -> Iterator[Finding]:
    loaders = [(m, c) for m, c in program.called(*_LOADER) if not _is_evaluation(m, c)]
    if not loaders or program.called(*_SHARED) or _splits_itself(program, loaders):
        return
    module, call = loaders[0]
    yield found(
        "JOB113",
        module,
        call,
        message=Text(
            en="no DistributedSampler: every rank reads all of the data",
            zh="没有 DistributedSampler：每个 rank 都读取全部数据",
        ),
        remedy=Text(
            en="DataLoader(..., sampler=DistributedSampler(dataset)), without shuffle=True",
            zh="使用 DataLoader(..., sampler=DistributedSampler(dataset))，并去掉 shuffle=True",
        ),
        severity=Severity.WARNING,
        certainty=Certainty.LIKELY,
    )


def _is_evaluation(module: Module, call: ast.Call) -> bool:
    """A loader whose name says that it only evaluates."""
    holder = module.above.get(call)
    names = [ast.unparse(t) for t in holder.targets] if isinstance(holder, ast.Assign) else []
    return any(w in n.lower() for n in names for w in ("val", "test", "eval"))


def _splits_itself(program: Program, loaders: list[tuple[Module, ast.Call]]) -> bool:
    """A sampler or a dataset that was told the rank does the split by its own means."""
    for module, call in loaders:
        for part in ("sampler", "batch_sampler"):
            if keyword(call, part) is not None:
                return True
        dataset = keyword(call, "dataset", 0)
        if dataset is None:
            continue
        made = [v for _, v in program.values.get(dataset.id, ())] if isinstance(dataset, ast.Name) else [dataset]
        given = [a for v in made if isinstance(v, ast.Call) for a in (*v.args, *(k.value for k in v.keywords))]
        if any("rank" in word.lower() for a in given for word in program.sources(module, a)):
            return True
        if any(isinstance(v, ast.Subscript) and "rank" in ast.unparse(v.slice).lower() for v in made):
            return True
    return False


def _same_order(program: Program) -> Iterator[Finding]:
    samplers = [
        (m, c)
        for m, c in program.called("*.DistributedSampler")
        if not (isinstance(off := keyword(c, "shuffle", 3), ast.Constant) and off.value is False)
        and not _is_evaluation(m, c)
    ]
    if not samplers or program.called("*.set_epoch"):
        return
    module, call = samplers[0]
    yield found(
        "JOB114",
        module,
        call,
        message=Text(
            en="set_epoch is never called: every epoch has the same order",
            zh="从未调用 set_epoch：每个 epoch 的顺序都相同",
        ),
        remedy=Text(
            en="sampler.set_epoch(epoch) at the start of each epoch",
            zh="每个 epoch 开始时调用 sampler.set_epoch(epoch)",
        ),
        severity=Severity.WARNING,
        certainty=Certainty.LIKELY,
    )


def _mindspore(program: Program) -> Iterator[Finding]:
    made = [(m, c) for m, c, n in program.calls if n.rpartition(".")[2].endswith("Dataset") and "mindspore" in n]
    if not made or not program.called("*.init", "*.get_rank"):
        return
    unshared = [(m, c) for m, c in made if keyword(c, "num_shards") is None and keyword(c, "sampler") is None]
    if len(unshared) < len(made):
        return
    module, call = unshared[0]
    yield found(
        "JOB113",
        module,
        call,
        message=Text(
            en="num_shards and shard_id are not given: every rank reads all of the data",
            zh="没有给出 num_shards 与 shard_id：每个 rank 都读取全部数据",
        ),
        remedy=Text(
            en="num_shards=get_group_size(), shard_id=get_rank()",
            zh="使用 num_shards=get_group_size(), shard_id=get_rank()",
        ),
        severity=Severity.WARNING,
        certainty=Certainty.LIKELY,
    )


def _downloads(program: Program) -> Iterator[Finding]:
    asked = program.called(*_FETCH)
    for module, call, _ in program.calls:
        wish = keyword(call, "download")
        if isinstance(wish, ast.Constant) and wish.value is True:
            asked.append((module, call))
    for module, call in asked:
        if for_one_rank(program, module, call):
            continue
        yield found(
            "JOB116",
            module,
            call,
            message=Text(en="every rank downloads this, into the same place", zh="每个 rank 都会下载到同一位置"),
            remedy=Text(
                en="let LOCAL_RANK 0 download, and the others wait at a barrier; or `rankready sync` the data",
                zh="由 LOCAL_RANK 0 下载，其余在 barrier 等待；或用 `rankready sync` 分发数据",
            ),
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
        )
