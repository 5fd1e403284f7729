package kvstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// number is the member n of an object.
func number(t *testing.T, objects *Context, id string) string {
	t.Helper()
	object, err := GetObject[M](objects, "accounts", id)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(object["n"])
}

func edit(t *testing.T, objects *Context, id string, n int) {
	t.Helper()
	if err := objects.Update("accounts", id, M{"n": n}); err != nil {
		t.Fatal(err)
	}
}

func TestAGroupOfEditsIsUndoneAndMadeAgain(t *testing.T) {
	client, _ := localAccounts(t)
	objects := openContext(t, client, ContextOptions{})
	before := number(t, objects, "a") + number(t, objects, "b")
	both := func() error {
		edit(t, objects, "a", 101)
		edit(t, objects, "b", 102)
		return errors.New("of the function")
	}
	if err := objects.UndoGroup(both); err == nil || err.Error() != "of the function" {
		t.Fatal(err)
	}
	if done, err := objects.Undo(); err != nil || !done {
		t.Fatal(done, err)
	}
	if now := number(t, objects, "a") + number(t, objects, "b"); now != before {
		t.Fatal(now)
	}
	if done, err := objects.Redo(); err != nil || !done || number(t, objects, "b") != "102" {
		t.Fatal(done, err)
	}
	if done, err := objects.Redo(); err != nil || done {
		t.Fatal(done, err)
	}
	if err := objects.Rollback(); err != nil || number(t, objects, "a")+number(t, objects, "b") != before {
		t.Fatal(err)
	}
}

func TestAGroupEndsWhenItsFunctionPanics(t *testing.T) {
	client, _ := localAccounts(t)
	objects := openContext(t, client, ContextOptions{})
	func() {
		defer func() { _ = recover() }()
		_ = objects.UndoGroup(func() error { panic("of the function") })
	}()
	before := number(t, objects, "b")
	edit(t, objects, "a", 101)
	edit(t, objects, "b", 102)
	if done, err := objects.Undo(); err != nil || !done {
		t.Fatal(done, err)
	}
	if number(t, objects, "a") != "101" || number(t, objects, "b") != before {
		t.Fatal("the edits were one group")
	}
}

func TestHeldObjectsAreCheckedAndRefreshed(t *testing.T) {
	client, accounts := localAccounts(t)
	objects := openContext(t, client, ContextOptions{})
	held := ObjectID{"accounts", "a"}
	number(t, objects, "a")
	if err := objects.Hold(held); err != nil {
		t.Fatal(err)
	}
	if statistics, err := objects.Statistics(); err != nil || statistics.Held != 1 {
		t.Fatal(statistics, err)
	}
	if _, err := accounts.Save(context.Background(), M{"_id": "a", "n": 5}); err != nil {
		t.Fatal(err)
	}
	if err := objects.Update("accounts", "a", M{"m": 6}); err != nil {
		t.Fatal(err)
	}
	if _, err := objects.Save(); !errors.Is(err, ErrConflict) {
		t.Fatal(err)
	}
	if err := objects.Refresh([]ObjectID{held}, true); err != nil || number(t, objects, "a") != "5" {
		t.Fatal(err)
	}
	changes, err := objects.Changes()
	if err != nil || len(changes.Updated) != 1 || changes.Updated[0] != held {
		t.Fatal(changes, err)
	}
	if err := objects.Refresh(nil, false); err != nil {
		t.Fatal(err)
	}
	if changes, err := objects.Changes(); err != nil || len(changes.Updated) != 0 {
		t.Fatal(changes, err)
	}
	if err := objects.Release(held); err != nil {
		t.Fatal(err)
	}
}

func TestASetReplacesAllMembers(t *testing.T) {
	client, _ := localAccounts(t)
	objects := openContext(t, client, ContextOptions{})
	if err := objects.Set("accounts", "a", M{"other": true}); err != nil {
		t.Fatal(err)
	}
	object, err := GetObject[M](objects, "accounts", "a")
	if err != nil || object["n"] != nil || object["other"] != true || object["_id"] != "a" {
		t.Fatal(object, err)
	}
}

func TestPrefetchingFollowsARelationshipWithOneQuery(t *testing.T) {
	client, _ := localAccounts(t)
	objects := openContext(t, client, ContextOptions{Relationships: map[string]map[string]Relationship{
		"payments": {"account": {To: "accounts", Key: "accountId"}},
	}})
	for n := 0; n < 30; n++ {
		if _, err := objects.Insert("payments", M{"_id": fmt.Sprint("p", n), "accountId": []string{"a", "b"}[n%2]}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := objects.Save(); err != nil {
		t.Fatal(err)
	}
	if err := objects.Refresh(nil, false); err != nil {
		t.Fatal(err)
	}
	list, err := FetchObjects[M](objects, "payments", nil, FetchOptions{Prefetch: []string{"account"}, ReadsAtOnce: true})
	if err != nil || list.Len() != 30 {
		t.Fatal(err)
	}
	defer list.Close()
	before, err := objects.Statistics()
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < 30; n++ {
		related, err := RelatedObjects[M](objects, "payments", fmt.Sprint("p", n), "account")
		if err != nil || related.Len() != 1 {
			t.Fatal(err)
		}
		if _, _, err := related.At(0); err != nil {
			t.Fatal(err)
		}
		related.Close()
	}
	after, err := objects.Statistics()
	if err != nil || after.RelationshipReads != before.RelationshipReads || after.RelationshipReads != 1 {
		t.Fatal(before, after, err)
	}
}

func TestIDsAreFetchedWithoutObjects(t *testing.T) {
	client, _ := localAccounts(t)
	objects := openContext(t, client, ContextOptions{})
	ids, err := FetchObjectIDs(objects, "accounts", nil, FetchOptions{})
	if err != nil || ids.Len() != 2 {
		t.Fatal(err)
	}
	defer ids.Close()
	if id, _, err := ids.At(0); err != nil || id != "a" && id != "b" {
		t.Fatal(id, err)
	}
	if statistics, err := objects.Statistics(); err != nil || statistics.Reads != 0 {
		t.Fatal(statistics, err)
	}
}

func TestAURINamesTheObjectAlsoAfterARelaunch(t *testing.T) {
	options := Options{AppKey: "kid_test", LocalOnly: true, DataDirectory: filepath.Join(t.TempDir(), "data")}
	var uri string
	for launch := 0; launch < 2; launch++ {
		client, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		objects := openContext(t, client, ContextOptions{})
		described, err := objects.Describe("accounts", "a")
		if err != nil || launch == 1 && described.URI != uri {
			t.Fatal(described, err)
		}
		uri = described.URI
		if located, err := objects.Locate(uri); err != nil || located.ObjectID != (ObjectID{"accounts", "a"}) {
			t.Fatal(located, err)
		}
		objects.Close()
		client.Close()
	}
}
