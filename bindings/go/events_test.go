package kvstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// wait returns the first event that is wanted.
func wait(t *testing.T, events <-chan kvstore.SyncEvent, wanted func(kvstore.SyncEvent) bool) kvstore.SyncEvent {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case event := <-events:
			if wanted(event) {
				return event
			}
		case <-timeout:
			t.Fatal("the event does not come")
		}
	}
}

func TestListenersHearOfPushes(t *testing.T) {
	client := online(t, host)
	notes := collection[kvstore.M](t, client, "heard", kvstore.Sync)
	if _, err := notes.Save(ctx, kvstore.M{"n": 1}); err != nil {
		t.Fatal(err)
	}
	events := make(chan kvstore.SyncEvent, 100)
	subscription, err := client.ObserveSync(func(event kvstore.SyncEvent) { events <- event })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := notes.Push(ctx); err != nil {
		t.Fatal(err)
	}
	finished := wait(t, events, func(e kvstore.SyncEvent) bool { return e.Event == "finished" })
	var result kvstore.PushResult
	if err := json.Unmarshal(finished.Result, &result); err != nil || result.Pushed != 1 {
		t.Fatalf("%+v, %v", finished, err)
	}
	if finished.Operation != "push" || finished.Collection != "heard" || finished.Automatic {
		t.Fatalf("%+v", finished)
	}
	if err := subscription.Close(); err != nil {
		t.Fatal(err)
	}
	if err := subscription.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAPushHasOverwrittenIsTold(t *testing.T) {
	client := online(t, host)
	name := unique()
	notes := collection[kvstore.M](t, client, name, kvstore.Sync)
	theirs := collection[kvstore.M](t, client, name, kvstore.Network)
	must(notes.Save(ctx, kvstore.M{"_id": "a", "n": 1}))(t)
	must(notes.Push(ctx))(t)
	must(theirs.Save(ctx, kvstore.M{"_id": "a", "n": 2}))(t)
	must(notes.Save(ctx, kvstore.M{"_id": "a", "n": 3}))(t)
	events := must(client.SyncEvents(ctx))(t)
	if result := must(notes.Push(ctx))(t); result.Overwritten != 1 {
		t.Fatalf("%+v", result)
	}
	event := wait(t, events, func(e kvstore.SyncEvent) bool { return e.Event == "overwritten" })
	var remote kvstore.M
	if err := json.Unmarshal(event.Remote, &remote); err != nil || event.ID != "a" || remote["n"] != 2.0 {
		t.Fatalf("%+v, %s, %v", event, event.Remote, err)
	}
}

func TestAChannelOfEventsEndsWithItsContextAndItsClient(t *testing.T) {
	client := online(t, host)
	notes := collection[kvstore.M](t, client, unique(), kvstore.Sync)
	must(notes.Save(ctx, kvstore.M{"n": 1}))(t)
	limited, cancel := context.WithCancel(ctx)
	events := must(client.SyncEvents(limited))(t)
	must(notes.Push(ctx))(t)
	wait(t, events, func(e kvstore.SyncEvent) bool { return e.Event == "finished" })
	cancel()
	for range events {
	}
	if _, err := client.SyncEvents(limited); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	others := must(client.SyncEvents(ctx))(t)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	for range others {
	}
}

func TestCodesLogIn(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v3/oauth/token" {
			if r.FormValue("code") != "good" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
				return
			}
			_, _ = w.Write([]byte(`{"access_token":"a","refresh_token":"r"}`))
			return
		}
		_, _ = w.Write([]byte(`{"_id":"ana","username":"ana","_kmd":{"authtoken":"t"}}`))
	}))
	defer server.Close()
	client := open(t, kvstore.Options{AppSecret: "s", Host: server.URL})
	page, err := client.LoginPage("app://done", kvstore.WithClientID("kid.s"), kvstore.WithState("x"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.Parse(page)
	if err != nil || parsed.Query().Get("client_id") != "kid.s" || parsed.Query().Get("state") != "x" {
		t.Fatalf("%s, %v", page, err)
	}
	if _, err := client.LoginWithCode(ctx, "bad", "app://done"); !errors.Is(err, kvstore.ErrUnauthorized) {
		t.Fatal(err)
	}
	user, err := client.LoginWithCode(ctx, "good", "app://done", kvstore.WithClientID("kid.s"))
	if err != nil || user.ID != "ana" {
		t.Fatalf("%+v, %v", user, err)
	}
}
