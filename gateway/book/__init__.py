"""Opening books: graphs of positions, their files, their growth and their use; no service."""
