package kvstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// A box is a store that keeps records in memory.
type box struct {
	mutex   sync.Mutex
	records map[string]json.RawMessage
	// hangs makes Fetch wait until nobody waits for it any more.
	hangs bool
	uuid  string
	// short makes Save answer with too few records.
	short bool
}

func (b *box) Load(context.Context, kvstore.StoreLocation) (kvstore.StoreMetadata, error) {
	return kvstore.StoreMetadata{Type: "box", UUID: b.uuid}, nil
}

func (b *box) Fetch(ctx context.Context, _ kvstore.Fetch) (kvstore.FetchedPage, error) {
	if b.hangs {
		<-ctx.Done()
		return kvstore.FetchedPage{}, ctx.Err()
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	page := kvstore.FetchedPage{}
	for _, record := range b.records {
		page.Records = append(page.Records, record)
	}
	return page, nil
}

func (b *box) Values(_ context.Context, _ string, ids []json.RawMessage) ([]json.RawMessage, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	var found []json.RawMessage
	for _, id := range ids {
		if record, ok := b.records[string(id)]; ok {
			found = append(found, record)
		}
	}
	return found, nil
}

func (b *box) Save(_ context.Context, save kvstore.Save) (kvstore.Saved, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.short {
		return kvstore.Saved{Records: []json.RawMessage{}}, nil
	}
	var saved kvstore.Saved
	for _, change := range save.Inserted {
		if stored, ok := b.records[string(change.ID)]; ok {
			saved.Conflicts = append(saved.Conflicts,
				kvstore.SaveConflict{Collection: change.Collection, ID: change.ID, Record: stored})
		}
	}
	if saved.Conflicts != nil {
		return saved, nil
	}
	for _, change := range append(append([]kvstore.Change{}, save.Inserted...), save.Updated...) {
		b.records[string(change.ID)] = change.Record
	}
	for _, change := range save.Deleted {
		_, existed := b.records[string(change.ID)]
		saved.Deleted = append(saved.Deleted, existed)
		delete(b.records, string(change.ID))
	}
	return saved, nil
}

// withBox registers a store for a test.
func withBox(t *testing.T, store *box) kvstore.Options {
	t.Helper()
	store.records = map[string]json.RawMessage{}
	if store.uuid == "" {
		store.uuid = "box-1"
	}
	if err := kvstore.RegisterStore("box", store, kvstore.BackendOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kvstore.UnregisterStore("box"); err != nil {
			t.Error(err)
		}
	})
	return kvstore.Options{AppKey: "kid", Store: "box", DataDirectory: t.TempDir(), Retries: -1}
}

func TestAStoreOfTheProgramKeepsTheRecordsAlone(t *testing.T) {
	store := &box{}
	client := must(kvstore.Open(withBox(t, store)))(t)
	defer client.Close()
	notes := collection[note](t, client, "notes", kvstore.Sync)
	must(notes.Save(ctx, note{ID: "a", Text: "milk"}))(t)
	must(notes.SaveMany(ctx, []note{{ID: "b", Text: "eggs"}, {ID: "c", Text: "bread"}}))(t)
	equal(t, len(store.records), 3)
	equal(t, must(notes.Get(ctx, "b"))(t).Text, "eggs")
	found := must(notes.All(ctx, &kvstore.Query{Sort: []kvstore.SortKey{kvstore.Descending("text")}, Limit: 1}))(t)
	equal(t, found[0].Text, "milk")
	equal(t, must(notes.RemoveByID(ctx, "b"))(t), 1)
	equal(t, must(notes.RemoveByID(ctx, "b"))(t), 0)
	if _, err := notes.Insert(ctx, note{ID: "a"}); !errors.Is(err, kvstore.ErrConflict) {
		t.Error(err)
	}
	store.short = true
	if _, err := notes.Save(ctx, note{ID: "z"}); !errors.Is(err, kvstore.ErrProtocol) {
		t.Error(err)
	}
}

func TestAStoreThatHangsEndsWithTheDeadline(t *testing.T) {
	client := must(kvstore.Open(withBox(t, &box{hangs: true})))(t)
	defer client.Close()
	notes := collection[note](t, client, "notes", kvstore.Sync)
	if _, err := notes.Count(ctx, nil, kvstore.WithTimeout(50*time.Millisecond)); !errors.Is(err, kvstore.ErrTimeout) {
		t.Error(err)
	}
}

func TestTheUUIDOfAStoreIsValidated(t *testing.T) {
	if _, err := kvstore.Open(withBox(t, &box{uuid: "not a uuid"})); !errors.Is(err, kvstore.ErrProtocol) {
		t.Error(err)
	}
}

func TestAContextHasTheStoreOfItsClient(t *testing.T) {
	store := &box{}
	client := must(kvstore.Open(withBox(t, store)))(t)
	defer client.Close()
	objects := must(client.Context(kvstore.ContextOptions{}))(t)
	defer objects.Close()
	must(objects.Insert("notes", note{ID: "a", Text: "milk"}))(t)
	must(objects.Save())(t)
	equal(t, len(store.records), 1)
	if err := objects.Update("notes", "a", kvstore.M{"text": "eggs"}); err != nil {
		t.Fatal(err)
	}
	// Somebody else changes it: without versions the library compares what it has read.
	store.mutex.Lock()
	store.records[`"a"`] = json.RawMessage(`{"_id":"a","text":"bread"}`)
	store.mutex.Unlock()
	if _, err := objects.Save(); !errors.Is(err, kvstore.ErrConflict) {
		t.Fatal(err)
	}
	conflict := must(objects.Conflicts())(t)[0]
	equal(t, string(conflict.Stored), `{"_id":"a","text":"bread"}`)
	if err := objects.Resolve(conflict.ObjectID, kvstore.UseObject); err != nil {
		t.Fatal(err)
	}
	must(objects.Save())(t)
	equal(t, must(kvstore.GetObject[note](objects, "notes", "a"))(t).Text, "eggs")
}
