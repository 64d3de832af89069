"""Shared helpers of all packages: labels, columns, checks of arguments, and text."""
