"""The one reader of Python source: files, statements, scopes, and splices that keep all formatting."""
