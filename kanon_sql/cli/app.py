"""The commands of `kanon`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from kanon_sql import queries
from kanon_sql.cli import SHOW_VALUES
from kanon_sql.cli import options as o
from kanon_sql.cli import show as shown
from kanon_sql.cli.hierarchies import hierarchy_app
from kanon_sql.engine import Table
from kanon_sql.engines.duckdb import files
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.recode.show import shown_names
from kanon_sql.release import anatomy, findings, recoded
from kanon_sql.release import publish as release
from kanon_sql.resources import package_version
from kanon_sql.spec import Spec
from kanon_sql.staging import Staging
from kanon_sql.strategies import STRATEGIES
from kanon_sql.verbs.anonymize import anonymize as run
from kanon_sql.verbs.plan import Plan, make_plan, plan_release
from kanon_sql.verbs.problem import check_roles, model_of
from kanon_sql.verbs.source import Source, opened, opened_source, settle_spec

app = typer.Typer(
    name="kanon",
    help="Anonymize a table where it lives: k-anonymous releases, searched, written and verified in SQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.add_typer(hierarchy_app, name="hierarchy")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kanon_sql {package_version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    _show_values: Annotated[
        bool,
        typer.Option(
            SHOW_VALUES,
            help="Let errors show values of the data in a log or a pipe too, as they do on a terminal; anywhere on the "
            "line.",
        ),
    ] = False,
) -> None:
    """Options before any command."""


@app.command()
def anonymize(
    source: o.Source = None,
    database: o.Database = None,
    spec: o.SpecFile = None,
    quasi_identifiers: o.QuasiIdentifiers = None,
    hierarchies: o.Hierarchies = None,
    identifiers: o.Identifiers = None,
    sensitive: o.Sensitive = None,
    keep: o.Keep = None,
    location: o.Location = None,
    time: o.Time = None,
    unit: o.Unit = None,
    cloak: o.Cloak = None,
    unmapped: o.UnmappedValues = None,
    k: o.K = None,
    suppression_limit: o.SuppressionLimit = None,
    mask: o.Mask = False,
    shuffle: o.Shuffle = False,
    perturb: o.Perturb = None,
    secret: o.Secret = None,
    metric: o.Metric = None,
    strategy: o.AnyStrategy = None,
    time_limit: o.TimeLimit = None,
    evaluations: o.Evaluations = None,
    seed: o.Seed = None,
    show: o.ShowAs = None,
    beta: o.Beta = None,
    priorities: o.Priorities = None,
    rules: o.Rules = None,
    suppression_order: o.Order = None,
    wildcard_suppression: o.Wildcards = False,
    search_in: o.SearchWhere = o.SearchIn.embedded,
    output: o.Output = None,
    into: o.Into = None,
    as_: o.As = None,
    overwrite: o.Overwrite = False,
    trace: Annotated[
        Path | None,
        typer.Option(help="Write every question of the search, as lines of JSON.", rich_help_panel="Output"),
    ] = None,
    as_json: o.Json = False,
    sql: Annotated[
        bool,
        typer.Option(
            "--sql", help="Search, then print the release's statement and run it not.", rich_help_panel="Output"
        ),
    ] = False,
) -> None:
    """Make a k-anonymous release of a table or file, and verify what was written.

    [bold]kanon anonymize adult.csv --quasi-identifiers age,sex --hierarchies hierarchies/adult --output k5.csv[/bold]
    """
    flags = o.said(
        database=database,
        quasi_identifiers=quasi_identifiers,
        hierarchies=hierarchies,
        identifiers=identifiers,
        sensitive=sensitive,
        keep=keep,
        location=location,
        time=time,
        unit=unit,
        cloak=cloak,
        unmapped=unmapped,
        k=k,
        suppression_limit=suppression_limit,
        mask=o.yes(mask),
        shuffle=o.yes(shuffle),
        perturb=perturb,
        secret=secret,
        metric=metric,
        strategy=strategy,
        time_limit=time_limit,
        evaluations=evaluations,
        seed=seed,
        show=show,
        beta=beta,
        priorities=o.priorities(priorities),
        rules=rules,
        suppression_order=suppression_order,
        wildcard_suppression=o.yes(wildcard_suppression),
        output=output,
        into=into,
        form=as_,
        overwrite=o.yes(overwrite),
    )
    settled = settle_spec(source, spec, flags)
    if sql:
        if settled.mask:
            raise SpecError("one statement drops rows instead of masking them; leave out --mask or --sql")
        if settled.wildcard_suppression:
            raise SpecError("one statement counts equal rows; leave out --wildcard-suppression or --sql")
        if settled.perturb:
            raise SpecError(
                "a perturbed release takes more than one statement, and a secret; leave out perturb or --sql"
            )
        if settled.target and settled.target.form == "anatomy":
            raise SpecError("an anatomy takes more than one statement; give --as table or leave out --sql")
        asked = _overwriting(settled)
        with opened(source, asked) as found, found.engine.transaction():
            with shown.watching() as watch:
                plan = plan_release(found, asked, watch, search_in.value)
            statement = recoded.target_sql(plan.recoding, settled.target, settled.source if plan.source.files else None)
            print(f"{queries.pretty(statement, plan.source.engine.dialect)};")
        return
    if settled.target is None:
        raise SpecError("there is no target; give --output FILE.parquet, or --into TABLE, or --sql to only see it")
    if trace and settled.location:
        raise SpecError("cloaking asks nothing of a lattice, so that there is no trace; leave out --trace")
    if trace and settled.strategy not in STRATEGIES:
        raise SpecError(f"{settled.strategy} asks no nodes that a trace could list; leave out --trace")
    if trace:
        release.check_file(trace, settled.target.overwrite, files(settled.source))
        if settled.target.file and trace.absolute() == Path(settled.target.file).absolute():
            raise SpecError(f"{trace} is to be both the release and the trace; name two files")
    with shown.watching() as watch:
        made = run(source, settled, watch=watch, search_in=search_in.value, trace=trace)
    if as_json:
        print(json.dumps(made.manifest, indent=2))
        shown.warn(made.manifest["warnings"])
    elif settled.location:
        shown.cloaked(made.manifest)
    else:
        shown.release(made.manifest)


@app.command()
def anatomize(
    l: Annotated[int, typer.Option("--l", min=2, help="Different sensitive values in a group at least.")],  # noqa: E741
    source: o.Source = None,
    database: o.Database = None,
    spec: o.SpecFile = None,
    quasi_identifiers: o.QuasiIdentifiers = None,
    identifiers: o.Identifiers = None,
    sensitive: o.Sensitive = None,
    keep: o.Keep = None,
    secret: o.Secret = None,
    output: o.Output = None,
    into: o.Into = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
) -> None:
    """Release exact rows, and apart from them the sensitive values of groups of rows. NOT k-anonymous.

    Hides which of l values belongs to a row (Anatomy, Xiao and Tao 2006); anonymize --as anatomy hides the row too.
    """
    from kanon_sql.verbs.anatomize import anatomize as anatomized

    flags = o.said(
        database=database,
        quasi_identifiers=quasi_identifiers,
        identifiers=identifiers,
        sensitive=sensitive,
        keep=keep,
        secret=secret,
        output=output,
        into=into,
        overwrite=o.yes(overwrite),
    )
    made = anatomized(source, spec, l=l, **flags)
    if as_json:
        print(json.dumps(made.manifest, indent=2))
        shown.warn(made.manifest["warnings"])
    else:
        shown.anatomy(made.manifest)


@app.command()
def explain(
    source: o.Source = None,
    database: o.Database = None,
    spec: o.SpecFile = None,
    quasi_identifiers: o.QuasiIdentifiers = None,
    hierarchies: o.Hierarchies = None,
    identifiers: o.Identifiers = None,
    sensitive: o.Sensitive = None,
    keep: o.Keep = None,
    unmapped: o.UnmappedValues = None,
    k: o.K = None,
    suppression_limit: o.SuppressionLimit = None,
    metric: o.Metric = None,
    beta: o.Beta = None,
    priorities: o.Priorities = None,
    strategy: o.Strategy = None,
    time_limit: o.TimeLimit = None,
    search_in: o.SearchWhere = o.SearchIn.embedded,
    as_json: o.Json = False,
) -> None:
    """Show the road in SQL: each statement with a sentence, its plan, and what it gave. Nothing is written."""
    from kanon_sql.verbs import explain as explained

    flags = o.said(
        database=database,
        quasi_identifiers=quasi_identifiers,
        hierarchies=hierarchies,
        identifiers=identifiers,
        sensitive=sensitive,
        keep=keep,
        unmapped=unmapped,
        k=k,
        suppression_limit=suppression_limit,
        metric=metric,
        beta=beta,
        priorities=o.priorities(priorities),
        strategy=strategy,
        time_limit=time_limit,
    )
    settled = settle_spec(source, spec, flags).model_copy(update={"target": None})
    with opened(source, settled) as found, found.engine.transaction():
        with shown.watching() as watch:
            plan = plan_release(found, settled, watch, search_in.value, keep_tuples=True)
        steps = list(explained.steps(plan))
    if as_json:
        print(json.dumps([asdict(step) for step in steps], indent=2))
    else:
        shown.steps(steps)


@app.command()
def compare(
    source: o.Source = None,
    database: o.Database = None,
    spec: o.SpecFile = None,
    quasi_identifiers: o.QuasiIdentifiers = None,
    hierarchies: o.Hierarchies = None,
    identifiers: o.Identifiers = None,
    sensitive: o.Sensitive = None,
    unmapped: o.UnmappedValues = None,
    k: o.K = None,
    suppression_limit: o.SuppressionLimit = None,
    metric: o.Metric = None,
    beta: o.Beta = None,
    priorities: o.Priorities = None,
    strategies: o.Strategies = None,
    time_limit: o.EachTimeLimit = None,
    evaluations: o.Evaluations = None,
    seed: o.Seed = None,
    search_in: o.SearchWhere = o.SearchIn.embedded,
    as_json: o.Json = False,
) -> None:
    """Run several search strategies on one table: what each finds, proves and asks for. Nothing is written."""
    from kanon_sql.verbs.compare import compare as compared

    flags = o.said(
        database=database,
        quasi_identifiers=quasi_identifiers,
        hierarchies=hierarchies,
        identifiers=identifiers,
        sensitive=sensitive,
        unmapped=unmapped,
        k=k,
        suppression_limit=suppression_limit,
        metric=metric,
        beta=beta,
        priorities=o.priorities(priorities),
        time_limit=time_limit,
        evaluations=evaluations,
        seed=seed,
    )
    with shown.watching("Ctrl-C goes on to the next") as watch:
        found = compared(source, spec, strategies=o.names(strategies), watch=watch, search_in=search_in.value, **flags)
    if as_json:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        shown.comparison(found)


@app.command()
def lattice(
    source: o.Source = None,
    database: o.Database = None,
    spec: o.SpecFile = None,
    quasi_identifiers: o.QuasiIdentifiers = None,
    hierarchies: o.Hierarchies = None,
    identifiers: o.Identifiers = None,
    sensitive: o.Sensitive = None,
    unmapped: o.UnmappedValues = None,
    k: o.K = None,
    suppression_limit: o.SuppressionLimit = None,
    metric: o.Metric = None,
    beta: o.Beta = None,
    priorities: o.Priorities = None,
    strategy: o.Strategy = None,
    time_limit: o.TimeLimit = None,
    evaluations: o.Evaluations = None,
    seed: o.Seed = None,
    search_in: o.SearchWhere = o.SearchIn.embedded,
    output: o.Picture = Path("lattice.svg"),
    overwrite: o.Overwrite = False,
) -> None:
    """Search, and draw the lattice as SVG: which nodes are anonymous, which were checked, which is the best."""
    from kanon_sql.report.lattice import lattice_svg, summary
    from kanon_sql.verbs.lattice import searched

    flags = o.said(
        database=database,
        quasi_identifiers=quasi_identifiers,
        hierarchies=hierarchies,
        identifiers=identifiers,
        sensitive=sensitive,
        unmapped=unmapped,
        k=k,
        suppression_limit=suppression_limit,
        metric=metric,
        beta=beta,
        priorities=o.priorities(priorities),
        strategy=strategy,
        time_limit=time_limit,
        evaluations=evaluations,
        seed=seed,
    )
    settled = settle_spec(source, spec, flags).model_copy(update={"target": None})
    if output.suffix.lower() != ".svg":
        raise SpecError(f"a lattice is drawn as SVG, and {output} does not end in .svg; name such a file")
    release.check_file(output, overwrite, files(settled.source))
    with _planned(source, settled, search_in.value) as plan:
        drawn = searched(plan)
    with Staging() as staging:
        with staging.file(output, overwrite) as path:
            path.write_text(lattice_svg(drawn), encoding="utf-8")
        staging.place()
    shown.picture(output, summary(drawn))


def _overwriting(spec: Spec) -> Spec:
    """Where nothing is written, a target that exists is in nobody's way."""
    target = spec.target.model_copy(update={"overwrite": True}) if spec.target else None
    return spec.model_copy(update={"target": target})


