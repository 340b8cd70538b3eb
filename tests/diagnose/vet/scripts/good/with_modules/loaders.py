from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train_loader():
    sampler = DistributedSampler(range(10))
    return DataLoader(range(10), sampler=sampler), sampler
