"""Policies: a model at a threshold, decisions as they stand, or a constant prediction."""
