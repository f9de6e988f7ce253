"""Pruning a file of rows: read, prune in order, write so that a killed run goes on where it stood."""
