package kvstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// A box is a store that keeps records in memory.
type box struct {
	mutex   sync.Mutex
	records map[string]json.RawMessage
	// hangs makes Fetch wait until it has no waiter any more.
	hangs bool
	uuid  string
	// kind is the name that the store is registered by.
	kind string
	// short makes Save answer with too few records.
	short bool
}

func (b *box) Load(context.Context, kvstore.StoreLocation) (kvstore.StoreMetadata, error) {
	return kvstore.StoreMetadata{Type: b.kind, UUID: b.uuid}, nil
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
	return withStore(t, "box", store, store, kvstore.BackendOptions{})
}

// withStore registers a store for a test that keeps its records in a box.
func withStore(
	t *testing.T, name string, store kvstore.CustomStore, within *box, options kvstore.BackendOptions,
) kvstore.Options {
	t.Helper()
	within.kind = name
	within.records = map[string]json.RawMessage{}
	if within.uuid == "" {
		within.uuid = name + "-1"
	}
	if err := kvstore.RegisterStore(name, store, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kvstore.UnregisterStore(name); err != nil {
			t.Error(err)
		}
	})
	return kvstore.Options{AppKey: "kid", Store: name, DataDirectory: t.TempDir(), Retries: -1}
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
	// Another writer changes it: without versions the library compares what it has read.
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

// A choosingBox chooses the ids of new records.
type choosingBox struct{ box }

func (b *choosingBox) ObtainIDs(_ context.Context, objects []kvstore.NewRecord) ([]any, error) {
	ids := make([]any, len(objects))
	for index, object := range objects {
		var record struct{ Text string }
		if err := json.Unmarshal(object.Record, &record); err != nil {
			return nil, err
		}
		ids[index] = "chosen-" + record.Text
	}
	return ids, nil
}

func TestAStoreChoosesIDsAndTheTemporaryOnesStayValid(t *testing.T) {
	store := &choosingBox{}
	client := must(kvstore.Open(withStore(t, "choosing", store, &store.box, kvstore.BackendOptions{})))(t)
	defer client.Close()
	objects := must(client.Context(kvstore.ContextOptions{}))(t)
	defer objects.Close()
	temporary := must(objects.Insert("notes", kvstore.M{"text": "a"}))(t)
	obtained := must(objects.ObtainIDs())(t)
	equal(t, len(obtained), 1)
	equal(t, obtained[0], kvstore.PermanentID{
		ObjectID: kvstore.ObjectID{Collection: "notes", ID: "chosen-a"}, Temporary: temporary})
	equal(t, must(objects.Save())(t).Inserted[0].ID, "chosen-a")
	equal(t, must(kvstore.GetObject[note](objects, "notes", temporary))(t).ID, "chosen-a")
	late := must(objects.Insert("notes", kvstore.M{"text": "b"}))(t)
	saved := must(objects.Save())(t)
	equal(t, len(saved.PermanentIDs), 1)
	equal(t, saved.PermanentIDs[0].Temporary, late)
	equal(t, saved.PermanentIDs[0].ID, "chosen-b")
}

func TestAContextFetchesFromItsStoreWithItsChanges(t *testing.T) {
	client := must(kvstore.Open(withBox(t, &box{})))(t)
	defer client.Close()
	notes := collection[note](t, client, "notes", kvstore.Sync)
	must(notes.SaveMany(ctx, []note{{ID: "a", Text: "milk"}, {ID: "b", Text: "eggs"}}))(t)
	objects := must(client.Context(kvstore.ContextOptions{}))(t)
	defer objects.Close()
	must(objects.Insert("notes", note{ID: "c", Text: "nuts"}))(t)
	query := &kvstore.Query{Sort: []kvstore.SortKey{kvstore.Descending("text")}}
	for ignores, first := range map[bool]string{false: "nuts", true: "milk"} {
		found := must(kvstore.FetchObjects[note](objects, "notes", query,
			kvstore.FetchOptions{IgnoresChanges: ignores}))(t)
		one, _, err := found.At(0)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, one.Text, first)
		found.Close()
	}
}

