"""Lineage of a pipeline: OpenLineage events about every release, to a server or a file.

Events contain names of tables, files and columns, types, numbers of rows, and messages of errors. They contain no value
of the data, no SQL and no address with a user or password.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from kanon_sql.errors import KanonError, SpecError, TargetError
from kanon_sql.plan.source import Source
from kanon_sql.recode.show import shown_names
from kanon_sql.resources import install_command, package_version
from kanon_sql.spec import CloakSpec, ReleaseSpec

NAMESPACE = "OPENLINEAGE_NAMESPACE"  # environment variables of OpenLineage's own clients
API_KEY = "OPENLINEAGE_API_KEY"
_ENDPOINT = "api/v1/lineage"
_ENDINGS = (".jsonl", ".ndjson")
_PATIENCE = 5.0  # seconds for a connection, and for each part of an answer
_LONGEST = 10.0  # seconds for one event in all


@dataclass(frozen=True)
class Dataset:
    """A table or file by its names in OpenLineage, with its columns and their types."""

    namespace: str
    name: str
    types: Mapping[str, str] = field(default_factory=dict)


class Lineage:
    """Where events go: the URL of a server, or a file to which they are appended, one JSON object per line.

    SpecError or TargetError for a place that cannot receive events, before anything is released.
    """

    def __init__(self, place: str) -> None:
        try:
            from openlineage.client.transport.file import FileConfig, FileTransport
            from openlineage.client.transport.http import ApiKeyTokenProvider, HttpConfig, HttpTransport
            from requests.adapters import HTTPAdapter
        except ModuleNotFoundError as error:
            raise SpecError(f"{error.name} is not installed; run: {install_command('lineage')}") from error
        if "://" not in place:
            _check_file(Path(place))
            self._transport: Any = FileTransport(FileConfig(str(Path(place).absolute()), append=True))
            return
        parts = urlsplit(place)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SpecError("lineage events go to a URL such as https://marquez:5000, or to a file that ends in .jsonl")
        if "@" in parts.netloc or parts.query:
            raise SpecError(f"the URL of a lineage server must not contain a password or key; set {API_KEY} instead")
        key = os.environ.get(API_KEY)
        more: dict[str, Any] = {"auth": ApiKeyTokenProvider({"api_key": key})} if key else {}
        url = f"{place.removesuffix('/').removesuffix(_ENDPOINT).removesuffix('/')}/"
        self._transport = HttpTransport(
            HttpConfig(url, _ENDPOINT, timeout=_PATIENCE, adapter=HTTPAdapter(max_retries=0), **more)
        )

    def of(self, job: str) -> Events:
        """The events of one run of a job."""
        return Events(self, job)

    def send(self, event: Any, longest: float | None = None) -> str | None:
        """Send an event; return why it was not received, without parts of the URL, or None."""
        seconds = _LONGEST if longest is None else longest
        problems: list[str | None] = []

        def emit() -> None:
            try:
                self._transport.emit(event)
                problems.append(None)
            except Exception as error:  # whatever a library raises, a release must not fail for it
                response = getattr(error, "response", None)
                if response is not None:
                    problems.append(f"the server answered with status {response.status_code}")
                else:
                    problems.append(getattr(error, "strerror", None) or type(error).__name__)

        thread = Thread(target=emit, daemon=True)  # so that a server that never ends its answer cannot stop a run
        thread.start()
        thread.join(seconds)
        return problems[0] if problems else f"no answer within {seconds:g} seconds"


def _check_file(path: Path) -> None:
    if path.suffix.lower() not in _ENDINGS:
        raise SpecError(
            f"{path} is neither a URL nor a file of lineage events; name a file that ends in {' or '.join(_ENDINGS)}"
        )
    try:
        with path.open("a+", encoding="utf-8") as file:
            file.seek(0)
            first = file.readline()
    except OSError as error:
        raise TargetError(
            f"{path} cannot be written ({error.strerror}); name another file of lineage events"
        ) from error
    if first and not _is_event(first):
        raise TargetError(f"{path} contains something else than lineage events; name another file for them")


def _is_event(line: str) -> bool:
    try:
        event = json.loads(line)
    except ValueError:
        return False
    return isinstance(event, dict) and {"eventTime", "producer", "schemaURL"} <= event.keys()


class Events:
    """The events of one run: START, then COMPLETE, FAIL or ABORT. `problem`: why one was not received, or None."""

    def __init__(self, lineage: Lineage, job: str) -> None:
        from openlineage.client.uuid import generate_new_uuid

        self._lineage = lineage
        self._job = job
        self._run = str(generate_new_uuid())
        self._begun = False
        self._source: Dataset | None = None
        self._target: Dataset | None = None
        self.problem: str | None = None

    def start(self, source: Source, spec: ReleaseSpec) -> None:
        """Send START, with the source and the target."""
        engine, target = source.engine, spec.target
        with self._without_errors():
            self._source = _of_source(source, spec)
            if target and target.file:
                self._target = Dataset(*of_file(str(target.file)))
            elif target:
                self._target = Dataset(*engine.address(engine.place(str(target.table))))
            self._send("START")

    def complete(self, manifest: Mapping[str, Any], spec: ReleaseSpec, opened: AbstractContextManager[Source]) -> None:
        """Send COMPLETE, with the columns of the release and where they come from; `opened`: opens the release."""
        with self._without_errors():
            lineage: dict[str, list[ColumnSource]] = {}
            if self._source and self._target:
                with suppress(KanonError), opened as release:  # without types if it cannot be read any more
                    self._target = replace(self._target, types=release.types())
                lineage = column_lineage(self._source, self._target, spec, manifest)
            self._send("COMPLETE", rows=(int(manifest["rows"]), int(manifest["released_rows"])), lineage=lineage)

    def end(self, error: BaseException) -> None:
        """Send FAIL with the error's message, or ABORT if the run was interrupted."""
        with self._without_errors():
            if not self._begun and isinstance(error, Exception):
                self._send("START")
            if isinstance(error, KanonError):
                self._send("FAIL", message=" ".join(str(error).splitlines()))
            elif isinstance(error, Exception):  # its text could contain values
                self._send("FAIL", message=type(error).__name__)
            elif self._begun:
                self._send("ABORT", longest=_PATIENCE / 2)

    @contextmanager
    def _without_errors(self) -> Iterator[None]:
        """Note an error instead of raising it: no release may fail, or seem to, because of its lineage."""
        try:
            yield
        except Exception as error:
            self.problem = self.problem or type(error).__name__

    def _send(self, kind: str, longest: float | None = None, **facts: Any) -> None:
        self._begun = True
        problem = self._lineage.send(self._event(kind, **facts), longest)
        self.problem = self.problem or problem

    def _event(
        self,
        kind: str,
        message: str | None = None,
        rows: tuple[int, int] | None = None,
        lineage: Mapping[str, Sequence[ColumnSource]] | None = None,
    ) -> Any:
        from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
        from openlineage.client.facet_v2 import error_message_run, job_type_job, processing_engine_run

        by: dict[str, Any] = {"producer": _producer()}
        run_facets: dict[str, Any] = {
            "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
                version=package_version(), name="kanon_sql", openlineageAdapterVersion=package_version(), **by
            )
        }
        if message is not None:
            run_facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(message, "PYTHON", **by)
        job_facets: dict[str, Any] = {"jobType": job_type_job.JobTypeJobFacet("BATCH", "KANON_SQL", "RELEASE", **by)}
        return RunEvent(
            eventType=RunState[kind],
            eventTime=datetime.now(UTC).isoformat(),
            producer=_producer(),
            run=Run(self._run, run_facets),
            job=Job(os.environ.get(NAMESPACE) or "kanon_sql", self._job, job_facets),
            inputs=[_input(self._source, rows and rows[0])] if self._source else [],
            outputs=[_output(self._source, self._target, rows and rows[1], lineage)] if self._target else [],
        )


