import argparse

import deepspeed
import torch
import torch_npu


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    parser = deepspeed.add_config_arguments(parser)
    args = parser.parse_args()
    deepspeed.init_distributed()
    model = torch.nn.Linear(8, 8)
    engine, _, loader, _ = deepspeed.initialize(args=args, model=model, model_parameters=model.parameters())
    for batch in loader:
        loss = engine(batch).sum()
        engine.backward(loss)
        engine.step()
    engine.save_checkpoint("ckpt")


if __name__ == "__main__":
    main()
