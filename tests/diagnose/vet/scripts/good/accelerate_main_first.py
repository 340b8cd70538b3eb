import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset

def main():
    accelerator = Accelerator(gradient_accumulation_steps=2, log_with="tensorboard", project_dir="logs")
    set_seed(1)
    with accelerator.main_process_first():
        data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    loader = DataLoader(data, shuffle=True, batch_size=8)
    model = torch.nn.Linear(4, 1)
    opt = torch.optim.AdamW(model.parameters())
    model, opt, loader = accelerator.prepare(model, opt, loader)
    for epoch in range(2):
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.mse_loss(model(x), y)
                accelerator.backward(loss)
                opt.step()
                opt.zero_grad()
        accelerator.wait_for_everyone()
        if accelerator.is_main_process:
            torch.save(accelerator.unwrap_model(model).state_dict(), f"m{epoch}.bin")
    accelerator.save_state("state")
    accelerator.end_training()

if __name__ == "__main__":
    main()
