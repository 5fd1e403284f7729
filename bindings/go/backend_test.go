package kvstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// A shelf is a backend that keeps records in memory, with versions and a history.
type shelf struct {
	mutex   sync.Mutex
	records map[string]map[string]json.RawMessage
	history []shelfChange
	// before runs before each method.
	before func(ctx context.Context, method string) error
}

type shelfChange struct {
	collection string
	change     kvstore.RecordChange
}

func newShelf() *shelf { return &shelf{records: map[string]map[string]json.RawMessage{}} }

func (s *shelf) begin(ctx context.Context, method string) error {
	if s.before == nil {
		return nil
	}
	return s.before(ctx, method)
}

func (s *shelf) put(collection string, record json.RawMessage) json.RawMessage {
	var members kvstore.M
	if err := json.Unmarshal(record, &members); err != nil {
		panic(err)
	}
	members["rev"] = len(s.history) + 1
	stored, _ := json.Marshal(members)
	if s.records[collection] == nil {
		s.records[collection] = map[string]json.RawMessage{}
	}
	s.records[collection][members["_id"].(string)] = stored
	s.history = append(s.history, shelfChange{collection, kvstore.RecordChange{Record: stored}})
	return stored
}

func (s *shelf) Fetch(ctx context.Context, fetch kvstore.Fetch) (kvstore.FetchedPage, error) {
	if err := s.begin(ctx, "fetch"); err != nil {
		return kvstore.FetchedPage{}, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var after string
	_ = json.Unmarshal(fetch.After, &after)
	var ids []string
	for id := range s.records[fetch.Collection] {
		if id > after {
			ids = append(ids, id)
		}
	}
	sort.Strings(ids)
	page := kvstore.FetchedPage{Token: strconv.Itoa(len(s.history))}
	for _, id := range ids {
		if len(page.Records) == fetch.PageSize {
			page.Next = after
			break
		}
		page.Records, after = append(page.Records, s.records[fetch.Collection][id]), id
	}
	return page, nil
}

func (s *shelf) FetchIDs(ctx context.Context, collection string, ids []json.RawMessage) ([]json.RawMessage, error) {
	if err := s.begin(ctx, "fetch ids"); err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var found []json.RawMessage
	for _, id := range ids {
		if record := s.records[collection][textOf(id)]; record != nil {
			found = append(found, record)
		}
	}
	return found, nil
}

func (s *shelf) Write(ctx context.Context, collection string, writes []kvstore.Write) ([]kvstore.WriteResult, error) {
	if err := s.begin(ctx, "write"); err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var results []kvstore.WriteResult
	for _, write := range writes {
		results = append(results, s.carryOut(collection, write))
	}
	return results, nil
}

func (s *shelf) carryOut(collection string, write kvstore.Write) kvstore.WriteResult {
	id := textOf(write.ID)
	found := s.records[collection][id]
	if !write.MayReplace(versionOf(found)) {
		return kvstore.WriteConflict(found)
	}
	if write.Operation != "delete" {
		return kvstore.WriteStored(s.put(collection, write.Record))
	}
	delete(s.records[collection], id)
	if found != nil {
		s.history = append(s.history, shelfChange{collection, kvstore.RecordChange{ID: id}})
	}
	return kvstore.WriteDeleted(found != nil)
}

func versionOf(record json.RawMessage) json.RawMessage {
	if record == nil {
		return nil
	}
	var members struct{ Rev json.RawMessage }
	_ = json.Unmarshal(record, &members)
	return members.Rev
}

func textOf(id json.RawMessage) string {
	var text string
	_ = json.Unmarshal(id, &text)
	return text
}

// A diary is a shelf that reports changes.
type diary struct {
	*shelf
	received int
}

func (d *diary) ChangedSince(_ context.Context, collection, token string) (kvstore.ChangedPage, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.received++
	since, err := strconv.Atoi(token)
	if err != nil || since > len(d.history) {
		return kvstore.ChangedPage{}, kvstore.ErrUnknownToken
	}
	page := kvstore.ChangedPage{Token: strconv.Itoa(len(d.history))}
	for _, next := range d.history[since:] {
		if next.collection == collection {
			page.Changes = append(page.Changes, next.change)
		}
	}
	return page, nil
}

// withBackend registers a backend for a test and opens a client with it.
func withBackend(t *testing.T, service kvstore.BackendService, options kvstore.BackendOptions) func() *kvstore.Client {
	t.Helper()
	name := t.Name()
	options.Version = kvstore.VersionMember{Path: []string{"rev"}, Integer: true}
	if err := kvstore.RegisterBackend(name, service, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kvstore.UnregisterBackend(name); err != nil {
			t.Error(err)
		}
	})
	return func() *kvstore.Client {
		client := must(kvstore.Open(kvstore.Options{AppKey: "kid", Backend: name, DataDirectory: t.TempDir(), Retries: -1}))(t)
		t.Cleanup(func() { client.Close() })
		return client
	}
}

func TestClientsShareABackendOfTheProgram(t *testing.T) {
	open := withBackend(t, newShelf(), kvstore.BackendOptions{PageSize: 3})
	ours := collection[note](t, open(), "notes", kvstore.Sync)
	theirs := collection[note](t, open(), "notes", kvstore.Sync)
	for number := 0; number < 10; number++ {
		must(ours.Save(ctx, note{ID: strconv.Itoa(number), Text: "ours"}))(t)
	}
	equal(t, must(ours.Push(ctx))(t).Pushed, 10)
	equal(t, must(theirs.Pull(ctx, nil))(t).Pulled, 10)
	must(theirs.RemoveByID(ctx, "3"))(t)
	must(theirs.Save(ctx, note{ID: "4", Text: "theirs"}))(t)
	equal(t, must(theirs.Sync(ctx, nil))(t).Pushed, 2)
	must(ours.Pull(ctx, nil))(t)
	equal(t, must(ours.Get(ctx, "4"))(t).Text, "theirs")
	if _, err := ours.Get(ctx, "3"); !errors.Is(err, kvstore.ErrNotFound) {
		t.Error(err)
	}
}

