"""What operations and library calls do, as data: which calls cut, save, consume, clear and step."""
