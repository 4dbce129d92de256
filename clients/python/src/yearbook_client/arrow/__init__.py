"""A reader of Arrow's IPC stream in plain Python, for the types that the service sends. Knows no
dataset and no HTTP."""
