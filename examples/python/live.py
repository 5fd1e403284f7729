"""Two terminals: one watches a collection, the other writes to it. Runs against `kvstored`.

python live.py watch http://127.0.0.1:8080
python live.py write http://127.0.0.1:8080 milk
"""

import sys

import kvstore


def say(*words: object) -> None:
    """Print a line as one piece, because two threads print."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def show(event: kvstore.LiveEvent) -> None:
    """Print a change on the backend. Runs on a thread of the client."""
    say("live:", event.event, event.change or event.status or "", event.id or "")


def watch(client: kvstore.Client) -> None:
    """Keep local data current by live data, and observe a query over it."""
    notes = client.collection("notes")
    client.register_live()  # after each login
    texts: list[kvstore.Entity] = []
    with (
        notes.subscribe(show, on_ready=show, on_status=show, live_to_local=True),
        notes.changes(kvstore.Query(sort={"text": 1})) as changes,
    ):
        for change in changes:
            change.apply(texts)
            say("here:", [note["text"] for note in texts])


def write(client: kvstore.Client, text: str) -> None:
    """Save one entity to the backend."""
    print("saved", client.collection("notes", type="network").save({"text": text}))


step, host = sys.argv[1:3]
with kvstore.Client(
    app_key="kid_demo", app_secret="secret", host=host, data_directory=f"{step}-python.data"
) as client:
    client.signup()  # a user without a name
    if step == "watch":
        watch(client)
    else:
        write(client, sys.argv[3])
