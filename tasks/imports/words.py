"""English words of identifiers: singular and plural of a table's name."""

from __future__ import annotations

_IRREGULAR = {"people": "person", "children": "child", "men": "man", "women": "woman", "data": "datum",
              "indices": "index", "analyses": "analysis", "statuses": "status", "series": "series", "news": "news",
              "aliases": "alias", "addresses": "address", "taxes": "tax", "leaves": "leave"}  # fmt: skip


def singular(name: str) -> str:
    """Return the singular of an identifier's last word: `order_items` -> `order_item`."""
    head, _, last = name.rpartition("_")
    word = last.lower()
    if word in _IRREGULAR:
        found = _IRREGULAR[word]
    elif word.endswith("ies") and len(word) > 4:
        found = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        found = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        found = word[:-1]
    else:
        found = word
    return f"{head}_{found}" if head else found


def plural(noun: str) -> str:
    """Return the plural of a noun: `order item` -> `order items`."""
    for many, one in _IRREGULAR.items():
        if noun == one:
            return many
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"
