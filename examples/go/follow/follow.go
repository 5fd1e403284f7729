// Keeps a collection in sync, also across network failures: go run ./follow http://127.0.0.1:8080
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client := must(kvstore.Open(kvstore.Options{
		AppKey: "kid_demo", AppSecret: "secret", Host: os.Args[1], DataDirectory: "follow-go.data",
	}))
	defer client.Close()
	must(client.Signup(ctx, nil)) // a user without a name
	notes := must(kvstore.OpenCollection[kvstore.M](client, "notes", kvstore.Sync))
	must(notes.Follow(ctx, nil))
	must(notes.Save(ctx, kvstore.M{"text": "milk"}))
	for change := range must(notes.Observe(ctx, nil)) {
		fmt.Println(change.Count, "notes here,", must(client.Status()).Pending, "to push")
	}
}

func must[V any](value V, err error) V {
	if err != nil {
		panic(err)
	}
	return value
}
