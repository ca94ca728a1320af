"""Cloud partitions, regions, services and endpoints, and the operations and errors of some service APIs."""

from __future__ import annotations

import functools
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tasks.mining.corpus.formats import only
from tasks.mining.corpus.items import Dataset, Loader, Paper, Record

API_SERVICES = (  # fmt: skip
    "accessanalyzer", "athena", "backup", "budgets", "cloudtrail", "codeartifact", "dataexchange", "dynamodb",
    "ecr", "efs", "elasticache", "firehose", "glacier", "kms", "lambda", "location", "logs", "machinelearning",
    "polly", "rds", "s3", "secretsmanager", "service-quotas", "sns", "sqs", "ssm", "stepfunctions", "sts",
    "textract", "transcribe", "translate", "waf", "wafv2", "workmail",
)  # fmt: skip
"""Services whose operations are read: small models over storage, security, data, messaging and learning."""

_ENDPOINTS = "botocore/data/endpoints.json"
_MODELS = "botocore/data/*/*/service-2.json.gz"
_TAG = re.compile(r"<[^>]+>")
_CLOUD = ("cloud", "aws", "region", "service", "endpoint", "infrastructure", "quota", "deployment", "partition")
_API = ("api", "operation", "service", "cloud", "aws", "request", "error", "storage", "database", "bucket", "method")


def _wanted(path: str) -> bool:
    return path.split("/")[2] in API_SERVICES


@functools.lru_cache(maxsize=1)
def _partitions(raw: bytes) -> Any:
    return json.loads(raw)["partitions"]


def _endpoints(level: str) -> Loader:
    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        services: set[str] = set()
        for index, partition in enumerate(_partitions(only(files))):
            at, name = f"$.partitions[{index}]", partition["partition"]
            if level == "partition":
                yield (
                    at,
                    {
                        "partition": name,
                        "title": partition["partitionName"],
                        "suffix": partition["dnsSuffix"],
                        "regions": len(partition["regions"]),
                    },
                )
            elif level == "region":
                for region, entry in partition["regions"].items():
                    yield f"{at}.regions.{region}", {"region": region, "title": entry["description"], "partition": name}
            for service, entry in partition["services"].items():
                here = f"{at}.services.{service}"
                if level == "service" and service not in services:
                    services.add(service)
                    scope = "global" if entry.get("isRegionalized") is False else "regional"
                    yield here, {"service": service, "scope": scope, "endpoints": len(entry["endpoints"])}
                elif level == "endpoint":
                    for region, settings in entry["endpoints"].items():
                        if region in partition["regions"] and not settings.get("deprecated"):
                            yield (
                                f"{here}.endpoints.{region}",
                                {
                                    "endpoint": f"{service}.{region}",
                                    "service": service,
                                    "region": region,
                                    "protocol": ",".join(settings.get("protocols") or ["https"]),
                                    "dualstack": any(
                                        "dualstack" in v.get("tags", ()) for v in settings.get("variants", [])
                                    ),
                                },
                            )

    return load


@functools.lru_cache(maxsize=1)
def _models(paths: tuple[str, ...], packed: tuple[bytes, ...]) -> list[tuple[str, str, Any]]:
    newest: dict[str, tuple[str, bytes]] = {}
    for path, raw in zip(paths, packed, strict=True):
        service = path.split("/")[2]
        if service in API_SERVICES:
            newest[service] = (path, raw)
    return [(service, path, json.loads(gzip.decompress(raw))) for service, (path, raw) in newest.items()]


def plain(html: str, limit: int = 240) -> str:
    """Return the first sentences of an HTML text without its tags, at most `limit` characters."""
    text = " ".join(_TAG.sub(" ", html).split()).replace(" .", ".").replace(" ,", ",")
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " ..."


def _api(level: str) -> Loader:
    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        for service, path, model in _models(tuple(files), tuple(files.values())):
            if level == "service":
                metadata = model["metadata"]
                yield (
                    f"{path} $.metadata",
                    {
                        "service": service,
                        "title": metadata["serviceFullName"],
                        "protocol": metadata["protocol"],
                        "version": metadata["apiVersion"],
                        "operations": len(model["operations"]),
                        "about": plain(model.get("documentation") or ""),
                    },
                )
            elif level == "operation":
                for name, operation in model["operations"].items():
                    yield (
                        f"{path} $.operations.{name}",
                        {
                            "id": f"{service}.{name}",
                            "name": name,
                            "service": service,
                            "method": operation["http"]["method"],
                            "errors": len(operation.get("errors") or ()),
                            "deprecated": bool(operation.get("deprecated")),
                            "about": plain(operation.get("documentation") or "") or None,
                        },
                    )
            else:
                for name, shape in model["shapes"].items():
                    if shape.get("exception"):
                        status = (shape.get("error") or {}).get("httpStatusCode")
                        yield (
                            f"{path} $.shapes.{name}",
                            {
                                "id": f"{service}.{name}",
                                "name": name,
                                "service": service,
                                "status": status,
                                "fault": "server" if shape.get("fault") or (status or 0) >= 500 else "client",
                            },
                        )

    return load


