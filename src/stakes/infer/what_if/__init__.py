"""What if costs or the frequencies of the classes are not what they were taken for."""
