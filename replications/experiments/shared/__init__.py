"""Code that experiments share: problems, classifiers to evaluate, trees, contests."""
