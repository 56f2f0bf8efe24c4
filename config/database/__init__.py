"""Django's PostgreSQL backend, which starts the embedded server when a connection is wanted."""
