"""An edit in the making: what is to be changed, as text, and as lines of files."""