@contextmanager
def _planned(source: str | None, spec: Spec, search_in: str) -> Iterator[Plan]:
    """A finished search, inside the transaction that it was made in."""
    with opened(source, spec) as found, found.engine.transaction():
        with shown.watching() as watch:
            plan = make_plan(found, spec, watch, search_in)
        yield plan


@app.command()
def verify(
    source: o.Source = None,
    database: o.Database = None,
    spec: o.SpecFile = None,
    quasi_identifiers: o.QuasiIdentifiers = None,
    k: o.K = None,
    as_json: o.Json = False,
) -> None:
    """Check any table or file: exit code 0 if every class has k rows or more, 1 if not.

    With --spec and no source it checks the spec's target. Prints how many classes of which size do not; never whose.
    """
    flags = o.said(database=database, quasi_identifiers=quasi_identifiers, k=k)
    if spec and source is None:
        settled = _of_target(settle_spec(_NOT_READ, spec, flags))
    else:
        settled = settle_spec(source, spec, flags)
    # The spec of a release will do: that its identifiers are gone is as it should be.
    unasked = {"target": None, "identifiers": (), "sensitive": (), "keep": None}
    settled = settled.model_copy(update=unasked)
    problem = anatomy.file_problem(Path(settled.source))
    if problem:
        checked = {"source": settled.source, "holds": False, "problem": problem}
    else:
        with opened(source, settled) as found:
            checked = _checked(found, settled)
    if as_json:
        print(json.dumps(checked, indent=2))
    else:
        shown.verification(checked)
    if not checked["holds"]:
        raise typer.Exit(1)


