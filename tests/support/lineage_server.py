"""A server of OpenLineage events, and a check of events by the classes that OpenLineage generates from its schema.

With KANON_OPENLINEAGE, also by the schema itself.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import Enum
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import UnionType
from typing import Any, Union, get_args, get_origin
from uuid import UUID

import attr
from openlineage.client import event_v2
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    output_statistics_output_dataset,
    processing_engine_run,
    schema_dataset,
)

from support import openlineage_schema

URN = re.compile(r"urn:[a-z0-9][a-z0-9-]{0,30}[a-z0-9]:[\w.+!~-]+", re.ASCII)  # RFC 8141
FACETS: dict[str, type] = {
    "processing_engine": processing_engine_run.ProcessingEngineRunFacet,
    "errorMessage": error_message_run.ErrorMessageRunFacet,
    "jobType": job_type_job.JobTypeJobFacet,
    "schema": schema_dataset.SchemaDatasetFacet,
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet,
    "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
    "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
}


class Server:
    """What a listener received: the events, and the headers of the last request."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.events: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: dict[str, str] = {}


@contextmanager
def listening(status: int = 201) -> Iterator[Server]:
    """A real HTTP server that answers every event with a status."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.paths.append(self.path)
            received.headers = dict(self.headers)
            received.events.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    received = Server(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def check(event: dict[str, Any]) -> None:
    """Fail if an event has a key, a type or a value that OpenLineage's schema does not allow."""
    _check(event, event_v2.RunEvent, "event")
    assert datetime.fromisoformat(event["eventTime"]).tzinfo, "a time without a zone"
    assert str(UUID(event["run"]["runId"])) == event["run"]["runId"]
    assert URN.fullmatch(event["producer"])
    for output in event["outputs"]:
        _check_columns(output, event["inputs"])
    if openlineage_schema.FOLDER:
        assert not openlineage_schema.errors(event)


def _check_columns(output: dict[str, Any], inputs: list[dict[str, Any]]) -> None:
    """Column lineage refers to columns of the schema facets, as the specification of its facet demands."""
    facet = output["facets"].get("columnLineage", {"fields": {}})
    assert facet["fields"].keys() <= set(_columns(output))
    known = {(source["namespace"], source["name"], column) for source in inputs for column in _columns(source)}
    used = [*facet.get("dataset", ()), *(field for name in facet["fields"].values() for field in name["inputFields"])]
    assert {(field["namespace"], field["name"], field["field"]) for field in used} <= known


def _columns(dataset: dict[str, Any]) -> list[str]:
    return [field["name"] for field in dataset["facets"].get("schema", {"fields": []})["fields"]]


def _check(value: Any, kind: Any, path: str) -> None:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        _check_either(value, get_args(kind), path)
    elif origin is list:
        assert isinstance(value, list), path
        for number, item in enumerate(value):
            _check(item, get_args(kind)[0], f"{path}[{number}]")
    elif origin is dict:
        assert isinstance(value, dict), path
        facets = "acets" in path.rpartition(".")[2]
        for name, item in value.items():
            _check(item, FACETS[name] if facets else get_args(kind)[1], f"{path}.{name}")
    elif attr.has(kind):
        _check_object(value, kind, path)
    elif isinstance(kind, type) and issubclass(kind, Enum):
        assert value in {word.value for word in kind}, path
    else:
        assert type(value) is kind, (path, value)


def _check_either(value: Any, kinds: tuple[Any, ...], path: str) -> None:
    if value is None:
        assert type(None) in kinds, path
    else:
        (kind,) = (kind for kind in kinds if kind is not type(None))
        _check(value, kind, path)


def _check_object(value: Any, kind: Any, path: str) -> None:
    attr.resolve_types(kind)
    fields = {field.name: field for field in attr.fields(kind)}
    assert value.keys() <= fields.keys(), (path, value.keys() - fields.keys())
    for name, field in fields.items():
        if name in value:
            _check(value[name], field.type, f"{path}.{name}")
            if field.validator and field.init:
                field.validator(None, field, value[name])
        else:
            assert field.default is not attr.NOTHING, f"{path} lacks {name}"
    if "_schemaURL" in fields:
        assert value["_schemaURL"] == kind._get_schema()
        assert URN.fullmatch(value["_producer"])
