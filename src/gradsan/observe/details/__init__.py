"""What is recorded for the page of a run, where that is asked for: graphs, and the course of the run."""
