"""Fingerprints of public benchmarks: names of tools, collections and fields that copies of their data keep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tasks.environment.runtime.files.entry import folded
from tasks.imports.values import Data
from tasks.imports.world import ForeignWorld

_MANY_IDS = 5
_SHARE = 0.5
"""A world is a copy if it has this share of a benchmark's tools, or of its tables' telling fields."""


@dataclass(frozen=True)
class Fingerprint:
    """What a benchmark's world is known by.

    Attributes:
        tools: names of its tools; common ones ("calculate") are left out.
        tables: collection -> fields that together are found nowhere else.
        classes: names of classes, where the benchmark is one of classes.
        telling: tools one of which must be there too, where the others have names that anyone may choose.
        values: the form of ids that its data has, () if it is common; several make a copy of the data.
    """

    name: str
    tools: frozenset[str]
    tables: Mapping[str, frozenset[str]]
    classes: frozenset[str] = frozenset()
    telling: frozenset[str] = frozenset()
    values: str = ""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FINGERPRINTS = (
    Fingerprint(
        "tau2-bench retail",
        _words(
            "cancel_pending_order exchange_delivered_order_items find_user_id_by_email find_user_id_by_name_zip "
            "get_order_details get_product_details get_user_details list_all_product_types "
            "modify_pending_order_address "
            "modify_pending_order_items modify_pending_order_payment modify_user_address return_delivered_order_items"
        ),
        {
            "orders": _words("order_id user_id items payment_history fulfillments"),
            "products": _words("product_id variants"),
            "users": _words("payment_methods orders name address"),
        },
        values=r'"#W\d{7}"',
    ),
    Fingerprint(
        "tau2-bench airline",
        _words(
            "book_reservation cancel_reservation get_reservation_details get_user_details list_all_airports "
            "search_direct_flight search_onestop_flight send_certificate update_reservation_baggages "
            "update_reservation_flights update_reservation_passengers get_flight_status"
        ),
        {
            "flights": _words("flight_number scheduled_departure_time_est scheduled_arrival_time_est dates"),
            "reservations": _words("reservation_id cabin passengers payment_history nonfree_baggages"),
            "users": _words("payment_methods saved_passengers membership reservations"),
        },
        values=r'"HAT\d{3}"',
    ),
    Fingerprint(
        "tau2-bench telecom",
        _words(
            "get_customer_by_phone get_customer_by_id get_bills_for_customer send_payment_request suspend_line "
            "resume_line get_data_usage enable_roaming disable_roaming refuel_data"
        ),
        {"lines": _words("line_id phone_number plan_id data_used_gb roaming_enabled")},
    ),
    Fingerprint(
        "BFCL GorillaFileSystem",
        _words("cat cd cp diff du echo find grep ls mkdir mv pwd rm rmdir sort tail touch wc"),
        {}, _words("GorillaFileSystem"),
    ),
    Fingerprint(
        "BFCL MathAPI",
        _words(
            "absolute_value imperial_si_conversion logarithm max_value mean min_value percentage power round_number "
            "si_unit_conversion square_root standard_deviation subtract sum_values"
        ),
        {}, _words("MathAPI"), _words("si_unit_conversion imperial_si_conversion"),
    ),
    Fingerprint(
        "BFCL MessageAPI",
        _words(
            "add_contact delete_message get_message_stats get_user_id list_users message_get_login_status "
            "message_login "
            "search_messages send_message view_messages_sent"
        ),
        {}, _words("MessageAPI"), _words("message_login message_get_login_status"),
    ),
    Fingerprint(
        "BFCL TicketAPI",
        _words(
            "close_ticket create_ticket edit_ticket get_ticket get_user_tickets logout resolve_ticket "
            "ticket_get_login_status ticket_login"
        ),
        {}, _words("TicketAPI"), _words("ticket_login ticket_get_login_status"),
    ),
    Fingerprint(
        "BFCL TradingBot",
        _words(
            "add_to_watchlist cancel_order filter_stocks_by_price fund_account get_account_info get_available_stocks "
            "get_current_time get_order_details get_order_history get_stock_info get_symbol_by_name "
            "get_transaction_history get_watchlist make_transaction notify_price_change place_order "
            "remove_stock_from_watchlist trading_get_login_status trading_login trading_logout update_market_status "
            "update_stock_price withdraw_funds"
        ),
        {}, _words("TradingBot"), _words("trading_login trading_get_login_status"),
    ),
    Fingerprint(
        "BFCL TravelAPI",
        _words(
            "authenticate_travel book_flight cancel_booking compute_exchange_rate contact_customer_support "
            "get_all_credit_cards get_budget_fiscal_year get_credit_card_balance get_flight_cost "
            "get_nearest_airport_by_city list_all_airports purchase_insurance register_credit_card retrieve_invoice "
            "set_budget_limit travel_get_login_status verify_traveler_information"
        ),
        {}, _words("TravelAPI TravelBooking"), _words("authenticate_travel travel_get_login_status"),
    ),
    Fingerprint(
        "BFCL TwitterAPI",
        _words(
            "authenticate_twitter comment delete_tweet follow_user get_tweet get_tweet_comments get_user_stats "
            "get_user_tweets list_all_following mention posting_get_login_status post_tweet retweet search_tweets "
            "unfollow_user"
        ),
        {}, _words("TwitterAPI PostingAPI"), _words("authenticate_twitter posting_get_login_status"),
    ),
    Fingerprint(
        "BFCL VehicleControlAPI",
        _words(
            "activateParkingBrake adjustClimateControl check_tire_pressure displayCarStatus display_log "
            "estimate_distance estimate_drive_feasibility_by_mileage fillFuelTank find_nearest_tire_shop "
            "gallon_to_liter get_current_speed get_outside_temperature_from_google get_zipcode_based_on_city "
            "liter_to_gallon lockDoors pressBrakePedal releaseBrakePedal setCruiseControl setHeadlights set_navigation "
            "startEngine"
        ),
        {}, _words("VehicleControlAPI"),
    ),
)  # fmt: skip


def _ids(form: str, content: bytes) -> set[str]:
    return set(re.findall(form, content.decode(errors="replace"))) if form else set()


def _is_named(owner: str, world: ForeignWorld, sources: str) -> bool:
    """Say whether a world's tools, files or folder bear the name of a benchmark's class."""
    mark = f'"{owner}"'.encode()
    return (
        re.search(rf"\b{owner}\b", sources) is not None
        or folded(owner) in folded(world.folder)
        or any(mark in content for content in world.files.values())
    )


def benchmark_of(world: ForeignWorld, fields: Mapping[str, Iterable[str]]) -> tuple[str, dict[str, object]]:
    """Return (benchmark, evidence) that a world copies, ("", {}) if none.

    Args:
        fields: collection -> names of the fields of its records, nested ones too.
    """
    names = {folded(tool.original) for tool in world.tools}
    sources = "\n".join(tool.source for tool in world.tools)
    best: tuple[float, str, dict[str, object]] = (0.0, "", {})
    for mark in FINGERPRINTS:
        shared = sorted(tool for tool in mark.tools if folded(tool) in names)
        tool_share = len(shared) / len(mark.tools)
        if mark.telling and not any(folded(tool) in names for tool in mark.telling):
            tool_share = 0.0
        ids = {text for content in world.files.values() for text in _ids(mark.values, content)}
        held = {
            table: sorted(wanted & set(fields[name]))
            for table, wanted in mark.tables.items()
            for name in fields
            if folded(name) == folded(table)
        }
        whole = [table for table, found in held.items() if len(found) == len(mark.tables[table])]
        table_share = len(whole) / len(mark.tables) if mark.tables else 0.0
        named = sorted(owner for owner in mark.classes if _is_named(owner, world, sources))
        score = max(tool_share, table_share, 1.0 if named or len(ids) >= _MANY_IDS else 0.0)
        if score > best[0]:
            best = (score, mark.name, {"tools": shared, "tables": whole, "classes": named, "ids": sorted(ids)[:5]})
    return (best[1], best[2]) if best[0] >= _SHARE else ("", {})


def field_names(world: ForeignWorld, table: str, data: Data) -> set[str]:
    """Return the names of a table's columns and of all that stands in its records."""
    found = {column.name for column in data.table(table).columns}
    found |= {column.description.partition(".")[0] for column in data.table(table).columns if column.description}
    for other in data.tables:
        if any(column.references.partition(".")[0] == table for column in other.columns):
            found.add(other.name)
            found.add(other.name.removeprefix(f"{table.rstrip('s')}_"))
    return found
