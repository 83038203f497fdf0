"""Programs of the tests start as copies of one process that has imported torch: what takes most of their time.

`client.py` stands where tests, and all that they start, look for Python (`sys.executable`). It hands its arguments,
variables, open files, directory and namespaces to `server.py`, which forks; the copy becomes the program (`program.py`)
as an interpreter does that was started so. What cannot be had so, such as other options of the interpreter, and all
of a test marked `cold`, is started by the real one.
"""