def _producer() -> str:
    return f"urn:kanon-sql:{package_version()}"  # RFC 8141 allows no underscore before the second colon


# Datasets


def _of_source(source: Source, spec: ReleaseSpec) -> Dataset:
    """The source: a table, a file, or the folder of several files."""
    if not source.files:
        return Dataset(*source.engine.address(source.table.relation), source.types())
    files = [str(path.absolute()) for path in source.files]
    name = files[0] if len(files) == 1 else os.path.commonpath([os.path.dirname(file) for file in files])
    return Dataset(*of_file(spec.source if "://" in spec.source else name), source.types())


def of_file(place: str) -> tuple[str, str]:
    """The namespace and the name of a file or object, without credentials.

    >>> of_file("s3://key:secret@bucket/day/people.parquet?signature=abc")
    ('s3://bucket', 'day/people.parquet')
    """
    if "://" not in place:
        return "file", Path(os.path.abspath(place)).as_posix()
    parts = urlsplit(place)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", parts.path.lstrip("/")


# Columns


@dataclass(frozen=True)
class ColumnSource:
    """A column of the source that a released column comes from: what was done to it, and whether that hides values.

    `forms_classes`: whether it decides which rows are in a class, and so which are suppressed. `computed`: whether its
    values differ from those of the source although none is hidden, such as ages computed from dates.
    """

    column: str
    done: str
    masking: bool
    forms_classes: bool = False
    computed: bool = False

    @property
    def subtype(self) -> str:
        return "TRANSFORMATION" if self.masking or self.computed else "IDENTITY"


