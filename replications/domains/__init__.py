"""Domains to draw examples from, with what is true of them."""
