import lightning as L
import torch

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(4, 1)
    def training_step(self, batch, _):
        x, y = batch
        loss = (self.l(x) - y).pow(2).mean()
        self.log("loss", loss, sync_dist=True)
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

def main():
    data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    trainer = L.Trainer(max_epochs=1, strategy="ddp", num_nodes=2, devices=8)
    trainer.fit(Net(), torch.utils.data.DataLoader(data, batch_size=8))

if __name__ == "__main__":
    main()
