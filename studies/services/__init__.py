"""What changes a study, as plain functions with keyword arguments."""
