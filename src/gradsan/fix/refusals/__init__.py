"""What keeps an edit from being offered."""
