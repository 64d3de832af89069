"""What experiments are made of that only they use: classifiers to judge, trees, contests."""
