package kvstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

var ctx = context.Background()

type note struct {
	ID     string `json:"_id,omitempty"`
	Text   string `json:"text,omitempty"`
	Number int    `json:"number,omitempty"`
}

func numbers(t *testing.T, notes *kvstore.Collection[note], count int) {
	t.Helper()
	all := make([]note, count)
	for number := range all {
		all[number] = note{ID: fmt.Sprintf("n%04d", number), Number: number}
	}
	result := must(notes.SaveMany(ctx, all))(t)
	equal(t, len(result.Errors), 0)
	equal(t, len(result.Entities), count)
}

func TestASavedEntityIsFoundByItsID(t *testing.T) {
	notes := local(t)
	saved := must(notes.Save(ctx, note{Text: `<"mlék"> & 🜁`, Number: 2}))(t)
	equal(t, must(notes.Get(ctx, saved.ID))(t), saved)
	equal(t, saved.Text, `<"mlék"> & 🜁`)
}

func TestIDsAreFoundTogetherInTheirOrder(t *testing.T) {
	notes := local(t)
	saved := must(notes.Save(ctx, note{Text: "milk"}))(t)
	found := must(notes.GetMany(ctx, []string{"nothing", saved.ID, saved.ID}))(t)
	if len(found) != 3 || found[0] != nil || *found[1] != saved || *found[2] != saved {
		t.Error(found)
	}
	equal(t, len(must(notes.GetMany(ctx, nil))(t)), 0)
	if _, err := notes.GetMany(ctx, []string{""}); !errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := notes.GetMany(gone, []string{saved.ID}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	_, err := local(t).Get(ctx, "nothing")
	if !errors.Is(err, kvstore.ErrNotFound) || errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
	var described *kvstore.Error
	if !errors.As(fmt.Errorf("wrapped: %w", err), &described) {
		t.Fatal(err)
	}
	equal(t, described.ID, "nothing")
	equal(t, described.Index, -1)
	if !strings.Contains(err.Error(), `(KV_NOT_FOUND, id "nothing")`) {
		t.Error(err)
	}
}

func TestRawEntitiesKeepTheirBytes(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	raw := collection[json.RawMessage](t, client, "notes", kvstore.Sync)
	must(raw.Save(ctx, json.RawMessage(`{"_id":"n1","number":1.50}`)))(t)
	if text := string(must(raw.Get(ctx, "n1"))(t)); !strings.Contains(text, `"number":1.50`) {
		t.Error(text)
	}
	_, err := raw.Save(ctx, json.RawMessage(`{"a":1,}`))
	var described *kvstore.Error
	if !errors.As(err, &described) || described.Position < 0 {
		t.Error(err)
	}
}

func TestNothingIsSavedIfOneOfManyIsNoEntity(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	notes := collection[kvstore.M](t, client, "notes", kvstore.Sync)
	_, err := notes.SaveMany(ctx, []kvstore.M{{"_id": "n1"}, {"_id": 5}, {"_id": "n3"}})
	if !errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
	equal(t, must(notes.Count(ctx, nil))(t), 0)
}

func TestAQueryFiltersSortsAndPages(t *testing.T) {
	notes := local(t)
	numbers(t, notes, 1000)
	found := must(notes.All(ctx, &kvstore.Query{
		Filter: kvstore.M{"number": kvstore.M{"$gte": 10}},
		Sort:   []kvstore.SortKey{kvstore.Descending("number"), kvstore.Ascending("_id")},
		Skip:   5, Limit: 3, Fields: []string{"number"},
	}))(t)
	equal(t, fmt.Sprint(found), "[{n0994  994} {n0993  993} {n0992  992}]")
	equal(t, must(notes.Count(ctx, &kvstore.Query{Filter: kvstore.M{"number": 7}}))(t), 1)
}

func TestABadQueryIsInvalid(t *testing.T) {
	notes := local(t)
	for _, filter := range []any{kvstore.M{"a": kvstore.M{"$noSuchOperator": 1}}, func() {}} {
		if _, err := notes.Find(ctx, &kvstore.Query{Filter: filter}); !errors.Is(err, kvstore.ErrInvalid) {
			t.Error(err)
		}
	}
}

func TestAnIteratorGivesAllEntitiesOnce(t *testing.T) {
	notes := local(t)
	numbers(t, notes, 1500)
	seen := map[string]bool{}
	it := must(notes.Find(ctx, nil))(t)
	for it.Next() {
		seen[it.Value().ID] = true
	}
	if err := it.Err(); err != nil {
		t.Error(err)
	}
	equal(t, len(seen), 1500)
	equal(t, kvstore.LiveObjects("cursor"), 0)
	equal(t, it.Next(), false)
}

func TestAnIteratorCanBeLeftEarly(t *testing.T) {
	notes := local(t)
	numbers(t, notes, 100)
	it := must(notes.Find(ctx, nil))(t)
	equal(t, it.Next(), true)
	for range [2]int{} {
		if err := it.Close(); err != nil {
			t.Error(err)
		}
	}
	equal(t, it.Next(), false)
	equal(t, kvstore.LiveObjects("cursor"), 0)
}

func TestAnIteratorEndsWithItsContext(t *testing.T) {
	notes := local(t)
	numbers(t, notes, 100)
	limited, cancel := context.WithCancel(ctx)
	it := must(notes.Find(limited, nil))(t)
	equal(t, it.Next(), true)
	cancel()
	for it.Next() {
	}
	if !errors.Is(it.Err(), context.Canceled) || !errors.Is(it.Err(), kvstore.ErrCancelled) {
		t.Error(it.Err())
	}
}

func TestRemovedEntitiesAreCounted(t *testing.T) {
	notes := local(t)
	numbers(t, notes, 10)
	equal(t, must(notes.RemoveByID(ctx, "n0000"))(t), 1)
	equal(t, must(notes.RemoveByID(ctx, "n0000"))(t), 0)
	big := &kvstore.Query{Filter: kvstore.M{"number": kvstore.M{"$gte": 5}}}
	equal(t, must(notes.Remove(ctx, big))(t), 5)
	if _, err := notes.Remove(ctx, nil); !errors.Is(err, kvstore.ErrInvalid) {
		t.Errorf("%v", err)
	}
	equal(t, must(notes.RemoveAll(ctx))(t), 4)
}

func TestANulInAnIDIsRefused(t *testing.T) {
	if _, err := local(t).Get(ctx, "n1\x00x"); !errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
}

func TestAContextThatHasEndedStopsLocalCallsToo(t *testing.T) {
	notes := local(t)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := notes.Save(gone, note{ID: "n1"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	equal(t, must(notes.Count(ctx, nil))(t), 0)
}

func TestManyGoroutinesUseOneCollection(t *testing.T) {
	notes := local(t)
	var group sync.WaitGroup
	for worker := 0; worker < 8; worker++ {
		group.Add(1)
		go func(worker int) {
			defer group.Done()
			for number := 0; number < 50; number++ {
				id := fmt.Sprintf("%d-%d", worker, number)
				if _, err := notes.Save(ctx, note{ID: id}); err != nil {
					t.Error(err)
				}
				if found, err := notes.Get(ctx, id); err != nil || found.ID != id {
					t.Error(found, err)
				}
			}
		}(worker)
	}
	group.Wait()
	equal(t, must(notes.Count(ctx, nil))(t), 400)
}

func TestClosingTwiceIsHarmlessAndUseIsMisuse(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	notes := collection[note](t, client, "notes", kvstore.Sync)
	for range [2]int{} {
		if err := notes.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := notes.Count(ctx, nil); !errors.Is(err, kvstore.ErrMisuse) {
		t.Error(err)
	}
	other := collection[note](t, client, "notes", kvstore.Sync)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

func TestThePendingQueueIsListedEditedAndDropped(t *testing.T) {
	notes := local(t)
	made := must(notes.Save(ctx, note{Text: "a"}))(t)
	must(notes.Save(ctx, note{ID: "chosen"}))(t)
	queue := notes.Pending()
	equal(t, must(queue.Len())(t), 2)
	writes := must(queue.List("", 0))(t)
	equal(t, writes[0].ID+" "+writes[0].Operation, made.ID+" create")
	equal(t, writes[1].ID+" "+writes[1].Operation, "chosen create")
	equal(t, len(must(queue.List(made.ID, 5))(t)), 1)

	if err := queue.Edit(made.ID, note{ID: made.ID, Text: "b"}); err != nil {
		t.Error(err)
	}
	detail := must(queue.Get(made.ID))(t)
	if !strings.Contains(string(detail.Entity), `"b"`) || detail.Base != nil || detail.LastError != nil {
		t.Error(detail)
	}
	if err := queue.Drop("chosen"); err != nil {
		t.Error(err)
	}
	if err := queue.Drop("chosen"); !errors.Is(err, kvstore.ErrNotFound) {
		t.Error(err)
	}
	equal(t, must(notes.Purge(nil))(t), 1)
	equal(t, must(notes.Clear(nil))(t), 2)
}

func TestAPredicateFormatChooses(t *testing.T) {
	notes := local(t)
	numbers(t, notes, 20)
	query := &kvstore.Query{
		Format: "number BETWEEN {%d, $high}", Arguments: []any{3}, Variables: kvstore.M{"high": 5},
	}
	equal(t, must(notes.Count(ctx, query))(t), 3)
	equal(t, must(notes.Count(ctx, &kvstore.Query{Format: "number > 0 AND number * 2 = number + 7"}))(t), 1)
	_, err := notes.Count(ctx, &kvstore.Query{Format: "number ="})
	if !errors.Is(err, kvstore.ErrInvalid) || !strings.Contains(err.Error(), "expected") {
		t.Error(err)
	}
}

func TestAStoreMayGiveMembersOtherNames(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	names := kvstore.WithKeyMap(map[string]string{"title": "t", "pages": "p"})
	books := collection[kvstore.M](t, client, "books", kvstore.Sync, names)
	must(books.SaveMany(ctx, []kvstore.M{{"_id": "1", "t": "b", "p": 2}, {"_id": "2", "t": "a", "p": 1}}))(t)
	found := must(books.All(ctx, &kvstore.Query{
		Format: "title != %@", Arguments: []any{"x"},
		Sort: []kvstore.SortKey{kvstore.Ascending("title")}, Fields: []string{"pages"},
	}))(t)
	// Entities keep the backend's names.
	equal(t, fmt.Sprint(found), "[map[_id:2 p:1] map[_id:1 p:2]]")
	equal(t, must(books.Count(ctx, &kvstore.Query{Filter: kvstore.M{"title": "b"}}))(t), 1)
	_, err := kvstore.OpenCollection[kvstore.M](
		client, "books", kvstore.Sync, kvstore.WithKeyMap(map[string]string{"a": ""}))
	if !errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
}

func TestAClientMaySendWhatTheOriginalOneSends(t *testing.T) {
	for _, isOriginal := range []bool{false, true} {
		client := open(t, kvstore.Options{AppSecret: appSecret, Host: host, OriginalForms: isOriginal})
		must(client.Signup(ctx, kvstore.M{"username": unique(), "password": "a password"}))(t)
		books := collection[kvstore.M](t, client, unique(), kvstore.Network)
		must(books.SaveMany(ctx, []kvstore.M{{"t": "x"}, {"t": "xy"}, {"t": "/x/"}}))(t)
		found := must(books.All(ctx, &kvstore.Query{Format: "t LIKE %@", Arguments: []any{"x"}}))(t)
		equal(t, len(found), 1)
		equal(t, found[0]["t"] == "/x/", isOriginal)
	}
}
