"""A release as a dbt model in plain SQL, with its mapping tables as seeds and its privacy models as tests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack, get_args

from kanon_sql import queries
from kanon_sql.engine import written
from kanon_sql.errors import SpecError
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_release
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import IN_MEMORY, Source, opened, settle_spec
from kanon_sql.queries import PrintedStatement, Relation, Seed, WrittenTable
from kanon_sql.release.full_domain import FullDomain
from kanon_sql.release.publish import check_file
from kanon_sql.spec import SearchIn, Spec, as_yaml
from kanon_sql.staging import Staging, make_folder
from kanon_sql.verbs import frequency_sets, mapping_tables
from kanon_sql.verbs.dbt_project import DbtProject
from kanon_sql.verbs.options import AnonymizeOptions, spelled_out, taken
from kanon_sql.verbs.statement import warn_of

_READ = Relation("kanon_ref")  # placeholder for the dbt model that is read; replaced by a ref

Mappings: TypeAlias = Literal["seed", "inline", "table"]


@dataclass(frozen=True)
class DbtModel:
    """A dbt model: its `name`, the name of the model that it `reads`, and the text of its `files`, by path.

    `node`: the level of every quasi-identifier; `node_kept`: whether it is the node of the model that this replaces.
    `tables`: the mapping tables that were created in the source's database.
    """

    name: str
    reads: str
    files: Mapping[str, str]
    node: Mapping[str, int] = field(default_factory=dict)
    node_kept: bool = False
    tables: tuple[str, ...] = ()

    def write(self, folder: str | PathLike[str], *, overwrite: bool = False) -> list[Path]:
        """Write all files into the folder of a dbt project, or none; return their paths.

        TargetError if there is no such project, if it has no model that can be read, or if a file exists and must not
        be replaced.
        """
        project = DbtProject(Path(folder))
        project.check_ref(self.reads)
        paths = {project.path(name): text for name, text in self.files.items()}
        for path in paths:
            make_folder(path.parent, "project")
            check_file(path, overwrite, ())
        with Staging() as staging:
            for path, text in paths.items():
                staging.write(path, text, overwrite)
            staging.place()
        return list(paths)


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
    project: str | PathLike[str] | None = None,
    search_again: bool = False,
    mappings: Mappings = "seed",
    **options: Unpack[AnonymizeOptions],
) -> DbtModel:
    """Search, and return the release as a dbt model in plain SQL. Only the source is read, and no file is written.

    `ref`: the dbt model or seed that the SQL reads (default: the name of the source's table). The new model is named
    after the target's table (`into`), or after the ref, with `_anon`; `into="marts/patients"` puts it into a folder.
    `dialects`: the SQL dialects to print (default: that of the source's engine). `frequency_set`: as in `compile`.
    `project`: the folder of the dbt project, in which the ref must exist. If the model exists there, its node is kept
    while it satisfies the privacy models, unless you `search_again`. `mappings`: where labels of values are that no
    expression computes: seeds if there are more than 200, or always `inline` in the query, or always in a `table` next
    to the source, which is created or replaced. `source`, `spec` and options: as in `anonymize`. Raises KanonError,
    also for a release that takes more than one statement.

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
    if mappings not in get_args(Mappings):
        raise SpecError(f"{mappings!r} is not a place for mappings; choose one of {', '.join(get_args(Mappings))}")
    existing = DbtProject(Path(project)) if project is not None else None
    if existing and ref:
        existing.check_ref(ref)
    observer = observer or Observer()
    to_plan = settled.model_copy(update={"target": None}).as_standalone()
    if frequency_set is not None:
        place = _place(None, settled, ref)
        if existing:
            _check_files(existing, place, settled, mappings)
        kept_spec = _keeping(to_plan, existing, place, search_again)
        if kept_spec:
            with (
                suppress(SpecError),
                frequency_sets.planned(frequency_set, kept_spec, observer, keeps_node=True) as plan,
            ):
                return _of_plan(plan, place, settled, dialects, mappings)
        with frequency_sets.planned(frequency_set, to_plan, observer, keeps_node=True) as plan:
            return _of_plan(plan, place, settled, dialects, mappings)
    writes = ("kanon_mappings",) if mappings == "table" and connection is None and settled.database else ()
    with opened(source, to_plan, connection, writes=writes) as data, data.engine.snapshot(), data.scratches:
        place = _place(data, settled, ref)  # fails before the search if the names are wrong
        if existing:
            _check_files(existing, place, settled, mappings)
        kept_spec = _keeping(to_plan, existing, place, search_again)
        plan_kept: Plan | None = None
        with suppress(SpecError):  # the spec has other quasi-identifiers now, or fewer levels
            plan_kept = plan_release(data, kept_spec, observer, search_in) if kept_spec else None
        plan_found = plan_kept or plan_release(data, to_plan, observer, search_in)
        return _of_plan(plan_found, place, settled, dialects, mappings)


def _check_files(project: DbtProject, place: _Place, spec: Spec, mappings: Mappings) -> None:
    """TargetError if the ref does not exist, or for files that must not be replaced, before anything is created."""
    project.check_ref(place.reads)
    if spec.target or mappings == "table":  # otherwise `write` checks the files
        may_replace = spec.target is not None and spec.target.overwrite
        for file in (project.path(place.file("models", ending)) for ending in ("sql", "yml")):
            if file.exists():
                check_file(file, may_replace, ())


def _keeping(spec: Spec, project: DbtProject | None, place: _Place, search_again: bool) -> Spec | None:
    """The spec with the node of the existing model, unless it does not satisfy the models; None without that."""
    if project is None or search_again or spec.reuses_earlier:
        return None
    recorded = project.recorded(place.file("models", "yml"))
    if recorded is None:
        return None
    earlier = {key: _with_texts(value, queries.unescaped) for key, value in recorded.items()}
    return spec.model_copy(update={"node_from": earlier, "node_else": "search", "changed_hierarchies": "search"})


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A value of YAML whose texts, also those of its keys, are changed."""
    if isinstance(value, Mapping):
        return {change(str(key)): _with_texts(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_texts(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


@dataclass(frozen=True)
class _Place:
    """The name of a model, the folder of its files in `models` and `seeds`, and the model that it reads."""

    name: str
    folder: str
    reads: str

    def file(self, kind: str, ending: str, stem: str = "") -> str:
        """The path of one of its files."""
        return "/".join(filter(None, [kind, self.folder, f"{stem or self.name}.{ending}"]))


def _of_plan(plan: Plan, place: _Place, spec: Spec, dialects: Sequence[str] | None, mappings: Mappings) -> DbtModel:
    if plan.outcome is None:
        raise SpecError(
            f"{spec.strategy} lists the tuples of its classes, which a seed of a dbt project should not contain; "
            "name a search strategy, or release by a Python model"
        )
    assert isinstance(plan.recoding, FullDomain)
    engine = plan.recoding.engine
    dialects = dialects or [engine.dialect]
    most = {"seed": None, "inline": inf, "table": 0}[mappings]
    statements = [plan.recoding.standalone(_READ, dialect, lasting=True, most_listed=most) for dialect in dialects]
    for statement in statements:
        queries.check_size(statement.query, statement.dialect, ())
    created = {}
    if mappings == "table":
        created = mapping_tables.created(plan.problem.source, place.name, statements)
        statements = [replace(statement, has_values=False) for statement in statements]  # the tables have them
    warn_of(plan, *statements)
    files = _files(place, plan, statements, created)
    node = dict(zip(plan.problem.columns, plan.outcome.node, strict=True))
    kept = plan.kept is not None and plan.kept.kept and not spec.reuses_earlier
    return DbtModel(place.name, place.reads, files, node, kept, tuple(map(written, created.values())))


def _place(source: Source | None, spec: Spec, ref: str | None) -> _Place:
    """Where the new model is, and what it reads; `source`: None if it was counted elsewhere."""
    if ref:
        reads = _checked("ref", ref)
    elif source is None or source.files or spec.source == IN_MEMORY:
        raise SpecError("the SQL has to read a dbt model; name it with `ref`")
    else:
        reads = _checked("ref", source.table.relation.name)
    target = (spec.target.table if spec.target else None) or f"{reads}_anon"
    folder, _, table = target.rpartition("/")
    name = _checked("into", table.rpartition(".")[2])
    if folder and not all(re.fullmatch(r"[\w-]+", part, re.ASCII) for part in folder.split("/")):
        raise SpecError(f"{folder!r} is not a folder of models; name one such as marts/x with `into`")
    if name == reads:
        raise SpecError(
            f"the model {name} cannot read itself; choose another name with `into`, or what it reads with `ref`"
        )
    return _Place(name, folder, reads)


def _checked(option: str, name: str) -> str:
    """A valid name for dbt; a ref can have a package before a dot. SpecError for any other."""
    if not re.fullmatch(r"\w+(\.\w+)?" if option == "ref" else r"\w+", name, re.ASCII):
        raise SpecError(
            f"{name!r} cannot be the name of a dbt model; choose one of letters, digits and _ with `{option}`"
        )
    return name


def _ref(name: str) -> str:
    return f"ref({', '.join(repr(part) for part in name.split('.'))})"


def _files(
    place: _Place, plan: Plan, statements: Sequence[PrintedStatement], created: Mapping[str, Relation]
) -> dict[str, str]:
    """The model, its properties, and its seeds; `created`: mapping tables in the database, by their names in SQL."""
    seeds = {
        _seed_name(place.name, table): Seed(table)
        for statement in statements
        for table in statement.tables
        if table.name not in created
    }
    kept = {seed_name: seed for seed_name, seed in seeds.items() if seed.text}
    texts = {statement.dialect: _with_refs(place, statement, created) for statement in statements}
    assert isinstance(plan.recoding, FullDomain)
    engine = plan.recoding.engine.dialect
    types = {
        dialect: {name: kind and queries.type_in(kind, engine, dialect) for name, kind in plan.recoding.types.items()}
        for dialect in texts
    }
    unlimited = {_READ.name: f"{{{{ {_ref(place.reads)}.render() }}}}"}  # a ref with --empty brings its own alias
    empty = {
        dialect: queries.with_references(queries.no_rows(kinds, dialect, _READ), dialect, unlimited)
        for dialect, kinds in types.items()
    }
    properties: dict[str, Any] = {"version": 2, "models": [_model_properties(place, plan, types)]}
    if kept:
        properties["seeds"] = [_seed_properties(seed_name, seed, list(texts)) for seed_name, seed in kept.items()]
    if created:
        properties["sources"] = [_source_properties(place.name, created)]
    return {
        place.file("models", "sql"): _model_text(texts, empty),
        **{place.file("seeds", "csv", seed_name): seed.text or "" for seed_name, seed in kept.items()},
        place.file("models", "yml"): as_yaml(_with_texts(properties, _escaped)),
    }


def _seed_name(model: str, table: WrittenTable) -> str:
    return f"{model}__{table.name.removeprefix('kanon_')}"


def _with_refs(place: _Place, statement: PrintedStatement, created: Mapping[str, Relation]) -> str:
    """A statement with refs to the model that it reads, and to the seeds or tables with its long mappings."""
    references = {_READ.name: f"{{{{ {_ref(place.reads)} }}}}"}
    for table in statement.tables:
        if table.name in created:
            named = f"'{place.name}_mappings', '{created[table.name].name}'"
            references[table.name] = f"{{{{ source({named}) }}}}"
            continue
        reference = f"{{{{ {_ref(_seed_name(place.name, table))} }}}}"
        references[table.name] = Seed(table).read_as(reference, statement.dialect)
    return queries.with_references(statement.query, statement.dialect, references)


def _source_properties(model: str, created: Mapping[str, Relation]) -> dict[str, Any]:
    """The mapping tables in the database; another schema in another environment is a variable of the project."""
    (schema,) = {relation.parts[-2] for relation in created.values()}
    return {
        "name": f"{model}_mappings",
        "description": "The labels of the values of columns, read by the compiled release; private.",
        "schema": _Jinja(f"{{{{ var('kanon_mappings_schema', {schema!r}) }}}}"),
        "tables": [{"name": relation.name} for relation in created.values()],
    }


def _model_text(texts: Mapping[str, str], empty: Mapping[str, str]) -> str:
    """The text of the model: a comment, and its query. With --empty, the query has only the columns: `empty`."""
    dialects = ", ".join(f"'{dialect}'" for dialect in texts)
    as_tuple = f"{dialects}," if len(texts) == 1 else dialects
    return (
        "{#- Generated by `kanon compile --dbt`: compile it again instead of editing it. It counts the classes of the\n"
        "    rows that it returns, and suppresses classes that do not meet the privacy models. It fails if they have\n"
        "    more rows than the suppression limit allows. -#}\n"
        "{{ config(materialized='table') }}\n"
        f"{{%- if execute and target.type not in ({as_tuple}) %}}\n"
        "  {{ exceptions.raise_compiler_error(model.name ~ ' is compiled for "
        f"{' and '.join(texts)}: compile it again with --dialect ' ~ target.type) }}}}\n"
        "{%- endif %}\n"
        f"{{%- if execute and flags.EMPTY %}}\n{_by_dialect(empty)}\n"
        f"{{%- else %}}\n{_by_dialect(texts)}\n{{%- endif %}}\n"
    )


def _by_dialect(texts: Mapping[str, str]) -> str:
    """One query for all dialects if they agree, or else one for every dialect."""
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    branches = (f"if target.type == '{dialect}' %}}\n{text}\n{{%- " for dialect, text in texts.items())
    return f"{{%- {'el'.join(branches)}endif %}}"


def _model_properties(place: _Place, plan: Plan, types: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    spec, quasi = plan.problem.spec, list(plan.recoding.quasi_identifiers)
    sensitive = [column for column in spec.sensitive if column in plan.recoding.columns]
    roles = {**dict.fromkeys(quasi, "quasi-identifier"), **dict.fromkeys(sensitive, "sensitive")}
    model = plan.recoding.judge.model
    counted = f", counted by {model.unit}" if model.unit else ""
    columns = []
    for column in plan.recoding.columns:
        by_dialect = {dialect: kinds[column] for dialect, kinds in types.items()}
        # The type of a column that was not counted is unknown.
        declared = {"data_type": _of_target(by_dialect)} if all(by_dialect.values()) else {}
        columns.append({"name": column, "quote": True, **declared, "description": roles.get(column, "unchanged")})
    return {
        "name": place.name,
        "description": f"A release of {place.reads} by kanon_sql: {model.name} of every class{counted}.",
        "config": {"meta": {"kanon": _recorded(plan)}},
        "columns": columns,
        "data_tests": list(_tests(place.reads, plan, quasi, sensitive)),
    }


def _recorded(plan: Plan) -> dict[str, Any]:
    """The part of the manifest by which the node can be kept when the model is compiled again. It has no values."""
    problem = plan.problem
    assert plan.outcome is not None
    sources = problem.hierarchy_sources
    rows = {name: hierarchy.rows for name, hierarchy in sources.items() if hierarchy.rows is not None}
    return {
        "node": dict(zip(problem.columns, plan.outcome.node, strict=True)),
        "heights": dict(zip(problem.columns, problem.frequency_set.heights, strict=True)),
        "roles": {"quasi_identifiers": list(problem.columns)},
        "hierarchies": {name: hierarchy.sha256 for name, hierarchy in sources.items()},
        **({"hierarchy_rows": rows} if rows else {}),
    }


def _of_target(by_dialect: Mapping[str, str]) -> str:
    """A type, by the dialect of dbt's target if they differ."""
    if len(set(by_dialect.values())) == 1:
        return next(iter(by_dialect.values()))
    return _Jinja(f"{{{{ {json.dumps(by_dialect)}.get(target.type) }}}}")


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
        types[column] = _of_target({dialect: types_of[dialect][column] for dialect in dialects})
    return {
        "name": name,
        "description": "The labels of the values of a column, read by the compiled release.",
        "config": {"column_types": types, "quote_columns": True},
    }


class _Jinja(str):
    """A text that dbt must evaluate as Jinja."""


def _escaped(text: str) -> str:
    """A text for dbt's YAML, escaped for Jinja unless it is `_Jinja`."""
    return str(text) if isinstance(text, _Jinja) else queries.escaped(text)
