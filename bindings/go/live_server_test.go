package kvstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// listener opens a client of a server with a new user who may listen.
func listener(t *testing.T, host string) *kvstore.Client {
	t.Helper()
	client := online(t, host)
	if err := client.RegisterLive(ctx); err != nil {
		t.Fatal(err)
	}
	return client
}

// watch begins to watch a collection and waits until it receives every change.
func watch(
	t *testing.T, ctx context.Context, notes *kvstore.Collection[kvstore.M], toLocal bool,
) <-chan kvstore.LiveEvent[kvstore.M] {
	t.Helper()
	events := must(notes.Watch(ctx, toLocal))(t)
	equal(t, next(t, events).Status, "connected")
	equal(t, next(t, events).Kind, kvstore.LiveReady)
	return events
}

// next returns the next event.
func next(t *testing.T, events <-chan kvstore.LiveEvent[kvstore.M]) kvstore.LiveEvent[kvstore.M] {
	t.Helper()
	select {
	case event, ok := <-events:
		if !ok || event.Err != nil {
			t.Fatal(ok, event.Err)
		}
		return event
	case <-time.After(30 * time.Second):
		t.Fatal("nothing is told")
	}
	panic("not reached")
}

func change(event kvstore.LiveEvent[kvstore.M]) string { return event.Change + " " + event.ID }

func TestWhatAnotherClientDoesIsToldToAllWhoWatch(t *testing.T) {
	name := unique()
	reader := collection[kvstore.M](t, listener(t, host), name, kvstore.Sync)
	writer := collection[kvstore.M](t, online(t, host), name, kvstore.Network)
	watching, stop := context.WithCancel(ctx)
	first, second := watch(t, watching, reader, false), watch(t, ctx, reader, false)
	must(writer.Save(ctx, kvstore.M{"_id": "a", "n": 1}))(t)
	created := next(t, first)
	equal(t, change(created), "create a")
	equal(t, fmt.Sprint((*created.Entity)["n"]), "1")
	equal(t, change(next(t, second)), "create a")
	stop()
	for range first {
	}
	must(writer.Save(ctx, kvstore.M{"_id": "a", "n": 2}))(t)
	equal(t, change(next(t, second)), "update a")
	must(writer.RemoveByID(ctx, "a"))(t)
	equal(t, change(next(t, second)), "delete a")
}

