"""The name through which a consumed graph survived: from live objects, and from the lines that ran."""
