"""The part of the sandbox that runs inside it: standard library only."""
