"""The demo: made-up people, anonymized with the hierarchies that travel with the package."""

from __future__ import annotations

from pathlib import Path

from kanon_sql.cli import show
from kanon_sql.demo_data import write_parquet
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.resources import folder
from kanon_sql.verbs.anonymize import anonymize
from kanon_sql.verbs.released import Release

QUASI_IDENTIFIERS = (
    "age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country",
)  # fmt: skip
SPEC = """\
# The demo's run as a spec: kanon anonymize --spec release.yml
source: people.parquet
identifiers: [person_id]
quasi_identifiers: [{quasi_identifiers}]
hierarchies: hierarchies
sensitive: [salary-class]
privacy: {{k: {k}}}
suppression_limit: 0.02
metric: loss
strategy: auto
seed: {seed}
target: {{file: people_k{k}.parquet, overwrite: true}}
"""


def run(directory: Path, rows: int, k: int, seed: int) -> Release:
    """Make the people, write the spec and the hierarchies beside them, and run the spec."""
    if k > rows:
        raise SpecError(f"k is {k:,} but there are only {rows:,} people; lower --k, or raise --rows")
    try:
        (directory / "hierarchies").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TargetError(f"{directory} cannot be the demo's folder ({error.strerror}); give another") from error
    for name in (*QUASI_IDENTIFIERS, "salary-class"):
        content = (folder("hierarchies") / "adult" / f"{name}.csv").read_bytes()
        (directory / "hierarchies" / f"{name}.csv").write_bytes(content)
    spec = directory / "release.yml"
    spec.write_text(SPEC.format(quasi_identifiers=", ".join(QUASI_IDENTIFIERS), k=k, seed=seed), encoding="utf-8")
    with show.watching() as watch:
        watch.stage(f"Making up {rows:,} people")
        write_parquet(directory / "people.parquet", rows, seed)
        return anonymize(None, spec, watch=watch)
