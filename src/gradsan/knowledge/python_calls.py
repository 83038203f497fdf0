"""Calls of Python's own: conversions, containers, caches."""

from gradsan.knowledge.call import calls

PYTHON_CALLS = (
    *calls("converts", of="builtins", names="float int bool complex"),
    *calls("tells", of="builtins", names="print len str repr format isinstance hasattr type range id hash round"),
    *calls("operates", of="builtins", names="sum abs pow max min"),
    *calls("collects", of="builtins", names="list tuple set frozenset dict iter reversed sorted"),
    *calls("collects", of="collections", names="deque OrderedDict defaultdict Counter"),
    *calls("collects", of="builtins.dict", names="values copy"),
    *calls("collects", of="copy", names="copy deepcopy"),
    *calls("collects", of="typing", names="cast"),
    *calls("stores", of="builtins.list", names="append insert"),
    *calls("stores", of="builtins.set", names="add"),
    *calls("stores", of="collections.deque", names="append appendleft"),
    *calls("stores", of="queue.Queue", names="put put_nowait"),
    *calls("stores", "takes", of="builtins.dict", names="setdefault"),
    *calls("spreads", of="builtins.list", names="extend"),
    *calls("spreads", of="collections.deque", names="extendleft"),
    *calls("spreads", of="builtins.dict", names="update"),
    *calls("takes", of="builtins.dict", names="get"),
    *calls("takes", of="queue.Queue", names="get get_nowait"),
    *calls("takes", "shrinks", of="builtins.list", names="pop"),
    *calls("takes", "shrinks", of="builtins.dict", names="pop popitem"),
    *calls("takes", "shrinks", of="collections.deque", names="popleft"),
    *calls("shrinks", of="builtins.list", names="clear remove"),
    *calls("caches", of="functools", names="lru_cache cache"),
    # What people call the same on buffers of their own.
    *calls("stores", of="?", names="push store write enqueue"),
    *calls("caches", of="?", names="memoize"),
)
