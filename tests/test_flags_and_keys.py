"""Options of verbs and commands: declared with their keys, with the same types and the same refusals."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from pydantic.fields import FieldInfo
from typer.core import TyperGroup

import kanon_sql
from kanon_sql.cli.app import COMMANDS
from kanon_sql.cli.app import command as imported
from kanon_sql.cli.options import FORMS, OPTIONS
from kanon_sql.errors import SpecError
from kanon_sql.spec import KEYWORDS, Noise, Pram, Privacy, Spec, Swap, keys, parse
from kanon_sql.spec import privacy as models
from kanon_sql.spec.fields import BUDGETS
from kanon_sql.verbs import options
from kanon_sql.verbs.attack import attack
from kanon_sql.verbs.risk import risk
from support.command_line import kanon

SPEC = "{source: people.csv, quasi_identifiers: [age], hierarchies: h, target: {file: a.csv}}"


def beyond(field: FieldInfo) -> list[float]:
    """Numbers just outside of what a field declares."""
    found: list[float] = []
    for bound in field.metadata:
        step = 1 if "int" in str(field.annotation) else 0.5
        found += [bound.ge - step] if hasattr(bound, "ge") else []
        found += [bound.gt] if hasattr(bound, "gt") else []
        found += [bound.le + step] if hasattr(bound, "le") else []
        found += [bound.lt] if hasattr(bound, "lt") else []
    return found


def of_columns(model: str, field: str, kind: Any) -> dict[str, list[tuple[str, Any]]]:
    """What a flag takes for a column, and the same in `privacy`."""
    key = f"privacy.{model}"
    return {key: [(f"disease={bad}", {"disease": {field: bad}}) for bad in beyond(kind.model_fields[field])]}


# By key, each word of the command line that must be refused, and the same value of the key.
REFUSED: dict[str, list[tuple[str, Any]]] = {
    **{key: [(str(bad), bad) for bad in beyond(field)] for key, field in Spec.model_fields.items()},
    "suppression_limit": [("-0.1", -0.1), ("1.5", 1.5), ("'-1 rows'", "-1 rows")],
    "differencing_limit": [("-1", -1), ("1.5", 1.5), ("none", "none")],
    "privacy.k": [(str(bad), bad) for bad in beyond(Privacy.model_fields["k"])],
    **of_columns("l_diversity", "l", models.LDiversity),
    **of_columns("t_closeness", "t", models.TCloseness),
    **of_columns("alpha_k", "alpha", models.AlphaK),
    **of_columns("beta_likeness", "beta", models.BetaLikeness),
    **of_columns("delta_disclosure", "delta", models.DeltaDisclosure),
    "privacy.k_map": [("0:people.csv", {"k": 0, "population": "people.csv"})],
    "privacy.delta_presence": [
        (f"{low}:{high}:people.csv", {"min": low, "max": high, "population": "people.csv"})
        for low, high in [(-0.5, 0.5), *((0.0, bad) for bad in beyond(models.DeltaPresence.model_fields["max"]))]
    ],
    "privacy.risk": [(f"prosecutor:{key}={bad}", {key: bad}) for key in ("highest", "mean") for bad in (0, 1.5)],
    "privacy.uniqueness": [
        *((f"{bad}:fraction=0.1", {"share": bad, "sampling_fraction": 0.1}) for bad in (-1.0, 1.0)),
        *((f"0.1:fraction={bad}", {"share": 0.1, "sampling_fraction": bad}) for bad in (0.0, 1.5)),
    ],
    "perturb": [
        (f"disease={operator}:{bad}", {"disease": {operator: {parameter: bad}}})
        for operator, parameter, kind in (("noise", "scale", Noise), ("swap", "within", Swap), ("pram", "keep", Pram))
        for bad in beyond(kind.model_fields[parameter])
    ],
    "node": [("age=-1", {"age": -1})],
    "priorities": [("age=0", {"age": 0})],
}
PLACES = {key.rpartition(".")[2]: key for key, refused in REFUSED.items() if refused}
MORE = {"cloak": ["--location", "x,y", "--time", "t", "--unit", "u"]}
MORE |= {"anatomize": ["--l", "2"], "attack": ["--source", "people.csv"], "refresh": ["--database", "h.duckdb"]}
FILES = {"run": "spec.yml", "check": "spec.yml"}


def verbs() -> Iterator[tuple[str, Any]]:
    for name in COMMANDS:
        found = imported(name)
        if isinstance(found, TyperGroup):
            yield from ((f"{name} {item}", one) for item, one in found.commands.items())
        else:
            yield name, found


def lines() -> Iterator[tuple[str, str, str, str]]:
    """Each verb, its words, the flag, and the key."""
    for verb, found in verbs():
        flags = {parameter.name: parameter.opts[0] for parameter in found.params if parameter.opts[0].startswith("--")}
        words = [*verb.split(), *MORE.get(verb, [])]
        words += (
            [FILES.get(words[0], "people.csv")] if any(p.param_type_name == "argument" for p in found.params) else []
        )
        words += ["--quasi-identifiers", "age"] if "quasi_identifiers" in flags else []
        words += ["--hierarchies", "h"] if "hierarchies" in flags else []
        yield from ((verb, " ".join(words), flag, PLACES[name]) for name, flag in flags.items() if name in PLACES)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_flag_refuses_what_its_key_refuses_in_every_verb() -> None:
    Path("spec.yml").write_text(SPEC)
    wrong = []
    for verb, words, flag, key in lines():
        for word, _ in REFUSED[key] if verb == "anonymize" else REFUSED[key][:1]:
            line = kanon(*words.split(), flag, word)
            named = re.search(rf"{flag}\b|\b{re.escape(key)}\b|\b{key.rpartition('.')[2]}\b", line.err)
            if line.code != 2 or not named:
                wrong.append((words, flag, word, line.code, line.err[-200:] or line.out[-100:]))
    assert not wrong
    assert not Path("a.csv").exists()


def _keywords() -> Iterator[tuple[Any, str, str, Any]]:
    """Each verb of Python, its keyword, the key, and a value that this refuses."""
    takers: list[Any] = [kanon_sql.suggest, kanon_sql.profile, kanon_sql.anonymize, kanon_sql.search, kanon_sql.verify]
    for verb in [*takers, kanon_sql.compare, kanon_sql.lattice, kanon_sql.explain, risk, attack]:
        names = inspect.signature(verb).parameters
        for name in names.keys() & PLACES.keys():
            yield from ((verb, name, PLACES[name], value) for _, value in REFUSED[PLACES[name]])


@pytest.mark.usefixtures("folder")
def test_a_keyword_refuses_what_its_key_refuses() -> None:
    spec: dict[str, Any] = {"source": "people.csv", "quasi_identifiers": ["age"], "hierarchies": "h"}
    for verb, name, key, value in _keywords():
        block, _, inner = key.rpartition(".")
        if key != "priorities":
            with pytest.raises(SpecError):
                parse({**spec, block: {inner: value}} if block else {**spec, inner: value})
        roles = {"quasi_identifiers": ["age"]} if "quasi_identifiers" in inspect.signature(verb).parameters else {}
        with pytest.raises(SpecError, match="priority" if key == "priorities" else inner):
            verb("people.csv", **roles, **{name: value})


@pytest.mark.usefixtures("folder")
def test_a_run_refuses_an_invalid_differencing_limit() -> None:
    Path("spec.yml").write_text(SPEC)
    for value in (-1, "none", 1.5):
        with pytest.raises(SpecError, match="differencing_limit: give a number of people, 0 or more, or the word"):
            kanon_sql.run("spec.yml", differencing_limit=value)  # type: ignore[arg-type]


def _options() -> Iterator[tuple[str, str, Any]]:
    """Each group of options of the verbs, with the name and type of each option, without None."""
    for group, declared in vars(options).items():
        if is_typeddict(declared):
            for name, hint in get_type_hints(declared).items():
                yield group, name, [get_arg for get_arg in get_args(hint) if get_arg is not type(None)]


def test_the_types_of_options_are_those_of_their_keys() -> None:
    """A type checker and an editor read the options' types; the keys of a spec are declared apart."""
    seen = set()
    for group, name, types in _options():
        kind = keys.kind_of(KEYWORDS[name].field)
        words = [word for item in types if get_origin(item) is Literal for word in get_args(item)]
        numbers = {item for item in types if item in (bool, int, float)}
        if kind.words:
            assert words == [*kind.words] or (types == [str] and name == "metric"), (group, name)
        elif kind.type in (bool, int, float):
            assert numbers == {kind.type}, (group, name)
        else:
            assert types, (group, name)
            assert not words or name in ("keep", "cloak", "differencing_limit", "strategy"), (group, name)
        seen.add(name)
    assert seen == KEYWORDS.keys() - {"source"}


def test_every_option_has_a_flag_or_a_block_of_the_spec() -> None:
    without = KEYWORDS.keys() - OPTIONS.keys()
    assert without == {"source", "privacy", "target", "prioprivacy", *BUDGETS}
    given = {parameter.name for _, command in verbs() for parameter in command.params}
    assert OPTIONS.keys() <= given
    assert FORMS.keys() <= OPTIONS.keys()
