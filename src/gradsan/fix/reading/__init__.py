"""What the source says at the places that an explanation names."""
