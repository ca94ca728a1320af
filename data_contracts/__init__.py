"""Data contracts: one YAML file a stored dataset. `tasks.quality` reads them and builds the expectations from them."""
