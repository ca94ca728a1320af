"""XML: elements that repeat below one parent are the rows of a table. No entities, no documents from elsewhere."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from lxml import etree

from tasks.files.errors import FileError
from tasks.files.table import FileLimits, FileTable, make_table


def read_xml(data: bytes, name: str, limits: FileLimits) -> list[FileTable]:
    """Return one table for each kind of element that repeats; locators are XPaths such as `/list/item[2]`.

    A row's columns are its attributes and those of its children that hold text only.

    Raises:
        FileError: if it is not well formed, declares entities, or repeats nothing.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise FileError(name, f"is not well-formed XML: {error.msg}") from None
    document = root.getroottree()
    if document.docinfo.internalDTD is not None and list(document.docinfo.internalDTD.iterentities()):
        raise FileError(name, "declares entities, which are not expanded: remove the declarations")
    groups: dict[str, list[tuple[str, etree._Element]]] = defaultdict(list)
    for parent in root.iter():
        counts = Counter(child.tag for child in parent if isinstance(child.tag, str))
        seen: Counter[str] = Counter()
        for child in parent:
            if isinstance(child.tag, str) and counts[child.tag] > 1 and (len(child) or child.attrib):
                seen[child.tag] += 1
                place = f"{document.getelementpath(parent)}/{_local(child.tag)}[{seen[child.tag]}]"
                groups[_local(child.tag)].append((_path(place, root), child))
    tables = [table for tag, found in groups.items() if (table := _table(tag, found, limits, name)).columns]
    if not tables:
        raise FileError(name, "holds no elements that repeat")
    if len(tables) > limits.tables:
        raise FileError(name, f"holds more than {limits.tables} tables")
    return tables


def _path(place: str, root: etree._Element) -> str:
    """Return an element path from the root, without namespaces."""
    inner = re.sub(r"\{[^}]*\}", "", place).removeprefix("./")
    return f"/{_local(root.tag)}/{inner}"


def _local(tag: str) -> str:
    return etree.QName(tag).localname


def _table(tag: str, found: list[tuple[str, etree._Element]], limits: FileLimits, name: str) -> FileTable:
    rows: list[tuple[str, dict[str, str]]] = []
    for place, element in found:
        values = {_local(key): value for key, value in element.attrib.items()}
        if element.text and element.text.strip():
            values["text"] = element.text
        for child in element:
            if isinstance(child.tag, str) and not len(child):
                key = _local(child.tag)
                values[key] = f"{values[key]}; {child.text or ''}" if key in values else child.text or ""
        rows.append((place, values))
    columns = list(dict.fromkeys(key for _, values in rows for key in values))
    return make_table(tag, columns, ((place, [v.get(c) for c in columns]) for place, v in rows), limits, name)
