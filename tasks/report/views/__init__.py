"""What the page says: small view models computed from the records, no HTML."""
