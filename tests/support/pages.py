"""The code blocks of a page, and the page typed from top to bottom as a new user would."""

import io
import re
import subprocess
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import yaml

from kanon_sql import spec as specs
from kanon_sql.errors import KanonError

BLOCK = re.compile(
    r"(?P<before>[^\n]*)\n\n?"  # the last line of the paragraph before it
    r"(?:<!-- (?:not )?(?P<reason>[^\n]*?) -->\n)?"
    r"```(?P<language>\w*)\n(?P<text>.*?)^```$",
    flags=re.S | re.M,
)
IDENTIFIERS = {"person_id", "name", "ssn", "taxi", "Name"}
RAW = {"people.parquet", "trips.parquet", "sample.parquet", "patients", "patients_waiting"}  # not released


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the file that the page says it is, and why it is not run."""

    language: str
    text: str
    line: int
    file: str | None = None
    reason: str | None = None


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, from top to bottom."""
    text = page.read_text(encoding="utf-8")
    return [_block(found, text[: found.start("language")].count("\n") + 1) for found in BLOCK.finditer(text)]


def _block(found: re.Match[str], line: int) -> Block:
    """A file's name stands right before its block, "`visits.yml`:", or is the comment in its first line."""
    text = found["text"]
    named = re.search(r"`([\w./-]+\.\w+)`:$", found["before"]) or re.match(r"# ([\w./-]+\.\w+)\n", text)
    return Block(found["language"], text, line, named[1] if named else None, found["reason"])


@dataclass
class Typist:
    """A reader who types a page in a folder: keeps the output, and reports differences."""

    folder: Path
    environment: dict[str, str]
    names: dict[str, Any] = field(default_factory=dict)
    printed: str = ""
    complaints: list[str] = field(default_factory=list)

    def type(self, block: Block) -> None:
        ways = {"sh": self._shell, "python": self._python, "yaml": self._parse, "text": self._compare}
        if block.reason:
            return
        if block.file:
            self._save(block)
        elif block.language in ways:
            ways[block.language](block)
        else:
            self._complain(block, f"nobody runs {block.language or 'a block without a language'} here")

    def _save(self, block: Block) -> None:
        path = self.folder / str(block.file)
        path.parent.mkdir(exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def _shell(self, block: Block) -> None:
        """Run it in a separate bash that ends in the folder where the next one begins."""
        script = f"{block.text}\npwd > {self.environment['HOME']}/pwd"
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        self.printed = done.stdout
        if done.returncode:
            self._complain(block, f"exit code {done.returncode}\n{done.stdout[-2000:]}")
        else:
            self.folder = Path(Path(self.environment["HOME"], "pwd").read_text().strip())

    def _python(self, block: Block) -> None:
        """All blocks of a page are one session; a comment behind a `print` is what it prints."""
        printed = io.StringIO()
        try:
            with chdir(self.folder), redirect_stdout(printed):
                exec(compile("\n" * block.line + block.text, "page", "exec"), self.names)
        except Exception as error:
            self._complain(block, f"{type(error).__name__}: {error}")
        self.printed = printed.getvalue()
        for reported in re.findall(r"^ *(?:print\(.*\)|\))  # (.+)$", block.text, flags=re.M):
            if reported not in self.printed.splitlines():
                self._complain(block, f"{reported!r} is not in\n{self.printed}")

    def _parse(self, block: Block) -> None:
        """A part of a spec, without what every spec has."""
        try:
            part = yaml.safe_load(block.text)
            if "tables" in part:
                tables = {"patients": {}, **part["tables"]}
                specs.load_linked({"unit": {"patients": "patient_id"}, "privacy": {"k": 5}, **part, "tables": tables})
                return
            specs.parse({"source": "t", "quasi_identifiers": {"age": {}}, **part})
        except (KanonError, yaml.YAMLError) as error:
            self._complain(block, str(error))

    def _compare(self, block: Block) -> None:
        """The output on the page must be part of the last output; `…` leaves out, and seconds are never the same."""
        parts = [re.escape(_plain(part)) for part in block.text.split("…")]
        if not re.search(" ?.*?".join(part.replace(r"\ $", "") for part in parts), _plain(self.printed)):
            self._complain(block, f"{block.text}\nis not in\n{self.printed}")

    def identifiers(self) -> list[str]:
        """The columns of identifiers in the files and tables that were made on the way."""
        found = []
        for path in sorted(self.folder.glob("*.parquet")):
            names = duckdb.read_parquet(str(path)).columns
            found += [f"{path.name}: {name}" for name in names if name in IDENTIFIERS and path.name not in RAW]
        with duckdb.connect(str(self.folder / "hospital.duckdb"), read_only=True) as database:
            listed = database.sql("SELECT table_name, column_name FROM information_schema.columns").fetchall()
        return found + [f"{table}: {name}" for table, name in listed if name in IDENTIFIERS and table not in RAW]

    def _complain(self, block: Block, what: str) -> None:
        self.complaints.append(f"line {block.line}: {what}")


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\d+\.\d+ s\b", "0 s", text).split())
