"""Mining by a chat model: the tools that it is given, the checks of what it saves, and its rounds."""

from tasks.mining.agent.researcher import TEMPLATES, ModelResearcher
from tasks.mining.agent.subgraphs import executable_subgraphs

__all__ = ["TEMPLATES", "ModelResearcher", "executable_subgraphs"]
