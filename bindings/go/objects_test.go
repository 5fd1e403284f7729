package kvstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

func openContext(t *testing.T, client *Client, options ContextOptions) *Context {
	t.Helper()
	objects, err := client.Context(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objects.Close() })
	return objects
}

func TestAContextSavesInOneStep(t *testing.T) {
	client, accounts := localAccounts(t)
	objects := openContext(t, client, ContextOptions{Relationships: map[string]map[string]Relationship{
		"payments": {"account": {To: "accounts", Key: "accountId"}},
		"accounts": {"payments": {To: "payments", InverseKey: "accountId"}},
	}})
	id, err := objects.Insert("payments", M{"accountId": "a", "sum": 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := objects.Update("accounts", "a", M{"n": 7}); err != nil {
		t.Fatal(err)
	}
	if err := objects.Delete("accounts", "b"); err != nil {
		t.Fatal(err)
	}
	payments, err := RelatedObjects[M](objects, "accounts", "a", "payments")
	if err != nil || payments.Len() != 1 {
		t.Fatal(payments, err)
	}
	defer payments.Close()
	if payment, _, err := payments.At(0); err != nil || payment["_id"] != id {
		t.Fatal(payment, err)
	}
	relationships, err := objects.Relationships("accounts")
	if err != nil || fmt.Sprint(relationships) != "[{payments payments true}]" {
		t.Fatal(relationships, err)
	}
	if status, err := objects.Status("accounts", "a"); err != nil || status.State != "updated" {
		t.Fatal(status, err)
	}
	saved, err := objects.Save()
	if err != nil || len(saved.Inserted) != 1 || len(saved.Updated) != 1 || len(saved.Deleted) != 1 {
		t.Fatal(saved, err)
	}
	entity, err := accounts.Get(context.Background(), "a")
	if err != nil || fmt.Sprint(entity["n"]) != "7" {
		t.Fatal(entity, err)
	}
	if _, err := GetObject[M](objects, "accounts", "b"); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	if done, err := objects.Undo(); err != nil || !done {
		t.Fatal(done, err)
	}
	if _, err := GetObject[M](objects, "accounts", "b"); err != nil {
		t.Fatal(err)
	}
}

func TestAFunctionDecidesConflicts(t *testing.T) {
	client, _ := localAccounts(t)
	one, other := openContext(t, client, ContextOptions{}), openContext(t, client, ContextOptions{})
	for n, objects := range []*Context{one, other} {
		if err := objects.Update("accounts", "a", M{"n": n + 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := one.Save(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Save(); !errors.Is(err, ErrConflict) {
		t.Fatal(err)
	}
	_, err := other.SaveDeciding(func(conflict MergeConflict) (MergeDecision, error) {
		if conflict.ReadVersion == nil || conflict.StoredVersion == nil {
			t.Error(conflict)
		}
		return UseMerged(M{"_id": "a", "n": 3}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := FetchObjects[M](openContext(t, client, ContextOptions{}), "accounts", nil, FetchOptions{})
	if err != nil || found.Len() != 2 {
		t.Fatal(err)
	}
	defer found.Close()
	if entity, _, err := found.At(0); err != nil || fmt.Sprint(entity["n"]) != "3" {
		t.Fatal(entity, err)
	}
}

func TestAURINamesAnObject(t *testing.T) {
	client, err := Open(Options{
		AppKey: "kid_test", LocalOnly: true, DataDirectory: filepath.Join(t.TempDir(), "data"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	objects := openContext(t, client, ContextOptions{})
	described, err := objects.Describe("accounts", "ä b")
	if err != nil {
		t.Fatal(err)
	}
	located, err := objects.Locate(described.URI)
	if err != nil || located.ID != "ä b" || string(located.Reference) != `"ä b"` {
		t.Fatal(located, err)
	}
}

func TestGoroutinesShareAContext(t *testing.T) {
	client, _ := localAccounts(t)
	objects := openContext(t, client, ContextOptions{MergePolicy: MergeObjectTrumps})
	var all sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		all.Add(1)
		go func(worker int) {
			defer all.Done()
			for n := 0; n < 50; n++ {
				if err := objects.Update("accounts", "a", M{fmt.Sprint("w", worker): n}); err != nil {
					t.Error(err)
				}
				if _, err := objects.Save(); err != nil {
					t.Error(err)
				}
			}
		}(worker)
	}
	all.Wait()
	entity, err := GetObject[M](objects, "accounts", "a")
	if err != nil || fmt.Sprint(entity["w0"], entity["w3"]) != "49 49" {
		t.Fatal(entity, err)
	}
}

func TestAListOfAContextShowsItsEdits(t *testing.T) {
	client, _ := localAccounts(t)
	objects := openContext(t, client, ContextOptions{})
	list, err := FetchObjects[M](objects, "accounts", nil, FetchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	first, _, err := list.At(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := objects.Update("accounts", first["_id"].(string), M{"n": 99}); err != nil {
		t.Fatal(err)
	}
	if again, _, err := list.At(0); err != nil || fmt.Sprint(again["n"]) != "99" {
		t.Fatal(again, err)
	}
}

func TestAListOfAContextFollowsItsEditsAndWhatOthersSave(t *testing.T) {
	client, accounts := localAccounts(t)
	objects := openContext(t, client, ContextOptions{})
	list, err := FetchObjects[M](objects, "accounts", nil, FetchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	count := list.Len()
	events := make(chan ListChanges, 10)
	subscription, err := list.Observe(func(changes ListChanges, err error) {
		if err == nil {
			events <- changes
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer subscription.Close()
	if _, err := objects.Insert("accounts", M{"_id": "new"}); err != nil {
		t.Fatal(err)
	}
	if changes := <-events; changes.Count != count+1 || len(changes.Insertions) != 1 {
		t.Fatal(changes)
	}
	if _, err := accounts.RemoveAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	if changes := <-events; changes.Count != 1 || len(changes.Deletions) != count {
		t.Fatal(changes)
	}
}
