# expect: JOB112:8
import torch
import torch_npu

model = torch.nn.Linear(1, 1).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    model(torch.ones(1).npu()).sum().backward()
    optimizer.step()
