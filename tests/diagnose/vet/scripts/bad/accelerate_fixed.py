# expect: JOB102:4
import os
from accelerate import Accelerator
os.environ["MASTER_ADDR"] = "localhost"
accelerator = Accelerator()
