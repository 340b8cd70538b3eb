"""From cabled Ascend NPU servers to a running multi-node training job; from a failed job to its first fault."""

__version__ = "0.1.0"
