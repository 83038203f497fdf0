"""What is known of libraries, as data: which calls cut, save, consume, clear and step."""
