"""From cabled Ascend NPU servers to a running multi-node training job, and from a failed job back to its first fault."""

__version__ = "0.1.0"
