"""The task writer that a model plays: requests told anew, chains reviewed, goals with solution and checking script."""

from tasks.synthesis.author.author import Author
from tasks.synthesis.author.goals import GoalWriter
from tasks.synthesis.author.scripts import GOAL_LIMITS

__all__ = ["GOAL_LIMITS", "Author", "GoalWriter"]