def column_lineage(
    source: Dataset, target: Dataset, spec: ReleaseSpec | None, manifest: Mapping[str, Any]
) -> dict[str, list[ColumnSource]]:
    """The sources of every released column; none for columns that a release adds, such as the numbers of groups."""
    roles = manifest["roles"]
    exact = (*roles["sensitive"], *roles["kept"], *_perturbed(manifest))
    found = {column: _with_age(_of_exact(column, manifest), spec) for column in exact if column in target.types}
    for column in roles.get("quasi_identifiers", ()):
        shown = (column,) if column in target.types else shown_names(column, "bounds")
        for name in shown:
            if name in target.types:
                found[name] = _with_age(_generalized(column, manifest), spec)
    if isinstance(spec, CloakSpec):
        places = [
            ColumnSource(column, "cloaked", masking=True, forms_classes=True) for column in (*spec.location, spec.time)
        ]
        found |= {column: places for column in target.types if column not in found}
    return {column: sources for column, sources in found.items() if all(s.column in source.types for s in sources)}


def _of_exact(column: str, manifest: Mapping[str, Any]) -> ColumnSource:
    """A column that is released unchanged, unless its values were perturbed or redrawn."""
    perturbed = _perturbed(manifest)
    redrawn = [redrawn["column"] for redrawn in manifest.get("minimality", {}).get("columns", ())]
    if column in perturbed:
        return ColumnSource(column, f"perturbed ({next(iter(perturbed[column]))})", masking=True)
    if column in redrawn:
        return ColumnSource(column, "redrawn in some classes", masking=True)
    return ColumnSource(column, "unchanged", masking=False)


def _perturbed(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    columns: Mapping[str, Any] = manifest.get("perturbation", {}).get("columns", {})
    return columns


def _with_age(source: ColumnSource, spec: ReleaseSpec | None) -> list[ColumnSource]:
    """The source, and the column of dates if its own dates of birth are read as ages."""
    reading = spec.reading.columns.get(source.column) if spec else None
    at = reading and reading.age_at
    if not at:
        return [source]
    done = f"age at {at}" if source.done == "unchanged" else f"age at {at}, {source.done}"
    return [replace(source, column=column, done=done, computed=True) for column in (source.column, at)]


def _generalized(column: str, manifest: Mapping[str, Any]) -> ColumnSource:
    """A quasi-identifier: hidden unless every cell of the source is released unchanged."""
    damage = next((damage for damage in manifest.get("damage", ()) if damage["column"] == column), None)
    if damage is None:  # an anatomy of exact rows
        return ColumnSource(column, "unchanged", masking=False)
    if damage["unchanged"] >= manifest["rows"] and "deferred" not in manifest:
        return ColumnSource(column, "unchanged", masking=False, forms_classes=True)
    return ColumnSource(column, "generalized or suppressed", masking=True, forms_classes=True)


# Facets


def _input(source: Dataset, rows: int | None) -> Any:
    from openlineage.client.event_v2 import InputDataset
    from openlineage.client.facet_v2 import input_statistics_input_dataset as statistics

    facets: dict[str, Any] = {}
    if rows is not None:
        facet = statistics.InputStatisticsInputDatasetFacet(rowCount=rows, producer=_producer())
        facets["inputStatistics"] = facet
    return InputDataset(source.namespace, source.name, facets=_schema(source), inputFacets=facets)


def _output(
    source: Dataset | None,
    target: Dataset,
    rows: int | None,
    lineage: Mapping[str, Sequence[ColumnSource]] | None,
) -> Any:
    from openlineage.client.event_v2 import OutputDataset
    from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

    facets = _schema(target)
    if source and lineage:
        facets["columnLineage"] = _column_facet(source, lineage)
    counts: dict[str, Any] = {}
    if rows is not None:
        facet = statistics.OutputStatisticsOutputDatasetFacet(rowCount=rows, producer=_producer())
        counts["outputStatistics"] = facet
    return OutputDataset(target.namespace, target.name, facets=facets, outputFacets=counts)


def _schema(dataset: Dataset) -> dict[str, Any]:
    from openlineage.client.facet_v2 import schema_dataset

    if not dataset.types:
        return {}
    fields = [schema_dataset.SchemaDatasetFacetFields(name=name, type=kind) for name, kind in dataset.types.items()]
    return {"schema": schema_dataset.SchemaDatasetFacet(fields=fields, producer=_producer())}


def _column_facet(source: Dataset, lineage: Mapping[str, Sequence[ColumnSource]]) -> Any:
    """The columns' sources; suppression and classes make every row depend on all generalized columns."""
    from openlineage.client.facet_v2 import column_lineage_dataset as columns

    def dependency(column: str, kind: str, subtype: str, done: str, masking: bool) -> Any:
        transformation = columns.Transformation(kind, subtype, done, masking)
        return columns.InputField(source.namespace, source.name, column, [transformation])

    fields = {
        name: columns.Fields(
            [dependency(from_.column, "DIRECT", from_.subtype, from_.done, from_.masking) for from_ in sources]
        )
        for name, sources in lineage.items()
    }
    grouping = dict.fromkeys(from_.column for sources in lineage.values() for from_ in sources if from_.forms_classes)
    of_rows = [
        dependency(column, "INDIRECT", "GROUP_BY", "rows of small classes are suppressed", masking=True)
        for column in grouping
    ]
    return columns.ColumnLineageDatasetFacet(fields, of_rows, producer=_producer())
