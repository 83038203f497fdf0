"""Whether a program with a fix trains as meant, and whether anybody can know."""
