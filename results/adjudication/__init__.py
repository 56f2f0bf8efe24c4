"""Settling contested pairs: what its pages show, take and sign."""
