"""Files that may be packed by gzip, as their names say."""

from __future__ import annotations

import gzip
from pathlib import Path


def read(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
