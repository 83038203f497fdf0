"""What happened, as plain values that both a run and the source fill; a field that is not known says so."""
