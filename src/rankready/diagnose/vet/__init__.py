"""What would go wrong with a training script on several servers: read by its syntax tree, never run."""
