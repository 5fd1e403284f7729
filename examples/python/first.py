"""A first program: opens a store, saves, finds and pushes. Runs against `kvstored` (see README.md).

python first.py http://127.0.0.1:8080
"""

import sys

import kvstore

with kvstore.Client(
    app_key="kid_demo", app_secret="secret", host=sys.argv[1], data_directory="first-python.data"
) as client:
    client.signup()  # a user without a name

    # A sync store saves locally, online or not. The entity gets its _id at once.
    notes = client.collection("notes", type="sync")
    saved = notes.save({"text": "milk"})
    print("saved", saved)

    # Entities are fetched while the loop runs.
    for note in notes.find({"text": "milk"}):
        print("found", note)

    print(len(notes.pending), "to push")
    result = notes.push()
    print("pushed", result.pushed, "with errors", result.errors)
