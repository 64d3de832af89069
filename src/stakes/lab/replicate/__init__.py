"""Experiments, each in a file of its own that is named as it is on the command line."""
