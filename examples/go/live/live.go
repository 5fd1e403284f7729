// Two terminals: one watches a collection, the other writes to it. Runs against kvstored (see README.md):
//
//	go run ./live watch http://127.0.0.1:8080
//	go run ./live write http://127.0.0.1:8080 milk
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/libkvstore/libkvstore/bindings/go"
)

type Note struct {
	ID   string `json:"_id,omitempty"`
	Text string `json:"text"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	step, host := os.Args[1], os.Args[2]
	client := must(kvstore.Open(kvstore.Options{
		AppKey: "kid_demo", AppSecret: "secret", Host: host, DataDirectory: step + "-go.data",
	}))
	defer client.Close()
	must(client.Signup(ctx, nil)) // a user without a name
	notes := must(kvstore.OpenCollection[Note](client, "notes", kvstore.Network))
	if step == "watch" {
		watch(ctx, client, notes)
	} else {
		fmt.Println("saved", must(notes.Save(ctx, Note{Text: os.Args[3]})))
	}
}

// watch prints the changes on the backend until it is interrupted.
func watch(ctx context.Context, client *kvstore.Client, notes *kvstore.Collection[Note]) {
	must("", client.RegisterLive(ctx)) // after each login
	for event := range must(notes.Watch(ctx, false)) {
		if event.Err != nil {
			fmt.Fprintln(os.Stderr, event.Err)
		} else if event.Entity != nil {
			fmt.Println("live:", event.Kind, event.Change, event.ID, event.Entity.Text)
		} else {
			fmt.Println("live:", event.Kind, event.Status, event.Change, event.ID)
		}
	}
}

func must[V any](value V, err error) V {
	if err != nil {
		panic(err)
	}
	return value
}
