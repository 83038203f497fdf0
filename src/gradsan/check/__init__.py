"""The static door: source → lifecycle facts, by abstract interpretation. It never imports or runs what it reads."""
