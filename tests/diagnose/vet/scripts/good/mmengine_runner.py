from mmengine.config import Config
from mmengine.runner import Runner
import argparse, os
def main():
    p = argparse.ArgumentParser()
    p.add_argument('config')
    p.add_argument('--launcher', choices=['none', 'pytorch', 'slurm', 'mpi'], default='none')
    p.add_argument('--local_rank', '--local-rank', type=int, default=0)
    args = p.parse_args()
    if 'LOCAL_RANK' not in os.environ:
        os.environ['LOCAL_RANK'] = str(args.local_rank)
    cfg = Config.fromfile(args.config)
    cfg.launcher = args.launcher
    Runner.from_cfg(cfg).train()
if __name__ == '__main__':
    main()