_NOT_READ = "not read"  # a source, where the target is verified: the spec need not name one


def _of_target(spec: Spec) -> Spec:
    """The spec of a release with what it wrote in the source's place."""
    if spec.target is None:
        raise SpecError("the spec names no target that could be verified; add one, or name the table or file to check")
    if spec.location:
        raise SpecError("the units that share a cloaked place are not in the release; name a table or file to verify")
    database = None if spec.target.file else spec.database
    return spec.model_copy(update={"source": spec.target.file or spec.target.table, "database": database})


def _shown_columns(spec: Spec, table: Table) -> list[str]:
    """The columns that make the classes of a release: two of them where a quasi-identifier is shown by its bounds."""
    names: list[str] = []
    for name, attribute in spec.quasi_identifiers.items():
        shown = shown_names(name, attribute.show or spec.show or "labels")
        names += shown if all(map(table.column, shown)) else (name,)
    return names


def _checked(found: Source, spec: Spec) -> dict[str, Any]:
    names = _shown_columns(spec, found.table)
    check_roles(spec.model_copy(update={"quasi_identifiers": dict.fromkeys(names)}), found.table)
    model = model_of(spec)
    summary = findings.summarize(found.engine, found.table.relation, names, model)
    if summary.rows == 0:
        raise SourceError(f"{spec.source} has no rows; there is nothing to verify")
    sizes = findings.class_sizes(found.engine, found.table.relation, names)
    return {
        "source": spec.source,
        "quasi_identifiers": names,
        "model": model.name,
        "required": model.k,
        "holds": summary.holds,
        **asdict(summary),
        "offending_sizes": [{"size": size, "classes": n} for size, n in sizes if size < model.k],
    }


