"""The command line: one short file for each command; heavy libraries load inside the commands."""
