"""Long tasks: workflows that people have, drawn as playbooks, told in several registers, and compiled to scripts."""