@app.command()
def refresh(
    name: Annotated[str, typer.Argument(help="What anonymize --as materialized made.")],
    database: o.Database = None,
    as_json: o.Json = False,
) -> None:
    """Fill a materialized release anew from its source, and verify it; if it does not hold, the old one stays."""
    from kanon_sql.verbs.refresh import refresh as refreshed

    made = refreshed(name, database=database)
    if as_json:
        print(json.dumps(made, indent=2))
    else:
        shown.refreshed(made)


@app.command()
def profile(
    source: o.NeededSource,
    database: o.Database = None,
    largest_set: Annotated[int, typer.Option(min=1, max=4, help="Columns in a set at most.")] = 3,
    time_limit: Annotated[float, typer.Option(help="Seconds; then what is known is shown.")] = 30.0,
    as_json: o.Json = False,
) -> None:
    """Look at a table before anonymizing it: types, distinct counts, how unique columns and sets of them are."""
    from kanon_sql.verbs.profile import profiled

    with opened_source(source, database) as found, shown.watching() as watch:
        watch.stage("Counting")
        seen = profiled(found.engine, found.table, largest_set, time_limit)
    if as_json:
        print(json.dumps(seen.to_dict(), indent=2))
    else:
        shown.profile(seen, source, database)


@app.command()
def demo(
    directory: Annotated[Path, typer.Option(help="Where the demo's files go.")] = Path("kanon-demo"),
    rows: Annotated[int, typer.Option(min=100, help="People to make up.")] = 30_162,
    k: Annotated[int, typer.Option("--k", min=1, help="Rows a class must have at least.")] = 5,
    seed: Annotated[int, typer.Option(help="Another seed, other people.")] = 0,
    as_json: o.Json = False,
) -> None:
    """Make up a census-shaped table, anonymize it, and show before and after. Nothing is downloaded."""
    from kanon_sql.cli.demo import run

    made = run(directory, rows, k, seed)
    if as_json:
        print(json.dumps(made.manifest, indent=2))
    else:
        shown.demo(made, directory)
