"""What the idle site takes: web server, worker and PostgreSQL, some pages having been asked for.

Linux only, from /proc: PSS shares out what processes have in common, RSS counts it once for each.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

from benchmarks.demo_site import DemoSite, demo_site
from benchmarks.measuring import Measurement

SETTLE_SECONDS = 5
PAGES = 20
PROC = Path("/proc")


def measure() -> Iterator[Measurement]:
    if not Path("/proc/self/smaps_rollup").exists():
        return
    with demo_site() as site:
        for _ in range(PAGES):
            urlopen(f"{site.address}/login/").close()
        time.sleep(SETTLE_SECONDS)
        processes = find_processes(site)
        for name in ("Pss", "Rss"):
            mib = sum(read_kib(pid, name) for pid in processes) / 1024
            size = f"{len(processes)} processes"
            yield Measurement(f"memory: the idle site, {name.upper()}", size, mib, unit="MiB")


def find_processes(site: DemoSite) -> set[int]:
    """The server with all that it started, and the PostgreSQL whose data lie in its folder."""
    children: defaultdict[int, set[int]] = defaultdict(set)
    roots = {site.pid}
    for folder in PROC.glob("[0-9]*"):
        try:
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
            children[int(after_name[1])].add(int(folder.name))
            if str(site.folder) in (folder / "cmdline").read_text():
                roots.add(int(folder.name))
        except OSError:
            continue  # It has ended between two looks.
    found: set[int] = set()
    while roots:
        found |= roots
        roots = {child for pid in roots for child in children[pid]} - found
    return found


def read_kib(pid: int, name: str) -> int:
    """One line of the process's memory account, in KiB; 0 for one that has ended."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
