"""A progress bar: pulls a collection and shows its progress. Runs against `kvstored` (README.md).

pip install rich
python progress.py http://127.0.0.1:8080 cities
"""

import sys

import kvstore
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

host, name = sys.argv[1:]
columns = "[progress.description]{task.description}", BarColumn(), MofNCompleteColumn()

with (
    kvstore.Client(
        app_key="kid_demo", app_secret="secret", host=host, data_directory="progress.data"
    ) as client,
    Progress(*columns, TimeRemainingColumn()) as bars,
):
    client.signup()
    entities = client.collection(name, auto_pagination=True, max_size_per_result_set=1000)
    bar = bars.add_task(f"pulling {name}", total=None)

    def show(event: kvstore.SyncEvent) -> None:
        """Move the bar. Runs on a thread of the client."""
        if counts := event.progress:
            bars.update(bar, completed=counts.entities_done, total=counts.entities_total or None)

    with client.observe_sync(show):
        result = entities.pull()
    bars.update(bar, completed=result.pulled, total=result.pulled)
    bars.console.print("pulled", result.pulled)
