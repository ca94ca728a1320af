"""The part of the engine that runs beside the tools, inside the sandbox: standard library only."""
