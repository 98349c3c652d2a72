"""What each key of a spec means, in a sentence: for editors, and for the reference. What it takes is with the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from kanon_sql.spec.choices import LocalStrategy, SearchStrategy

_DECIMAL = "The decimal mark of the numbers. Recognized if it is not given."
_DATES = "How dates and times are written. Recognized if it is not given."
_NULL = "Texts that mean that there is no value."
_TOP = "Numbers from here upwards get one label."
_BOTTOM = "Numbers below get one label."
_SEPARATOR = "What stands between the fields of a line. Taken from the first line if it is not given."
_HEADER = "Whether the first line names the columns."
_POPULATION = "The table that the source is a sample of, with the quasi-identifiers."
_BUDGET = {"evaluations": "How many nodes this search may look at."}

MEANINGS: Mapping[str, Mapping[str, str]] = {
    "Spec": {
        "encoding": "The encoding of a CSV source. Recognized if it is not given.",
        "decimal": _DECIMAL,
        "date_format": _DATES,
        "null": _NULL,
        "sheet": "The sheet of an Excel source. The first that is not hidden if it is not given.",
        "columns": "How single columns of a file are read.",
        "database": "The database that has the source, and gets the release.",
        "attach": "DuckDB files that are attached beside the database; their tables are NAME.main.TABLE.",
        "memory_limit": "How much memory each embedded DuckDB may take; more is spilled.",
        "threads": "How many threads each embedded DuckDB may take.",
        "temp_directory": "The folder to spill to.",
        "time_zone": "The time zone whose days and hours the labels of timestamps with a time zone show. That of the "
        "server if it is not given, and UTC in DuckDB.",
        "source": "What is released: a CSV, Parquet or Excel file, a glob of files, or a table or view of the "
        "database. A "
        "mapping of `file` and how the file is read works too.",
        "identifiers": "Columns that name a person by themselves; they are dropped.",
        "location": "The two columns of a place, for cloaking.",
        "time": "The column of times, for cloaking.",
        "unit": "The column that tells people or devices apart: these are counted, not rows. It is dropped.",
        "cloak": "How places and times are cloaked.",
        "quasi_identifiers": "Columns that together can lead to a person, each with how it may be generalized.",
        "hierarchies": "The folder with the hierarchy files of the quasi-identifiers that have no hierarchy of their "
        "own.",
        "sensitive": "Columns that nobody should be able to link to a person; they are released as they are.",
        "keep": "Columns to release as they are. All others without a role are dropped; '*' keeps every column, and "
        "warns of what was found in them.",
        "privacy": "The privacy models that every released class must meet, all of them together.",
        "suppression_limit": "The largest fraction or number of rows that may be left out of the release, or masked. "
        "Rows count, not people, with `unit` too.",
        "metric": "The measure of information loss that the search makes as small as it can.",
        "strategy": "How a recoding is found. A search of the lattice: "
        f"{', '.join(get_args(SearchStrategy))}. A local recoding: "
        f"{', '.join(get_args(LocalStrategy))}.",
        "time_limit": "Seconds for the search, which then ends with the best node so far. No limit if it is not given.",
        "evaluations": "How many nodes memetic, local_search, kgen and random may look at; 5000 if it is not given.",
        "seed": "The seed of all random choices of a search.",
        "show": "What a class of a local recoding shows in its columns.",
        "beta": "How much more steps near the root of a hierarchy weigh, for the metric distortion.",
        "prioprivacy": "Options of the strategy prioprivacy.",
        "kgen": "Options of the strategy kgen.",
        "memetic": "Options of the strategy memetic.",
        "local_search": "Options of the strategy local_search.",
        "random": "Options of the strategy random.",
        "node": "The node to release at, without a search. In the spec of a pipeline also one of the words keep, "
        "search and "
        "keep_else_search, for what is held of the release before.",
        "node_from": "The manifest of an earlier release, whose node or regions are released again.",
        "node_else": "What to do where an earlier node no longer meets the models: stop, or search again.",
        "regions": "The regions of an earlier local recoding, where its manifest does not name them.",
        "write_regions": "Where the regions of a local recoding are written, for the next release. Keep the file like "
        "the "
        "source.",
        "unmapped": "What to do with values that their hierarchy lacks: stop, or generalize them to *.",
        "new_columns": "What to do with columns that the earlier release did not know: stop, or drop them.",
        "changed_types": "What to do where a column has another type than before: stop, or accept it.",
        "changed_hierarchies": "What to do where a hierarchy has changed other than by new rows: stop, or search "
        "again.",
        "incremental": "Whether rows that no class holds yet wait, instead of being suppressed.",
        "waiting": "The table for the rows that wait, beside the source. Nobody else may read it.",
        "mask": "Whether suppressed rows are shown as *, if there are at least k of them, instead of left out.",
        "shuffle": "Whether rows are ordered by a seeded hash instead of sorted.",
        "perturb": "Columns whose values are changed at random.",
        "secret": "The secret that makes a perturbation, or redrawn values, reproducible.",
        "target": "Where the release is written.",
        "differencing_limit": "The most people that a release and the one it replaces may single out together; above "
        "it the "
        "old one stays. In a pipeline 0 if it is not given.",
        "rules": "The same as `prioprivacy.rules`.",
        "suppression_order": "The same as `prioprivacy.suppression_order`.",
        "wildcard_suppression": "The same as `prioprivacy.wildcard_suppression`.",
    },
    "Attribute": {
        "hierarchy": "What each value becomes, level by level. Without it `<column>.csv` of the folder `hierarchies`.",
        "min_level": "The lowest level that may be released; 1 never shows the value itself.",
        "max_level": "The highest level that may be released. The top of the hierarchy if it is not given.",
        "priority": "How much it matters that the column stays exact.",
        "weight": "How much the column counts in the metric. 1 if it is not given, or by the priorities.",
        "show": "What a class of a local recoding shows in this column.",
        "domain": "How many values prioprivacy takes the column to have.",
    },
    "ColumnForm": {
        "type": "The type of the column.",
        "decimal": _DECIMAL,
        "date_format": _DATES,
        "null": _NULL,
    },
    "Target": {
        "file": "The file to write, in the format that its ending names: .parquet, .csv or .tsv.",
        "table": "The table or view to write.",
        "as": "What to write: a table; a view, which counts again whenever it is read; a materialized view "
        "(PostgreSQL); or "
        "an anatomy, with the sensitive columns in a table of their own.",
        "overwrite": "Whether a release that exists is replaced, or a file.",
        "replace_foreign_table": "The name of the target table once more, to replace a table that is not a release of "
        "kanon_sql. Its rows are lost.",
        "formulas": "What to do with texts in a .csv or .tsv file that a spreadsheet would take for formulas: put ' "
        "before them, or keep them.",
    },
    "Perturbation": {
        "noise": "Add random numbers.",
        "swap": "Exchange values between rows of near rank.",
        "pram": "Change categories at random.",
    },
    "Noise": {
        "scale": "The standard deviation (normal), the mean distance (laplace), or the longest distance (uniform), in "
        "the "
        "column's own unit; days for dates.",
        "distribution": "How the numbers are distributed.",
        "bottom": "What noisy numbers below are brought back to.",
        "top": "What noisy numbers above are brought back to.",
    },
    "Swap": {"within": "How far apart the ranks of exchanged values may be."},
    "Pram": {
        "matrix": "The transition matrix: the value, then the probability of each value, all named in the first line.",
        "keep": "The probability that a value stays; else it is drawn anew.",
    },
    "Cloak": {
        "method": "How to cloak.",
        "shared": "Whether k units share exactly the same box and interval.",
        "depth": "How many times the area is divided into quadrants (adaptive, both).",
        "interval": "The length of a slice of time (adaptive). All of time if it is not given.",
        "level": "The quadrants that are the cells (temporal): 8 if neither this nor `cell` is given.",
        "cell": "The side of the squares that are the cells (temporal).",
        "dx": "How far a box may reach from its row along the first column (both, clique).",
        "dy": "The same along the second column. The same as `dx` if it is not given.",
        "dt": "How far an interval may reach from its row in time (both, clique).",
        "k": "The column with the k that each row asks for (clique).",
        "search": "Whether a row's clique is searched for its own k, or first for its neighbours' larger one (clique).",
        "unplaced": "What to do with rows without a place, a time or a unit: stop, or leave them out.",
    },
    "PrioPrivacy": {
        "rules": "The folder of the rule files.",
        "suppression_order": "The order in which cells are tried.",
        "wildcard_suppression": "Whether single cells may be suppressed, as published. Not k-anonymous to GROUP BY.",
    },
    "Budget": _BUDGET,
    "Privacy": {
        "k": "The least number of rows in a class, or of people with `unit`.",
        "unit": "The same as `unit` beside `privacy`.",
        "l_diversity": "How many well-represented values of a sensitive column every class has at least.",
        "t_closeness": "How far the values of a sensitive column in a class may be from those of the whole table.",
        "alpha_k": "The largest share of a class that may have the same sensitive value.",
        "beta_likeness": "How far a value's share of a class may exceed its share of the table, relative to that.",
        "delta_disclosure": "How far the logarithm of a value's share of a class over that of the table may be from 0.",
        "k_map": "How many rows of a population every class stands for at least.",
        "delta_presence": "Which share of the population's rows of a class may be released.",
        "risk": "The largest risk that somebody is found.",
        "uniqueness": "The largest share of a population that is unique, as estimated from the source.",
        "minimality": "Choose classes by the quasi-identifiers alone, and redraw the value that `alpha_k` names where "
        "there "
        "is too much of it.",
    },
    "LDiversity": {
        "l": "The least diversity.",
        "kind": "How values are counted: different ones, by their entropy, or without the most frequent ones.",
        "c": "How many times the rarer values the most frequent one may be (recursive).",
    },
    "TCloseness": {
        "t": "The largest distance.",
        "distance": "How the distance of two values is measured: all alike, by their order, or by a hierarchy.",
        "hierarchy": "The hierarchy of the column's values (hierarchical).",
    },
    "AlphaK": {"alpha": "The largest share.", "value": "The value that it is about. Every value if it is not given."},
    "BetaLikeness": {
        "beta": "The largest relative gain.",
        "kind": "The bound as it is, or bounded for frequent values too.",
    },
    "DeltaDisclosure": {"delta": "The largest distance from 0."},
    "KMap": {"k": "The least number of rows of the population.", "population": _POPULATION},
    "DeltaPresence": {"min": "The least share.", "max": "The largest share.", "population": _POPULATION},
    "Risk": {
        "model": "What the attacker knows: that somebody is in the release, or only in the population; or who looks "
        "for "
        "as many as can be found.",
        "highest": "The largest risk of any row.",
        "mean": "The largest mean of the rows' risks.",
        "above": "How many rows may have a risk above a threshold.",
        "population": _POPULATION,
    },
    "Above": {"threshold": "The risk.", "share": "The largest share of the rows that may have a higher one."},
    "Uniqueness": {
        "share": "The largest share of the population that is unique.",
        "sampling_fraction": "How much of the population the source is.",
        "estimator": "How uniqueness is estimated from the source.",
    },
    "FileRecipe": {
        "file": "A hierarchy file: a line per value, with the value and then its levels.",
        "separator": _SEPARATOR,
        "header": _HEADER,
    },
    "GroupsRecipe": {
        "groups": "Groups by hand: the members of each label, level by level, of the first level the values."
    },
    "TableRecipe": {"table": "A table or view of the database: the value, then its levels."},
    "RangesRecipe": {
        "ranges": "The widths of number ranges, one per level, the finest first.",
        "top": _TOP,
        "bottom": _BOTTOM,
        "origin": "Where the ranges start to count.",
    },
    "RedactRecipe": {
        "redact": "From which end characters are hidden.",
        "step": "How many characters more are hidden on each level.",
    },
    "DatesRecipe": {"dates": "Parts of dates, one per level, the finest first."},
    "AgeRecipe": {
        "age": "The date at which the age of who was born on a date is counted.",
        "bands": "The years of the bands of ages, one per level.",
        "top": "Ages from here upwards get one label.",
    },
    "EdgesRecipe": {"edges": "The edges of number ranges, a list per level, the finest first."},
    "PrefixRecipe": {
        "prefix": "How many first characters of a code are shown, one number per level.",
        "pad": "The length of codes that lost their leading zeros.",
    },
    "NetworksRecipe": {
        "networks": "How many bits of an IP address are shown, one number per level; of IPv6 twice as many."
    },
    "KnownRecipe": {"known": "A taxonomy that everybody knows: countries by UN region, or diagnoses by ICD-10."},
    "TaxonomyRecipe": {
        "taxonomy": "A file with a child and its parent on each line.",
        "separator": _SEPARATOR,
        "header": _HEADER,
    },
}
