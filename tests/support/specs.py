"""Specs used by several test files."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from kanon_sql.errors import SpecError
from kanon_sql.spec import (
    AttributeSpec,
    DatesRecipe,
    FileRecipe,
    RangesRecipe,
    RedactRecipe,
    Spec,
    SuppressRecipe,
    TableRecipe,
    TaxonomyRecipe,
    loaded,
    parse,
)

FULL = """
source: patients
database: hospital.duckdb
identifiers: [name, ssn]
quasi_identifiers:
  age:      {hierarchy: hierarchies/age.csv}
  zip:      {hierarchy: {redact: right}, max_level: 4}
  income:   {hierarchy: {ranges: [5000, 10000, 50000], top: 200000, bottom: 0, origin: 0}}
  admitted: {hierarchy: {dates: [month, quarter, year]}}
  city:     {hierarchy: {taxonomy: places.csv}}
  sex:      {hierarchy: suppress}
  job:      {hierarchy: {file: jobs.csv, separator: ",", header: true}}
  diag:     {hierarchy: {table: icd_hierarchy}}
  code:     {hierarchy: {redact: left, step: 2}, min_level: 1}
  region:
hierarchies: hierarchies/adult
sensitive: [disease]
privacy: {k: 7}
suppression_limit: 0.05
metric: precision
strategy: flash
time_limit: 60
seed: 3
unmapped: top
mask: true
shuffle: true
perturb:
  salary: {noise: {scale: 100, distribution: laplace, bottom: 0, top: 9000}}
  visits: {swap: {within: 0.05}}
  town:   {pram: {keep: 0.8}}
  job2:   {pram: {matrix: jobs_matrix.csv}}
secret: secret.txt
target: {table: patients_anon, as: view, overwrite: true}
"""
ATTRIBUTES = {
    "age": AttributeSpec(hierarchy=FileRecipe(file="hierarchies/age.csv")),
    "zip": AttributeSpec(hierarchy=RedactRecipe(redact="right", step=1), max_level=4),
    "income": AttributeSpec(
        hierarchy=RangesRecipe(
            ranges=(Decimal(5000), Decimal(10000), Decimal(50000)),
            top=Decimal(200000),
            bottom=Decimal(0),
            origin=Decimal(0),
        )
    ),
    "admitted": AttributeSpec(hierarchy=DatesRecipe(dates=("month", "quarter", "year"))),
    "city": AttributeSpec(hierarchy=TaxonomyRecipe(taxonomy="places.csv", separator=None, header=False)),
    "sex": AttributeSpec(hierarchy=SuppressRecipe()),
    "job": AttributeSpec(hierarchy=FileRecipe(file="jobs.csv", separator=",", header=True)),
    "diag": AttributeSpec(hierarchy=TableRecipe(table="icd_hierarchy")),
    "code": AttributeSpec(hierarchy=RedactRecipe(redact="left", step=2), min_level=1),
    "region": AttributeSpec(hierarchy=None, min_level=0, max_level=None),
}
QI_TEXT = "one or more column names, each alone or with {hierarchy: …}"


def full() -> Spec:
    return parse(yaml.safe_load(FULL))


SMALL = {"source": "t", "quasi_identifiers": ["age"]}


def small(**keys: Any) -> Spec:
    return parse({**SMALL, **keys})


def error(text: str) -> str:
    """Say what is wrong with a small spec to which the YAML `text` is added."""
    with pytest.raises(SpecError) as caught:
        parse({**SMALL, **yaml.safe_load(text)})
    return str(caught.value)


def write(folder: Path, text: str) -> Path:
    path = folder / "spec.yaml"
    path.write_text(text)
    return path


def load(path: str | Path, **overrides: Any) -> Spec:
    """Read a spec file."""
    return loaded(path, Spec, overrides)
