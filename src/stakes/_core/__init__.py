"""What every room of the package may use: labels, columns, checks of arguments and text."""
