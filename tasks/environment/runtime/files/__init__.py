"""Environments whose state is files: foreign tools open them by path, on a private disk in memory."""
