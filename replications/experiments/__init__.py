"""The experiments, one file each, named as on the command line.

Code that several of them use is in `shared`; code for one experiment is in its file.
"""
