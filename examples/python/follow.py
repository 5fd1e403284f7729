"""Keeps a collection in sync, even across failures: python follow.py http://127.0.0.1:8080."""

import sys

import kvstore

with kvstore.Client(
    app_key="kid_demo", app_secret="secret", host=sys.argv[1], data_directory="follow-python.data"
) as client:
    client.signup()  # a user without a name
    notes = client.collection("notes")
    with notes.follow(), notes.changes() as changes:
        notes.save({"text": "milk"})
        for change in changes:
            print(change.count, "notes here,", client.status().pending, "to push", flush=True)
