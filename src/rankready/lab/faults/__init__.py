"""One file per thing that the lab can break."""
