"""The stages of the factory and the rooms that they share; none of them knows Prefect."""
