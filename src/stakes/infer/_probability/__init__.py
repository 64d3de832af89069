"""Distributions of mean costs, and bets against them: what the interval methods are made of."""
