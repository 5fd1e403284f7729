package kvstore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// A City has the members that the program needs; saves keep the others.
type City struct {
	ID         string `json:"_id,omitempty"`
	Name       string `json:"name"`
	Population int    `json:"population"`
}

func Example() {
	ctx := context.Background()
	directory, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)

	client, err := kvstore.Open(kvstore.Options{
		AppKey: "kid_test", AppSecret: "secret_test", Host: host, DataDirectory: directory,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Signup(ctx, nil); err != nil {
		log.Fatal(err)
	}

	cities, err := kvstore.OpenCollection[City](client, "example-cities", kvstore.Sync)
	if err != nil {
		log.Fatal(err)
	}
	saved, err := cities.Save(ctx, City{Name: "Paramaribo", Population: 223757})
	if err != nil {
		log.Fatal(err)
	}
	found, err := cities.Get(ctx, saved.ID)
	if err != nil {
		log.Fatal(err)
	}
	result, err := cities.Push(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Name, result.Pushed)
	// Output: Paramaribo 1
}

// notes opens a collection of a database without a backend, for the examples.
func notes() (*kvstore.Collection[kvstore.M], func()) {
	directory, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	client, err := kvstore.Open(kvstore.Options{
		AppKey: "kid_example", LocalOnly: true, DataDirectory: directory,
	})
	if err != nil {
		log.Fatal(err)
	}
	opened, err := kvstore.OpenCollection[kvstore.M](client, "notes", kvstore.Sync)
	if err != nil {
		log.Fatal(err)
	}
	return opened, func() {
		client.Close()
		os.RemoveAll(directory)
	}
}

func ExampleCollection_Find() {
	notes, done := notes()
	defer done()
	_, err := notes.SaveMany(context.Background(), []kvstore.M{
		{"text": "bread", "price": 3}, {"text": "wine", "price": 12}, {"text": "cheese", "price": 8},
	})
	if err != nil {
		log.Fatal(err)
	}

	it, err := notes.Find(context.Background(), &kvstore.Query{
		Filter: kvstore.M{"price": kvstore.M{"$gte": 5}},
		Sort:   []kvstore.SortKey{kvstore.Descending("price")},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer it.Close()
	for it.Next() {
		fmt.Println(it.Value()["text"])
	}
	if err := it.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// wine
	// cheese
}

func ExampleError() {
	notes, done := notes()
	defer done()
	_, err := notes.Get(context.Background(), "nothing")
	fmt.Println(errors.Is(err, kvstore.ErrNotFound))
	var described *kvstore.Error
	if errors.As(err, &described) {
		fmt.Println(described.Status, described.ID)
	}
	// Output:
	// true
	// KV_NOT_FOUND nothing
}

func ExamplePending() {
	notes, done := notes()
	defer done()
	if _, err := notes.Save(context.Background(), kvstore.M{"_id": "n1"}); err != nil {
		log.Fatal(err)
	}
	writes, err := notes.Pending().List("", 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, write := range writes {
		fmt.Println(write.Operation, write.ID)
	}
	// Output: create n1
}

func ExampleField() {
	query := kvstore.Field("price").AtLeast(5).
		And(kvstore.Field("text").In("wine", "cheese")).
		OrderBy(kvstore.Descending("price"))
	fmt.Println(query)
	// Output: {"filter":{"price":{"$gte":5},"text":{"$in":["wine","cheese"]}},"sort":{"price":-1}}
}

func ExampleSearch() {
	search := kvstore.Search(`fox* "old harbour"`, kvstore.SearchOptions{Language: "english"}).
		OrderBy(kvstore.ByScore()).
		Computing("why", kvstore.Snippet{Words: 6})
	fmt.Println(search)
	// Output: {"filter":{"$text":{"$search":"fox* \"old harbour\"","$language":"english"}},"sort":{"score":{"$meta":"textScore"}},"computed":{"why":{"$meta":"snippet","words":6}}}
}

func ExampleOnProgress() {
	ctx := context.Background()
	notes, done := notes()
	defer done()
	var last kvstore.Progress
	show := kvstore.OnProgress(func(progress kvstore.Progress) { last = progress })
	pushed, err := notes.Push(ctx, show)
	fmt.Println(last.EntitiesDone, "of", last.EntitiesTotal)
	// There is no backend.
	fmt.Println(pushed.Pushed, errors.Is(err, kvstore.ErrUnsupported))
	// Output:
	// 0 of 0
	// 0 true
}

func ExampleClient_Transaction() {
	ctx := context.Background()
	directory, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	client, err := kvstore.Open(kvstore.Options{
		AppKey: "kid_example", LocalOnly: true, DataDirectory: directory,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	notes, err := kvstore.OpenCollection[kvstore.M](client, "notes", kvstore.Sync)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := notes.Save(ctx, kvstore.M{"_id": "n1"}); err != nil {
		log.Fatal(err)
	}

	err = client.Transaction(ctx, func(tx *kvstore.Tx) error {
		note, err := notes.In(tx).Get("n1")
		if err != nil {
			return err
		}
		note["done"] = true
		_, err = notes.In(tx).Save(note)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	result, err := notes.Update(ctx, &kvstore.Query{Filter: kvstore.M{"done": true}},
		kvstore.M{"$inc": kvstore.M{"changes": 1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Modified)
	// Output: 1
}

func ExampleCollection_Share() {
	ctx := context.Background()
	client, closeClient := signedUp()
	defer closeClient()
	user, err := client.ActiveUser()
	if err != nil {
		log.Fatal(err)
	}
	plans, err := kvstore.OpenCollection[kvstore.M](client, "example-plans", kvstore.Sync)
	if err != nil {
		log.Fatal(err)
	}
	name, id := user.Username, "surprise"

	found, err := client.LookupUsers(ctx, kvstore.M{"username": name})
	if err != nil {
		log.Fatal(err)
	}
	team, err := client.Groups().Create(ctx, "team", []string{found[0].ID})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := plans.Save(ctx, kvstore.M{"_id": id, "_acl": kvstore.M{"gr": false}}); err != nil {
		log.Fatal(err)
	}
	if err := plans.Share(ctx, id, kvstore.Sharing{ReaderGroups: []string{team.ID}}); err != nil {
		log.Fatal(err)
	}
	pushed, err := plans.Push(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pushed.Pushed)
	// Output: 1
}

// signedUp opens a client of the server with a new user, for the examples.
func signedUp() (*kvstore.Client, func()) {
	directory, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	client, err := kvstore.Open(kvstore.Options{
		AppKey: "kid_test", AppSecret: "secret_test", Host: host, DataDirectory: directory,
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Signup(context.Background(), nil); err != nil {
		log.Fatal(err)
	}
	return client, func() {
		client.Close()
		os.RemoveAll(directory)
	}
}

func ExampleRegisterBackend() {
	directory, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	service := newShelf()

	options := kvstore.BackendOptions{
		ID:      []kvstore.IDMember{{Name: "id"}},
		Version: kvstore.VersionMember{Path: []string{"rev"}, Integer: true},
	}
	if err := kvstore.RegisterBackend("shelf", service, options); err != nil {
		log.Fatal(err)
	}
	defer kvstore.UnregisterBackend("shelf")
	client, err := kvstore.Open(kvstore.Options{AppKey: "kid_demo", Backend: "shelf", DataDirectory: directory})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	notes, err := kvstore.OpenCollection[kvstore.M](client, "notes", kvstore.Sync)
	if err != nil {
		log.Fatal(err)
	}
	result, err := notes.Pull(context.Background(), nil)
	fmt.Println(result.Pulled, err)
	// Output: 0 <nil>
}
