"""Distributions of mean costs, and bets against means, on which the interval methods are built."""