def _pages(files: Mapping[str, bytes]) -> Iterator[Paper]:
    for service, path, model in _models(tuple(files), tuple(files.values())):
        title = model["metadata"]["serviceFullName"]
        content = model.get("documentation") or ""
        if content:
            yield Paper(f"{service}.html", "text/html", title, content + "\n", f"{path} $.documentation")


DATASETS = (
    Dataset(
        name="partitions",
        package="botocore",
        path=_ENDPOINTS,
        load=_endpoints("partition"),
        title="Cloud partitions",
        description="Separate parts of the AWS cloud with their domain names.",
        topics=_CLOUD,
        noun="partition",
        nouns="partitions",
        key="partition_name",
        label="partition_title",
        columns={
            "partition_name": ("partition", "short name"),
            "partition_title": ("title", "name of the partition"),
            "dns_suffix": ("suffix", "end of its host names"),
            "listed_region_count": ("regions", "regions listed in the source"),
        },
    ),
    Dataset(
        name="regions",
        package="botocore",
        path=_ENDPOINTS,
        load=_endpoints("region"),
        title="Cloud regions",
        description="AWS regions with their place and partition.",
        topics=_CLOUD,
        noun="region",
        nouns="regions",
        key="region_code",
        label="region_title",
        columns={
            "region_code": ("region", "code such as eu-west-1"),
            "region_title": ("title", "place of the region"),
            "partition_name": ("partition", "partition that it belongs to"),
        },
    ),
    Dataset(
        name="cloud_services",
        package="botocore",
        path=_ENDPOINTS,
        load=_endpoints("service"),
        title="Cloud services",
        description="AWS services that have endpoints, global or regional.",
        topics=_CLOUD,
        noun="cloud service",
        nouns="cloud services",
        key="cloud_service",
        columns={
            "cloud_service": ("service", "prefix of its host names"),
            "scope": ("scope", "global or regional"),
            "listed_endpoint_count": ("endpoints", "endpoints listed in its first partition"),
        },
    ),
    Dataset(
        name="endpoints",
        package="botocore",
        path=_ENDPOINTS,
        load=_endpoints("endpoint"),
        title="Cloud service endpoints",
        description="In which region which AWS service can be reached.",
        topics=_CLOUD,
        noun="endpoint",
        nouns="endpoints",
        key="endpoint_id",
        columns={
            "endpoint_id": ("endpoint", "service and region"),
            "cloud_service": ("service", "service that answers there"),
            "region_code": ("region", "region that it is in"),
            "protocol": ("protocol", "how it is reached"),
            "has_dual_stack": ("dualstack", "whether it can be reached over IPv6 too"),
        },
    ),
    Dataset(
        name="api_services",
        package="botocore",
        path=_MODELS,
        keep=_wanted,
        load=_api("service"),
        papers=_pages,
        title="Service APIs",
        description="AWS service APIs for storage, databases, security, messaging and learning, with their protocol.",
        topics=_API,
        noun="service",
        nouns="services",
        key="service_name",
        label="service_title",
        columns={
            "service_name": ("service", "short name"),
            "service_title": ("title", "full name"),
            "protocol": ("protocol", "wire protocol"),
            "api_version": ("version", "date of the API version"),
            "listed_operation_count": ("operations", "operations in the source"),
            "about": ("about", "what the service is for"),
        },
        transform="extract json; tags removed, texts cut at 240 characters",
    ),
    Dataset(
        name="api_operations",
        package="botocore",
        path=_MODELS,
        keep=_wanted,
        load=_api("operation"),
        title="Operations of service APIs",
        description="Operations of AWS service APIs with HTTP method and number of errors.",
        topics=_API,
        noun="operation",
        nouns="operations",
        key="operation_id",
        columns={
            "operation_id": ("id", "service and operation"),
            "operation_name": ("name", "name of the operation"),
            "service_name": ("service", "service that offers it"),
            "http_method": ("method", "HTTP method"),
            "error_count": ("errors", "errors that it can return"),
            "is_deprecated": ("deprecated", "whether it is deprecated"),
            "about": ("about", "what it does"),
        },
        transform="extract json; tags removed, texts cut at 240 characters",
    ),
    Dataset(
        name="api_errors",
        package="botocore",
        path=_MODELS,
        keep=_wanted,
        load=_api("error"),
        title="Errors of service APIs",
        description="Errors that AWS service APIs return, with HTTP status and who is at fault.",
        topics=_API,
        noun="api error",
        nouns="api errors",
        key="error_id",
        columns={
            "error_id": ("id", "service and error"),
            "error_name": ("name", "name of the error"),
            "service_name": ("service", "service that returns it"),
            "status_code": ("status", "HTTP status code"),
            "fault": ("fault", "client or server"),
        },
    ),
)
