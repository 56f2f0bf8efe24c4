"""Reads of what follows the collection: current labels, reports, splits."""
