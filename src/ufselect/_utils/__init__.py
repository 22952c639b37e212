"""What every room needs and no library has."""
