import argparse
import deepspeed
import torch
import torch_npu
from deepspeed.accelerator import get_accelerator

def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    parser.add_argument("--steps", type=int, default=10)
    parser = deepspeed.add_config_arguments(parser)
    return parser.parse_args()

def main():
    args = get_args()
    deepspeed.init_distributed(dist_backend=get_accelerator().communication_backend_name())
    model = torch.nn.Linear(8, 8)
    data = torch.utils.data.TensorDataset(torch.randn(64, 8))
    engine, _, loader, _ = deepspeed.initialize(args=args, model=model, model_parameters=model.parameters(), training_data=data)
    for step, (x,) in enumerate(loader):
        loss = engine(x.to(engine.device)).sum()
        engine.backward(loss)
        engine.step()
    engine.save_checkpoint("ckpt", tag="last")

if __name__ == "__main__":
    main()
