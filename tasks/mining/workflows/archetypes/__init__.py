"""The archetypes of business processes; each file holds one."""

from __future__ import annotations

from tasks.mining.workflows.archetypes.accounts import ACCOUNTS
from tasks.mining.workflows.archetypes.allocation import ALLOCATION
from tasks.mining.workflows.archetypes.appointments import APPOINTMENTS
from tasks.mining.workflows.archetypes.approvals import APPROVALS
from tasks.mining.workflows.archetypes.booking import BOOKING
from tasks.mining.workflows.archetypes.deployments import DEPLOYMENTS
from tasks.mining.workflows.archetypes.lending import LENDING
from tasks.mining.workflows.archetypes.observations import OBSERVATIONS
from tasks.mining.workflows.archetypes.ordering import ORDERING
from tasks.mining.workflows.archetypes.publishing import PUBLISHING
from tasks.mining.workflows.archetypes.subscriptions import SUBSCRIPTIONS
from tasks.mining.workflows.archetypes.tickets import TICKETS
from tasks.mining.workflows.plan import Archetype

ARCHETYPES: tuple[Archetype, ...] = (
    BOOKING, ORDERING, LENDING, TICKETS, APPROVALS, ACCOUNTS, OBSERVATIONS, SUBSCRIPTIONS, APPOINTMENTS, DEPLOYMENTS,
    ALLOCATION, PUBLISHING,
)  # fmt: skip

__all__ = ["ARCHETYPES"]
