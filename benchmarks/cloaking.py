"""Measure location cloaking on made-up taxi trips, and draw what it does.

    python benchmarks/cloaking.py --rows 1000000
    python benchmarks/cloaking.py --picture docs/images/cloaking.svg

The trips: taxis at one of forty places, which are popular by Zipf's law, with Gaussian noise around them,
and one fifth anywhere; a time in one day. None of them is real.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import kanon_sql

ROLES = {"location": ["lat", "lon"], "time": "ts", "unit": "taxi"}
RUNS: list[tuple[str, int, int, dict[str, Any]]] = [
    ("adaptive", 1, 10, {}),
    ("adaptive, slices of an hour", 1, 10, {"interval": 3600}),
    ("adaptive, as published", 1, 10, {"shared": False}),
    ("temporal", 1, 10, {"method": "temporal"}),
    ("both", 10, 5, {"method": "both", "dx": 0.03, "dt": 1200}),
    ("clique, local-k", 10, 5, {"method": "clique", "dx": 0.01, "dt": 600}),
    ("clique, nbr-k", 10, 5, {"method": "clique", "dx": 0.01, "dt": 600, "search": "nbr-k"}),
]


def trips(rows: int, seed: int = 0) -> pd.DataFrame:
    """Made-up trips: taxi, ts, lat, lon, speed."""
    random = np.random.default_rng(seed)
    stations = random.normal((39.9, 116.4), (0.06, 0.08), (40, 2))
    share = 1 / np.arange(1, 41)
    at = stations[random.choice(40, rows, p=share / share.sum())] + random.normal(0, 0.008, (rows, 2))
    anywhere = random.random(rows) < 0.2
    at[anywhere] = random.normal((39.9, 116.4), (0.08, 0.1), (anywhere.sum(), 2))
    seconds = pd.to_timedelta(random.integers(0, 86_400, rows), unit="s")
    return pd.DataFrame(
        {
            "taxi": random.integers(0, max(rows // 100, 20), rows),
            "ts": (pd.Timestamp("2024-03-01") + seconds).astype("datetime64[us]"),
            "lat": at[:, 0],
            "lon": at[:, 1],
            "speed": random.integers(0, 80, rows),
        }
    )


def measure(rows: int) -> None:
    """Print one line per method: how much is released, how fine, and the processor's time, Parquet to Parquet."""
    print("| run | rows | k | success | classes | median area | mean area | median length | CPU seconds |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, part, k, method in RUNS:
            source = Path(folder, f"trips_{part}.parquet")
            if not source.exists():
                trips(rows // part).to_parquet(source)
            before = time.process_time()
            manifest = kanon_sql.cloak(
                source, {**ROLES, "cloak": method}, k=k, output=Path(folder, "out.parquet"), overwrite=True
            ).manifest
            figures = manifest["figures"]
            print(
                f"| {name} | {manifest['rows']:,} | {k} | {manifest['success_rate']:.3f} | {manifest['classes']:,} "
                f"| {figures['median_area']:.2e} | {figures['mean_area']:.2e} | {figures['median_length']:,.0f} s "
                f"| {time.process_time() - before:.1f} |",
                flush=True,
            )


def picture(path: Path, rows: int = 600, k: int = 5) -> None:
    """Draw the boxes of the published and of the shared form over the same points; lone boxes in red."""
    frame = trips(rows, seed=4)
    panels = []
    for index, (title, shared) in enumerate((("as published", False), ("shared", True))):
        spec = {**ROLES, "cloak": {"shared": shared, "depth": 8}}
        released = kanon_sql.cloak(frame.assign(place=range(rows)), spec, k=k, keep=["place"]).to_df()
        boxes = ["lat_min", "lat_max", "lon_min", "lon_max"]
        joined = released.merge(frame.assign(place=range(rows))[["place", "taxi"]], on="place")
        sizes = joined.groupby(boxes)["taxi"].nunique().reset_index().sort_values("taxi")
        short = int(joined.groupby(boxes)["taxi"].transform("nunique").lt(k).sum())
        panels.append(_panel(frame, sizes, k, title, short, 20 + index * 430))
    text = "\n".join(panels)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 870 460" font-family="sans-serif" font-size="14">\n'
        f'<rect width="870" height="460" fill="white"/>\n{text}\n</svg>\n',
        encoding="utf-8",
    )


def _panel(frame: pd.DataFrame, sizes: pd.DataFrame, k: int, title: str, short: int, left: int) -> str:
    low = sizes[["lon_min", "lat_min"]].min().to_numpy()
    high = sizes[["lon_max", "lat_max"]].max().to_numpy()
    scale = 400 / (high - low)

    def place(lon: float, lat: float) -> tuple[float, float]:
        return left + (lon - low[0]) * scale[0], 440 - (lat - low[1]) * scale[1]

    lines = [
        f'<text x="{left}" y="26">{title}: {len(sizes)} boxes, {short} rows in boxes of fewer than {k} taxis</text>'
    ]
    area = (sizes.lat_max - sizes.lat_min) * (sizes.lon_max - sizes.lon_min)
    for box in sizes.assign(area=area).sort_values("area", ascending=False).itertuples():
        x, y = place(box.lon_min, box.lat_max)
        width, height = (box.lon_max - box.lon_min) * scale[0], (box.lat_max - box.lat_min) * scale[1]
        fill, line = ("#c62828", "#c62828") if box.taxi < k else ("#1565c0", "#1565c0")
        lines.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" '
            f'fill-opacity="0.07" stroke="{line}" stroke-width="0.8"/>'
        )
    for lon, lat in zip(frame.lon, frame.lat, strict=True):
        x, y = place(lon, lat)
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.2" fill="#333"/>')
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    if arguments.picture:
        picture(arguments.picture)
    else:
        measure(arguments.rows)
