"""The static entry point: source → lifecycle facts, by abstract interpretation. It runs nothing that it reads."""