func TestAListFollowsWhatTheStoreAnnounces(t *testing.T) {
	store := &box{}
	client := must(kvstore.Open(withBox(t, store)))(t)
	defer client.Close()
	objects := must(client.Context(kvstore.ContextOptions{}))(t)
	defer objects.Close()
	found := must(kvstore.FetchObjects[note](objects, "notes", nil, kvstore.FetchOptions{}))(t)
	defer found.Close()
	told := make(chan kvstore.ListChanges, 10)
	subscription := must(found.Observe(func(changes kvstore.ListChanges, err error) {
		if err == nil {
			told <- changes
		}
	}))(t)
	defer subscription.Close()
	for count, announced := range [][]kvstore.StoreChanges{
		{{Collection: "others"}, {Collection: "notes", IDs: []any{"0"}}}, {{Collection: "notes"}}, nil,
	} {
		// Another program writes to the store.
		id := strconv.Itoa(count)
		store.mutex.Lock()
		if store.records == nil {
			store.records = map[string]json.RawMessage{}
		}
		store.records[strconv.Quote(id)] = json.RawMessage(`{"_id":"` + id + `"}`)
		store.mutex.Unlock()
		if err := kvstore.AnnounceChanges("box", announced...); err != nil {
			t.Fatal(err)
		}
		equal(t, (<-told).Count, count+1)
	}
	if err := kvstore.AnnounceChanges("missing"); !errors.Is(err, kvstore.ErrNotFound) {
		t.Fatal(err)
	}
}

// A tellingBox finds by itself which notes belong to a list.
type tellingBox struct {
	box
	asked []kvstore.AskedRelationship
}

func (b *tellingBox) Relationship(_ context.Context, asked kvstore.AskedRelationship) ([][]json.RawMessage, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.asked = append(b.asked, asked)
	related := make([][]json.RawMessage, len(asked.IDs))
	for index := range related {
		related[index] = []json.RawMessage{json.RawMessage(`"b"`)}
	}
	return related, nil
}

func TestAStoreFindsWhatARelationshipLeadsTo(t *testing.T) {
	store := &tellingBox{}
	client := must(kvstore.Open(withStore(t, "telling", store, &store.box, kvstore.BackendOptions{})))(t)
	defer client.Close()
	notes := collection[note](t, client, "notes", kvstore.Sync)
	must(notes.SaveMany(ctx, []note{{ID: "a", Text: "a list"}, {ID: "b", Text: "milk"}}))(t)
	objects := must(client.Context(kvstore.ContextOptions{Relationships: map[string]map[string]kvstore.Relationship{
		"lists": {"notes": {To: "notes", InverseKey: "list"}},
	}}))(t)
	defer objects.Close()
	related := must(kvstore.RelatedObjects[note](objects, "lists", "a", "notes"))(t)
	defer related.Close()
	equal(t, related.Len(), 1)
	found, _, err := related.At(0)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, found.Text, "milk")
	equal(t, len(store.asked), 1)
	equal(t, store.asked[0].Name, "notes")
	equal(t, string(store.asked[0].IDs[0]), `"a"`)
}

func TestAURINamesAnObjectOfTheSamePlaceAndOfNoOther(t *testing.T) {
	store := &box{uuid: "place-1"}
	options := withBox(t, store)
	opened := func(check func(*kvstore.Context)) {
		client := must(kvstore.Open(options))(t)
		defer client.Close()
		objects := must(client.Context(kvstore.ContextOptions{}))(t)
		defer objects.Close()
		check(objects)
	}
	var uri string
	opened(func(objects *kvstore.Context) { uri = must(objects.Describe("notes", "a"))(t).URI })
	opened(func(objects *kvstore.Context) { equal(t, must(objects.Locate(uri))(t).ID, "a") })
	store.uuid = "place-2"
	if _, err := kvstore.Open(options); !errors.Is(err, kvstore.ErrProtocol) {
		t.Error(err)
	}
	options.DataDirectory = t.TempDir()
	opened(func(objects *kvstore.Context) {
		if _, err := objects.Locate(uri); !errors.Is(err, kvstore.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestAnObjectWithAnIntegerIDHasAnIntegerReference(t *testing.T) {
	store := &box{}
	options := kvstore.BackendOptions{ID: []kvstore.IDMember{{Name: "_id", Integer: true}}}
	client := must(kvstore.Open(withStore(t, "counted", store, store, options)))(t)
	defer client.Close()
	objects := must(client.Context(kvstore.ContextOptions{}))(t)
	defer objects.Close()
	must(objects.Insert("notes", kvstore.M{"_id": 7, "text": "milk"}))(t)
	must(objects.Save())(t)
	equal(t, string(store.records["7"]), `{"_id":7,"text":"milk"}`)
	described := must(objects.Describe("notes", "7"))(t)
	equal(t, string(described.Reference), "7")
	equal(t, string(must(objects.Locate(described.URI))(t).Reference), "7")
}
