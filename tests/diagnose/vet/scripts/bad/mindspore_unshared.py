# expect: JOB113:5
import mindspore.dataset as ds
from mindspore.communication import init
init()
data = ds.MnistDataset("data")
