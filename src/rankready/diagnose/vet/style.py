"""Who takes care of ranks, devices and data in this program: the script itself, or a framework by its own contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.diagnose.vet.program import Program

_TRAINERS = (
    "transformers.Trainer",
    "transformers.Seq2SeqTrainer",
    "trl.SFTTrainer",
    "trl.DPOTrainer",
    "trl.GRPOTrainer",
)
_LIGHTNING = ("pytorch_lightning.Trainer", "lightning.Trainer", "lightning.pytorch.Trainer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """``managed``: a framework makes the group, places devices and splits data. ``mindspore``: no torch at all."""

    framework: str = ""
    torch: bool = False
    mindspore: bool = False
    npu: bool = False
    cuda_becomes_npu: bool = False

    @property
    def managed(self) -> bool:
        """Tell whether a framework does what the script doesn't."""
        return bool(self.framework)


def recognise(program: Program) -> Style:
    """Tell a program's style from what it imports and calls."""
    framework = ""
    if program.called("accelerate.Accelerator"):
        framework = "accelerate"
    elif program.called("deepspeed.initialize", "deepspeed.init_distributed"):
        framework = "deepspeed"
    elif program.called(*_TRAINERS) or any(
        n.rpartition(".")[2].endswith("Trainer") and program.imports("transformers") for _, _, n in program.calls
    ):
        framework = "transformers"
    elif program.called(*_LIGHTNING):
        framework = "lightning"
    elif program.imports("mindspeed") or program.imports("megatron"):
        framework = "megatron"
    return Style(
        framework=framework,
        torch=program.imports("torch"),
        mindspore=program.imports("mindspore"),
        npu=program.imports("torch_npu") or bool(program.called("torch.npu.set_device", "torch.npu.is_available")),
        cuda_becomes_npu=program.imports("torch_npu.contrib.transfer_to_npu")
        or any(
            value.startswith("torch_npu.contrib.transfer_to_npu") or value == "torch_npu.contrib.transfer_to_npu"
            for module in program.modules
            for value in module.aliases.values()
        ),
    )
