import os, sys, logging
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainingArguments, Trainer, HfArgumentParser
from dataclasses import dataclass, field
from datasets import load_dataset

@dataclass
class Args:
    model: str = field(default="/data/models/qwen")
    data: str = field(default="train.json")

def main():
    parser = HfArgumentParser((Args, TrainingArguments))
    args, targs = parser.parse_args_into_dataclasses()
    tok = AutoTokenizer.from_pretrained(args.model)
    with targs.main_process_first(desc="map"):
        ds = load_dataset("json", data_files=args.data)["train"]
    model = AutoModelForCausalLM.from_pretrained(args.model, torch_dtype=torch.bfloat16)
    trainer = Trainer(model=model, args=targs, train_dataset=ds, tokenizer=tok)
    trainer.train()
    trainer.save_model()
    trainer.save_state()
if __name__ == "__main__":
    main()
