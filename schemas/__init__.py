"""Records that cross a stage or are stored: frozen pydantic models and their Arrow schemas."""
