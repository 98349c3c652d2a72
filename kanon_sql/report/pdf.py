"""A page as PDF, printed by a browser that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from kanon_sql.errors import TargetError

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 120


def pdf(html: str) -> bytes:
    """Print a page; TargetError if no browser is found, or it fails."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise TargetError(
            f"a PDF is printed by a browser, and none of {', '.join(BROWSERS)} is on the PATH; install chromium, or "
            "write the report as .html and print that"
        )
    with tempfile.TemporaryDirectory(prefix="kanon_report_", ignore_cleanup_errors=True) as folder:
        page = Path(folder) / "report.html"
        printed = Path(folder) / "report.pdf"
        page.write_text(html, encoding="utf-8")
        _run([browser, *_options(Path(folder) / "profile"), f"--print-to-pdf={printed}", page.as_uri()])
        if not printed.is_file():
            raise TargetError(f"{browser} printed nothing; write the report as .html and print that")
        return printed.read_bytes()


def _options(profile: Path) -> list[str]:
    """As a program runs it: without a window, a user's profile or the network; as root without its sandbox."""
    alone = ["--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", f"--user-data-dir={profile}"]
    offline = ["--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND"]
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [*alone, *offline, *root, "--no-pdf-header-footer"]


def _run(line: list[str]) -> None:
    try:
        subprocess.run(line, capture_output=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise TargetError(
            f"{line[0]} could not print the report ({type(error).__name__}); write it as .html and print that"
        ) from None
