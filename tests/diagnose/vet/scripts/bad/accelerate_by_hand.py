# expect: JOB108:5 JOB115:6
from accelerate import Accelerator
import torch
acc = Accelerator()
model = torch.nn.Linear(1, 1).cuda()
torch.save(model.state_dict(), "x.pt")
