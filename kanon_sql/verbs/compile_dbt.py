"""A release as a dbt model in plain SQL, with its mapping tables as seeds and its privacy models as tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_release
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import IN_MEMORY, Source, opened, settle_spec
from kanon_sql.queries import Relation, Seed, Statement, WrittenTable
from kanon_sql.release.publish import check_file
from kanon_sql.spec import SearchIn, Spec, as_yaml
from kanon_sql.staging import Staging
from kanon_sql.verbs import frequency_sets
from kanon_sql.verbs.options import AnonymizeOptions, spelled_out, taken
from kanon_sql.verbs.statement import warn_of

_READ = Relation("kanon_ref")  # placeholder for the dbt model that is read; replaced by a ref


@dataclass(frozen=True)
class DbtModel:
    """A dbt model: its `name`, the name of the model that it `reads`, and the text of its `files`, by path."""

    name: str
    reads: str
    files: Mapping[str, str]

    def write(self, folder: str | PathLike[str], *, overwrite: bool = False) -> list[Path]:
        """Write all files into the folder of a dbt project, or none; return their paths.

        TargetError if there is no such project, or if a file exists and must not be replaced.
        """
        check_project(folder)
        paths = {Path(folder) / name: text for name, text in self.files.items()}
        for path in paths:
            _make_folder(path.parent)
            check_file(path, overwrite, ())
        with Staging() as staging:
            for path, text in paths.items():
                with staging.file(path, overwrite) as file:
                    file.write_text(text, encoding="utf-8", newline="\n")
            staging.place()
        return list(paths)


def check_project(folder: str | PathLike[str]) -> None:
    """TargetError if a folder is not a dbt project."""
    if not (Path(folder) / "dbt_project.yml").is_file():
        raise TargetError(f"there is no dbt_project.yml in {folder}; name the folder of a dbt project")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise TargetError(f"the folder {folder} cannot be created: {error.strerror}; name another project") from None


@spelled_out(AnonymizeOptions)
def compile_dbt(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    ref: str | None = None,
    dialects: Sequence[str] | None = None,
    connection: Any = None,
    observer: Observer | None = None,
    search_in: SearchIn = "embedded",
    frequency_set: str | PathLike[str] | None = None,
    **options: Unpack[AnonymizeOptions],
) -> DbtModel:
    """Search, and return the release as a dbt model in plain SQL. Only the source is read, and nothing is written.

    `ref`: the dbt model or seed that the SQL reads (default: the name of the source's table). The new model is named
    after the target's table (`into`), or after the ref, with `_anon`. `dialects`: the SQL dialects to print (default:
    that of the source's engine). `frequency_set`: as in `compile`. `source`, `spec` and options: as in
    `anonymize`. Raises KanonError, also for a release that takes more than one statement.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"]})
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}}
    >>> model = compile_dbt(people, {"quasi_identifiers": recipes}, k=2, ref="stg_people")
    >>> sorted(model.files)
    ['models/stg_people_anon.sql', 'models/stg_people_anon.yml']
    >>> "FROM {{ ref('stg_people') }} AS s" in model.files["models/stg_people_anon.sql"]
    True
    """
    settled = settle_spec(source, spec, taken(AnonymizeOptions, options))
    check_spec(settled, "sql")
    for dialect in dialects or ():
        queries.check_dialect(dialect)
    to_plan = settled.model_copy(update={"target": None}).as_standalone()
    if frequency_set is not None:
        with frequency_sets.planned(frequency_set, to_plan, observer or Observer()) as plan:
            return _of_plan(plan, settled, ref, dialects)
    with opened(source, to_plan, connection) as data, data.engine.transaction(), data.scratches:
        _names(data, settled, ref)  # fails before the search if the names are wrong
        return _of_plan(plan_release(data, to_plan, observer or Observer(), search_in), settled, ref, dialects)


def _of_plan(plan: Plan, spec: Spec, ref: str | None, dialects: Sequence[str] | None) -> DbtModel:
    reads, name = _names(plan.problem.source, spec, ref)
    if plan.outcome is None:
        raise SpecError(
            f"{spec.strategy} lists the tuples of its classes, which a seed of a dbt project should not contain; "
            "name a search strategy, or release by a Python model"
        )
    dialects = dialects or [plan.recoding.engine.dialect]
    statements = [plan.recoding.standalone(_READ, dialect, lasting=True) for dialect in dialects]
    warn_of(plan, *statements)
    return DbtModel(name, reads, _files(name, reads, plan, statements))


def _names(source: Source, spec: Spec, ref: str | None) -> tuple[str, str]:
    """The name of the model that is read, and the name of the new model."""
    if not ref and (source.counted_by is not None or source.files or spec.source == IN_MEMORY):
        raise SpecError("the SQL has to read a dbt model; name it with `ref`")
    reads = _checked("ref", ref or source.table.relation.name)
    target = spec.target.table if spec.target else None
    name = _checked("into", (target or f"{reads}_anon").rpartition(".")[2])
    if name == reads:
        raise SpecError(
            f"the model {name} cannot read itself; give it another name with `into`, or what it reads with `ref`"
        )
    return reads, name


def _checked(option: str, name: str) -> str:
    """A valid name for dbt; a ref can have a package before a dot. SpecError for any other."""
    if not re.fullmatch(r"\w+(\.\w+)?" if option == "ref" else r"\w+", name, re.ASCII):
        raise SpecError(
            f"{name!r} cannot be the name of a dbt model; give one of letters, digits and _ with `{option}`"
        )
    return name


def _ref(name: str) -> str:
    return f"ref({', '.join(repr(part) for part in name.split('.'))})"


def _files(name: str, reads: str, plan: Plan, statements: Sequence[Statement]) -> dict[str, str]:
    seeds = {_seed_name(name, table): Seed(table) for statement in statements for table in statement.tables}
    kept = {seed_name: seed for seed_name, seed in seeds.items() if seed.text}
    texts = {statement.dialect: _with_refs(name, reads, statement) for statement in statements}
    properties: dict[str, Any] = {"version": 2, "models": [_model_properties(name, reads, plan)]}
    if kept:
        properties["seeds"] = [_seed_properties(seed_name, seed, list(texts)) for seed_name, seed in kept.items()]
    return {
        f"models/{name}.sql": _model_text(texts),
        **{f"seeds/{seed_name}.csv": seed.text or "" for seed_name, seed in kept.items()},
        f"models/{name}.yml": as_yaml(_escaped(properties)),
    }


def _seed_name(model: str, table: WrittenTable) -> str:
    return f"{model}__{table.name.removeprefix('kanon_')}"


def _with_refs(name: str, reads: str, statement: Statement) -> str:
    """A statement with refs to the model that it reads, and to the seeds with its long mappings."""
    references = {_READ.name: f"{{{{ {_ref(reads)} }}}}"}
    for table in statement.tables:
        reference = f"{{{{ {_ref(_seed_name(name, table))} }}}}"
        references[table.name] = Seed(table).read_as(reference, statement.dialect)
    return queries.with_references(statement.query, statement.dialect, references)


def _model_text(texts: Mapping[str, str]) -> str:
    """The text of the model: a comment, and one query for all dialects if they agree, or else one for every dialect."""
    dialects = ", ".join(f"'{dialect}'" for dialect in texts)
    as_tuple = f"{dialects}," if len(texts) == 1 else dialects
    if len(set(texts.values())) == 1:
        body = next(iter(texts.values()))
    else:
        branches = (f"if target.type == '{dialect}' %}}\n{text}\n{{%- " for dialect, text in texts.items())
        body = f"{{%- {'el'.join(branches)}endif %}}"
    return (
        "{#- Generated by `kanon compile --dbt`: compile it again instead of editing it. It counts the classes of the\n"
        "    rows that it returns, and suppresses classes that do not meet the privacy models. It fails if they have\n"
        "    more rows than the suppression limit allows. -#}\n"
        "{{ config(materialized='table') }}\n"
        f"{{%- if execute and target.type not in ({as_tuple}) %}}\n"
        "  {{ exceptions.raise_compiler_error(model.name ~ ' is compiled for "
        f"{' and '.join(texts)}: compile it again with --dialect ' ~ target.type) }}}}\n"
        "{%- endif %}\n"
        f"{body}\n"
    )


def _model_properties(name: str, reads: str, plan: Plan) -> dict[str, Any]:
    spec, quasi = plan.problem.spec, list(plan.recoding.quasi_identifiers)
    sensitive = [column for column in spec.sensitive if column in plan.recoding.columns]
    roles = {**dict.fromkeys(quasi, "quasi-identifier"), **dict.fromkeys(sensitive, "sensitive")}
    model = plan.recoding.judge.model
    counted = f", counted by {model.unit}" if model.unit else ""
    return {
        "name": name,
        "description": f"A release of {reads} by kanon_sql: {model.name} of every class{counted}.",
        "columns": [
            {"name": column, "quote": True, "description": roles.get(column, "unchanged")}
            for column in plan.recoding.columns
        ],
        "data_tests": list(_tests(reads, plan, quasi, sensitive)),
    }


def _tests(reads: str, plan: Plan, quasi: list[str], sensitive: list[str]) -> Iterator[dict[str, Any]]:
    """The tests that the dbt package has for this release; they count rows, since only the model counts people."""
    spec, model = plan.problem.spec, plan.recoding.judge.model
    classes = {"quasi_identifiers": quasi}
    yield _test("suppression", {"against": _ref(reads), "suppression_limit": spec.suppression_limit})
    yield _test("k_anonymity", {**classes, "k": model.k})
    for column, diversity in spec.privacy.l_diversity.items():
        if diversity.kind == "distinct" or (diversity.kind == "entropy" and not model.unit):
            l_required = diversity.model(column).parameters["l"]
            yield _test("l_diversity", {**classes, "sensitive": column, "l": l_required, "kind": diversity.kind})
    for column, closeness in spec.privacy.t_closeness.items():
        if closeness.distance != "hierarchical" and not model.unit:
            distance = {"t": closeness.t, "distance": closeness.distance, "against": _ref(reads)}
            yield _test("t_closeness", {**classes, "sensitive": column, **distance})
    kept = [column for column in plan.recoding.columns if column not in (*quasi, *sensitive)]
    roles = {"identifiers": list(spec.dropped), **classes, "sensitive": sensitive, "keep": kept}
    yield _test("no_identifiers", {role: columns for role, columns in roles.items() if columns})


def _test(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {f"kanon.{name}": {"arguments": arguments}}


def _seed_properties(name: str, seed: Seed, dialects: Sequence[str]) -> dict[str, Any]:
    types_of = {dialect: seed.types(dialect) for dialect in dialects}
    types = {}
    for column in seed.table.columns:
        by_dialect = {dialect: types_of[dialect][column] for dialect in dialects}
        if len(set(by_dialect.values())) == 1:
            types[column] = by_dialect[dialects[0]]
        else:
            types[column] = _Jinja(f"{{{{ {json.dumps(by_dialect)}.get(target.type) }}}}")
    return {
        "name": name,
        "description": "The labels of the values of a column, read by the compiled release.",
        "config": {"column_types": types, "quote_columns": True},
    }


class _Jinja(str):
    """A text that dbt must evaluate as Jinja."""


def _escaped(value: Any) -> Any:
    """Values for dbt's YAML: all texts are escaped for Jinja, except `_Jinja`."""
    if isinstance(value, Mapping):
        return {key: _escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    if isinstance(value, _Jinja):
        return str(value)
    return queries.escaped(value) if isinstance(value, str) else value
