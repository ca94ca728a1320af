"""The kinds of work that long tasks ask for; each draws a playbook that fits an environment's tables and rules."""
