from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, HfArgumentParser, Trainer, TrainingArguments


def main():
    (args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    with args.main_process_first():
        data = load_dataset("wikitext", "wikitext-2-raw-v1")
    trainer = Trainer(model=model, args=args, train_dataset=data["train"], tokenizer=tokenizer)
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main()