func TestABackendThatTellsChangesIsAskedForThese(t *testing.T) {
	service := &diary{shelf: newShelf()}
	open := withBackend(t, service, kvstore.BackendOptions{})
	service.put("notes", json.RawMessage(`{"_id":"a"}`))
	notes := collection[note](t, open(), "notes", kvstore.Sync)
	must(notes.Pull(ctx, nil, kvstore.WithDeltaSet()))(t)
	service.put("notes", json.RawMessage(`{"_id":"b"}`))
	service.carryOut("notes", kvstore.Write{Operation: "delete", ID: json.RawMessage(`"a"`)})
	must(notes.Pull(ctx, nil, kvstore.WithDeltaSet()))(t)
	equal(t, service.received, 1)
	equal(t, len(must(notes.All(ctx, nil))(t)), 1)
	service.history = nil
	must(notes.Pull(ctx, nil, kvstore.WithDeltaSet()))(t)
	equal(t, service.received, 2)
}

func TestABackendsConflictIsDecidedByTheStrategy(t *testing.T) {
	service := newShelf()
	notes := collection[note](t, withBackend(t, service, kvstore.BackendOptions{})(), "notes", kvstore.Sync)
	must(notes.Save(ctx, note{ID: "a", Text: "both"}))(t)
	must(notes.Push(ctx))(t)
	service.put("notes", json.RawMessage(`{"_id":"a","text":"theirs"}`))
	must(notes.Save(ctx, note{ID: "a", Text: "ours"}))(t)
	result := must(notes.Push(ctx, kvstore.WithConflicts(kvstore.Optimistic)))(t)
	equal(t, len(result.Errors), 1)
	if !errors.Is(result.Errors[0], kvstore.ErrConflict) {
		t.Error(result.Errors[0])
	}
}

func TestWhatABackendReturnsAsErrorIsTheError(t *testing.T) {
	service := newShelf()
	open := withBackend(t, service, kvstore.BackendOptions{})
	notes := collection[note](t, open(), "notes", kvstore.Sync)
	must(notes.Save(ctx, note{ID: "a"}))(t)
	for _, failure := range []struct {
		raised   error
		expected kvstore.Status
	}{
		{errors.New("cut"), kvstore.ErrNetwork},
		{os.ErrPermission, kvstore.ErrForbidden},
		{kvstore.ErrTooLarge, kvstore.ErrTooLarge},
		{os.ErrDeadlineExceeded, kvstore.ErrTimeout},
	} {
		raised, expected := failure.raised, failure.expected
		service.before = func(context.Context, string) error { return raised }
		network := collection[note](t, open(), "notes", kvstore.Network)
		if _, err := network.All(ctx, nil); !errors.Is(err, expected) {
			t.Errorf("%v became %v", raised, err)
		}
	}
	equal(t, must(notes.Pending().Len())(t), 1)
	service.before = nil
	equal(t, must(notes.Push(ctx))(t).Pushed, 1)
}

func TestAPanicOfABackendIsAnError(t *testing.T) {
	service := newShelf()
	notes := collection[note](t, withBackend(t, service, kvstore.BackendOptions{})(), "notes", kvstore.Sync)
	must(notes.Save(ctx, note{ID: "a"}))(t)
	service.before = func(context.Context, string) error { panic("my defect") }
	if _, err := notes.Pull(ctx, nil); err == nil {
		t.Error("a panic went unnoticed")
	}
	notes.Push(ctx)
	service.before = nil
	equal(t, must(notes.Push(ctx))(t).Pushed, 1)
}

func TestTheContextOfABackendsRequestEndsWithIt(t *testing.T) {
	service := newShelf()
	notes := collection[note](t, withBackend(t, service, kvstore.BackendOptions{})(), "notes", kvstore.Sync)
	ended := make(chan error, 20)
	var isCalled atomic.Bool
	service.before = func(ctx context.Context, _ string) error {
		isCalled.Store(true)
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}
	// A slow machine may need longer than that until the method is called.
	for timeout := 100 * time.Millisecond; !isCalled.Load(); timeout *= 2 {
		if _, err := notes.Pull(ctx, nil, kvstore.WithTimeout(timeout)); !errors.Is(err, kvstore.ErrTimeout) {
			t.Fatal(err)
		}
	}
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the request was never cancelled")
	}
}

func TestANameOfABackendIsGivenOnce(t *testing.T) {
	withBackend(t, newShelf(), kvstore.BackendOptions{})
	err := kvstore.RegisterBackend(t.Name(), newShelf(), kvstore.BackendOptions{})
	if !errors.Is(err, kvstore.ErrConflict) {
		t.Error(err)
	}
	if err := kvstore.UnregisterBackend("nobody's"); !errors.Is(err, kvstore.ErrNotFound) {
		t.Error(err)
	}
	options := kvstore.Options{AppKey: "kid", Backend: "nobody's", DataDirectory: t.TempDir()}
	if _, err := kvstore.Open(options); err == nil {
		t.Error("a client was opened with a backend that nobody knows")
	}
}
