"""Wiring: settings, addresses, processes. Everything else lives in the three rooms."""
