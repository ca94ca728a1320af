"""Generated tables that connect tables which a world already has; each file holds one way."""

from __future__ import annotations

from tasks.mining.connectors.collections import COLLECTIONS
from tasks.mining.connectors.connector import Connector, Setting
from tasks.mining.connectors.deliveries import DELIVERIES
from tasks.mining.connectors.inspections import INSPECTIONS
from tasks.mining.connectors.memberships import MEMBERSHIPS
from tasks.mining.connectors.payments import PAYMENTS
from tasks.mining.connectors.reviews import REVIEWS

CONNECTORS: tuple[Connector, ...] = (PAYMENTS, REVIEWS, DELIVERIES, INSPECTIONS, MEMBERSHIPS, COLLECTIONS)

__all__ = ["CONNECTORS", "Connector", "Setting"]
