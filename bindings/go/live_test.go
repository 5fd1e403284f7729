package kvstore_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// liveService answers each poll with the next text that a test sends.
func liveService(t *testing.T) (*httptest.Server, chan<- string) {
	t.Helper()
	messages := make(chan string, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/unregister-realtime"):
			fmt.Fprint(w, `{}`)
		case strings.HasSuffix(r.URL.Path, "/register-realtime"):
			fmt.Fprint(w, `{"subscribeKey":"s","publishKey":"p","userChannelGroup":"g"}`)
		case strings.HasPrefix(r.URL.Path, "/user"):
			fmt.Fprint(w, `{"_id":"u1","username":"ana","_kmd":{"authtoken":"t"}}`)
		case !strings.HasPrefix(r.URL.Path, "/v2/subscribe"):
			fmt.Fprint(w, `{}`)
		case r.URL.Query().Get("tt") == "0":
			fmt.Fprint(w, `{"t":{"t":"1","r":1},"m":[]}`)
		default:
			select {
			case message := <-messages:
				fmt.Fprint(w, message)
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(server.Close)
	return server, messages
}

func TestWatchTellsWhatHappensUntilTheContextEnds(t *testing.T) {
	server, messages := liveService(t)
	client := open(t, kvstore.Options{AppSecret: "s", Host: server.URL})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, err := client.Signup(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if err := client.RegisterLive(ctx); err != nil {
		t.Fatal(err)
	}
	notes := collection[kvstore.M](t, client, "notes", kvstore.Sync)
	events, err := notes.Watch(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	if event := <-events; event.Status != "connected" {
		t.Fatal(event)
	}
	if event := <-events; event.Kind != kvstore.LiveReady {
		t.Fatal(event)
	}
	messages <- `{"t":{"t":"2","r":1},"m":[{"c":"` + appKey + `.c-notes","p":{"t":"2"},"d":{"_id":"a","n":3}}]}`
	event := <-events
	if event.Kind != kvstore.LiveChange || event.ID != "a" || event.Entity == nil || (*event.Entity)["n"] != int64(3) {
		t.Fatal(event)
	}
	cancel()
	for range events {
	}
}
