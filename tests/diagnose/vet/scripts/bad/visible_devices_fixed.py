# expect: JOB104:5 JOB105:6 JOB109:7 JOB120:7 JOB122:4 JOB122:8
import os, torch, torch_npu, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
os.environ['ASCEND_RT_VISIBLE_DEVICES'] = '0,1,2,3'
os.environ['RANK'] = '0'
os.environ['WORLD_SIZE'] = "16"
dist.init_process_group('hccl')
m = DDP(torch.nn.Linear(1,1).to('npu:0'))