func TestUnsubscribingIsAnsweredAndNothingComesAfterIt(t *testing.T) {
	name := unique()
	client := listener(t, host)
	notes := collection[kvstore.M](t, client, name, kvstore.Network)
	ready, changes := make(chan struct{}), make(chan string, 8)
	subscription := must(notes.Subscribe(false, func(event kvstore.LiveEvent[kvstore.M]) {
		switch event.Kind {
		case kvstore.LiveReady:
			close(ready)
		case kvstore.LiveChange:
			changes <- event.ID
		}
	}))(t)
	<-ready
	must(notes.Save(ctx, kvstore.M{"_id": "a"}))(t)
	equal(t, <-changes, "a")
	if err := subscription.End(ctx); err != nil {
		t.Fatal(err)
	}
	others := watch(t, ctx, notes, false)
	must(notes.Save(ctx, kvstore.M{"_id": "b"}))(t)
	equal(t, change(next(t, others)), "create b")
	equal(t, len(changes), 0)
	if err := subscription.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestUnsubscribingSaysThatTheBackendCouldNotBeTold(t *testing.T) {
	own := must(startServer(t.TempDir()))(t)
	defer own.kill()
	client := listener(t, own.host())
	notes := collection[kvstore.M](t, client, unique(), kvstore.Network)
	ready := make(chan struct{})
	subscription := must(notes.Subscribe(false, func(event kvstore.LiveEvent[kvstore.M]) {
		if event.Kind == kvstore.LiveReady {
			close(ready)
		}
	}))(t)
	<-ready
	own.kill()
	if err := subscription.End(ctx); !errors.Is(err, kvstore.ErrNetwork) {
		t.Fatalf("got %v", err)
	}
	if err := subscription.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyWhoMayReadAnEntityIsToldOfIt(t *testing.T) {
	name := unique()
	bob, eve := listener(t, host), listener(t, host)
	toBob := watch(t, ctx, collection[kvstore.M](t, bob, name, kvstore.Sync), false)
	toEve := watch(t, ctx, collection[kvstore.M](t, eve, name, kvstore.Sync), false)
	writer := collection[kvstore.M](t, online(t, host), name, kvstore.Network)
	user := must(bob.ActiveUser())(t)
	acl := kvstore.M{"gr": false, "r": []string{user.ID}}
	must(writer.Save(ctx, kvstore.M{"_id": "secret", "_acl": acl}))(t)
	must(writer.Save(ctx, kvstore.M{"_id": "open", "_acl": kvstore.M{"gr": true}}))(t)
	equal(t, change(next(t, toEve)), "create open")
	both := map[string]bool{change(next(t, toBob)): true, change(next(t, toBob)): true}
	equal(t, both["create secret"] && both["create open"], true)
}

func TestWhatIsToldIsInTheLocalStoreButNeverOverAPendingWrite(t *testing.T) {
	name := unique()
	reader := collection[kvstore.M](t, listener(t, host), name, kvstore.Sync)
	writer := collection[kvstore.M](t, online(t, host), name, kvstore.Network)
	must(reader.Save(ctx, kvstore.M{"_id": "mine", "n": 7}))(t)
	events := watch(t, ctx, reader, true)
	must(writer.Save(ctx, kvstore.M{"_id": "mine", "n": 1}))(t)
	must(writer.Save(ctx, kvstore.M{"_id": "other", "n": 2}))(t)
	equal(t, change(next(t, events)), "create mine")
	equal(t, change(next(t, events)), "create other")
	equal(t, fmt.Sprint(must(reader.Get(ctx, "mine"))(t)["n"]), "7")
	equal(t, fmt.Sprint(must(reader.Get(ctx, "other"))(t)["n"]), "2")
}

func TestWhoDoesNotReadHoldsUpNobodyElseAndLosesNothing(t *testing.T) {
	name := unique()
	ana, ben := listener(t, host), listener(t, host)
	notes := collection[kvstore.M](t, ana, name, kvstore.Network)
	others := collection[kvstore.M](t, ben, name, kvstore.Network)
	unread := watch(t, ctx, notes, false)
	read := watch(t, ctx, others, false)
	ids := []string{"first", "second", "third"}
	for _, id := range ids {
		// A reader that does not receive can still write.
		must(notes.Save(ctx, kvstore.M{"_id": id, "_acl": kvstore.M{"gr": true}}))(t)
		equal(t, change(next(t, read)), "create "+id)
	}
	for _, id := range ids {
		equal(t, change(next(t, unread)), "create "+id)
	}
	must(notes.Save(ctx, kvstore.M{"_id": "last", "_acl": kvstore.M{"gr": true}}))(t)
	equal(t, change(next(t, read)), "create last")
	if err := ana.Close(); err != nil {
		t.Fatal(err)
	}
	for event := range unread {
		if event.Err != nil {
			t.Fatal(event.Err)
		}
	}
}

func TestARestartOfTheServerEndsNothingAndALogoutEverything(t *testing.T) {
	own := must(startServer(t.TempDir()))(t)
	defer own.kill()
	client := listener(t, own.host())
	notes := collection[kvstore.M](t, client, "notes", kvstore.Network)
	events := watch(t, ctx, notes, false)
	own.kill()
	equal(t, next(t, events).Status, "unexpectedDisconnect")
	if err := own.start(); err != nil {
		t.Fatal(err)
	}
	equal(t, next(t, events).Status, "reconnected")
	must(notes.Save(ctx, kvstore.M{"_id": "a"}))(t)
	event := next(t, events)
	// The server keeps no history of this collection, so the missed changes are unknown.
	if event.Kind == kvstore.LiveMissed {
		event = next(t, events)
	}
	equal(t, event.ID, "a")
	if err := client.Logout(ctx); err != nil {
		t.Fatal(err)
	}
	equal(t, next(t, events).Status, "disconnected")
	for range events {
		t.Fatal("nothing comes after the end")
	}
}
