"""Reference runs: the program as it is, whose passes do what a right fix would make them do.

They need no edit, so they say what an edit is to be compared with. Only the process of a trial runs so: every reference
keeps all graphs, so that nothing raises, and then takes away what its meaning does not allow.
"""
