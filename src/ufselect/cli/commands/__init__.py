"""One command a file: arguments in, printing out."""
