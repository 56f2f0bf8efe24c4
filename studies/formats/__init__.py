"""Readers and writers of every file a study is made of; nothing here imports Django."""
