"""The results room's pages."""
