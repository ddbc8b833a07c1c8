"""What dev.py does: one environment, many distributions. Standard library only, except in `builds`, `dist` and `docs`."""
