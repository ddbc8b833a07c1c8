"""The configuration: its model, where it comes from, and which source set what."""
