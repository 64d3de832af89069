"""Experiments, each in a file of its own that is named as it is on the command line.

What several of them are made of is in `shared`; what belongs to one stands beside it.
"""
