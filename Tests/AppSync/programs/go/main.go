// Saves a task, pushes it, and prints it as the backend has stored it. The arguments: endpoint, the token that
// the backend takes, directory, schema.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/libkvstore/libkvstore/bindings/go"
)

type Task struct {
	ID      string `json:"id,omitempty"`
	Title   string `json:"title"`
	Version int    `json:"_version,omitempty"`
}

func main() {
	ctx := context.Background()
	client := must(kvstore.Open(kvstore.Options{
		AppKey: "tasks", Backend: "appsync", Endpoint: os.Args[1],
		Auth: &kvstore.APIAuth{UserPools: new(string)}, DataDirectory: os.Args[3], Schema: os.Args[4],
	}))
	defer client.Close()
	if err := client.SetTokenProvider(give); err != nil {
		panic(err)
	}
	tasks := must(kvstore.OpenCollection[Task](client, "Task", kvstore.Sync))
	must(tasks.Save(ctx, Task{ID: "g", Title: "G"}))
	must(tasks.Push(ctx))
	if err := json.NewEncoder(os.Stdout).Encode(must(tasks.Get(ctx, "g"))); err != nil {
		panic(err)
	}
}

func give(request kvstore.TokenRequest) (string, error) {
	if request.Provider != "userPools" || request.Former != "" || request.Refused {
		return "", kvstore.ErrUnauthorized
	}
	return os.Args[2], nil
}

func must[V any](value V, err error) V {
	if err != nil {
		panic(err)
	}
	return value
}
