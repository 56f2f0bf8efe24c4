"""What is done with the labels, as plain functions with keyword arguments."""
