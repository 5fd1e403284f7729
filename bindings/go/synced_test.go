package kvstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func TestASyncedCollectionSendsAndReceivesByItself(t *testing.T) {
	name := unique()
	client, other := online(t, host), online(t, host)
	theirs := collection[kvstore.M](t, other, name, kvstore.Network)
	must(theirs.Save(ctx, kvstore.M{"_id": "a", "n": 1}))(t)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	events := must(client.SyncEvents(watching))(t)
	notes := collection[kvstore.M](t, client, name, kvstore.Synced)
	told := func(name string) kvstore.SyncEvent {
		t.Helper()
		return await(t, events, func(e kvstore.SyncEvent) bool { return e.Event == name })
	}
	equal(t, told("syncQueriesStarted").Collections[0], name)
	read := told("modelSynced")
	equal(t, read.Added, 1)
	equal(t, read.IsFullSync && read.IsComplete && !read.IsCapped, true)
	told("ready")
	must(notes.Get(ctx, "a"))(t)
	changes := must(notes.Observe(watching, nil))(t)
	first := await(t, changes, func(c kvstore.Changes[kvstore.M]) bool { return c.IsSynced })
	equal(t, first.Insertions[0].Source, "remote")

	must(notes.Save(ctx, kvstore.M{"_id": "b", "n": 2}))(t)
	equal(t, told("outboxMutationEnqueued").ID, "b")
	sent := told("outboxMutationProcessed")
	equal(t, sent.ID, "b")
	equal(t, len(sent.Entity) > 0, true)
	await(t, changes, func(c kvstore.Changes[kvstore.M]) bool {
		return len(c.Insertions) > 0 && c.Insertions[0].Source == "local" ||
			len(c.Modifications) > 0 && c.Modifications[0].Source == "remote"
	})
	must(theirs.Get(ctx, "b"))(t)

	must(theirs.Save(ctx, kvstore.M{"_id": "c", "n": 3}))(t)
	await(t, events, func(e kvstore.SyncEvent) bool {
		return e.Event == "syncReceived" && e.Changes[0] == kvstore.SyncChange{ID: "c", Change: "create"}
	})
	must(notes.Get(ctx, "c"))(t)

	if err := client.SetSyncExpression(name, kvstore.M{"n": kvstore.M{"$gt": 1}}); err != nil {
		t.Error(err)
	}
	await(t, events, func(e kvstore.SyncEvent) bool { return e.Event == "modelSynced" && e.Deleted == 1 })
	if err := client.StopSync(); err != nil {
		t.Error(err)
	}
	must(notes.Save(ctx, kvstore.M{"_id": "d"}))(t)
	if err := client.Clear(false); !errors.Is(err, kvstore.ErrPending) {
		t.Error(err)
	}
	if err := client.Clear(true); err != nil {
		t.Error(err)
	}
	equal(t, must(notes.Count(ctx, nil))(t), 0)
	if err := client.StartSync(); err != nil {
		t.Error(err)
	}
	told("ready")
	equal(t, must(notes.Count(ctx, nil))(t), 2)
}

func TestALocalDatabaseIsNotSynchronised(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	if err := client.StartSync(); !errors.Is(err, kvstore.ErrUnsupported) {
		t.Error(err)
	}
}
