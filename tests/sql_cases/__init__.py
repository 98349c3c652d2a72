"""Given and expected rows of every query of `sql/`: a module for each of its folders."""

from sql_cases import (
    anatomy,
    attack,
    attack_versions,
    cloak,
    core,
    joining,
    kaca,
    mondrian,
    perturb,
    population,
    prioprivacy,
    privacy,
    profile,
    quality,
    refine,
    risk,
    utility,
    wildcard,
)

FOLDERS = {
    "anatomy": anatomy.CASES,
    "attack": [*attack.CASES, *attack_versions.CASES],
    "cloak": cloak.CASES,
    "core": core.CASES,
    "joining": joining.CASES,
    "kaca": kaca.CASES,
    "mondrian": mondrian.CASES,
    "perturb": perturb.CASES,
    "population": population.CASES,
    "prioprivacy": prioprivacy.CASES,
    "privacy": privacy.CASES,
    "profile": profile.CASES,
    "quality": quality.CASES,
    "refine": refine.CASES,
    "risk": risk.CASES,
    "utility": utility.CASES,
    "wildcard": wildcard.CASES,
}
CASES = [case for cases in FOLDERS.values() for case in cases]
