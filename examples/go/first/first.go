// A first program: opens a store, saves, finds and pushes. Runs against kvstored (see README.md):
//
//	go run ./first http://127.0.0.1:8080
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/libkvstore/libkvstore/bindings/go"
)

type Note struct {
	ID   string `json:"_id,omitempty"`
	Text string `json:"text"`
}

func main() {
	ctx := context.Background()
	client := must(kvstore.Open(kvstore.Options{
		AppKey: "kid_demo", AppSecret: "secret", Host: os.Args[1], DataDirectory: "first-go.data",
	}))
	defer client.Close()
	must(client.Signup(ctx, nil)) // a user without a name

	// A Sync collection saves locally, online or not. The entity gets its ID at once.
	notes := must(kvstore.OpenCollection[Note](client, "notes", kvstore.Sync))
	fmt.Println("saved", must(notes.Save(ctx, Note{Text: "milk"})))
	fmt.Println("found", must(notes.All(ctx, nil)))
	fmt.Println("pushed", must(notes.Push(ctx)).Pushed)
}

func must[V any](value V, err error) V {
	if err != nil {
		panic(err)
	}
	return value
}
