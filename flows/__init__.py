"""One file a Prefect flow: what runs when, with what retries, caches and artifacts."""
