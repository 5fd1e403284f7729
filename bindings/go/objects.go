package kvstore

// #include <stdlib.h>
// #include <kvstore.h>
import "C"

import (
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"unsafe"
)

// A MergePolicy says what [Context.Save] does with objects that were changed since the context read them.
type MergePolicy string

// Where both sides have changed a member, MergeStoreTrumps keeps the stored value and MergeObjectTrumps writes the context's;
// the other changes of both sides stay. MergeOverwrite writes the whole object, MergeRollback drops the context's change.
const (
	MergeError        MergePolicy = "error"
	MergeStoreTrumps  MergePolicy = "storeTrumps"
	MergeObjectTrumps MergePolicy = "objectTrumps"
	MergeOverwrite    MergePolicy = "overwrite"
	MergeRollback     MergePolicy = "rollback"
)

// A Relationship leads to objects of the collection To. Either Key is the member that holds the id of the other object, or
// InverseKey the member of the other objects that holds the id of this one; then Single says that there is one at most.
type Relationship struct {
	To         string `json:"to"`
	Key        string `json:"key,omitempty"`
	InverseKey string `json:"inverseKey,omitempty"`
	Single     bool   `json:"single,omitempty"`
}

// ContextOptions say how a [Context] behaves. The zero value is all right.
type ContextOptions struct {
	// MergePolicy is MergeError if it is empty.
	MergePolicy MergePolicy `json:"mergePolicy,omitempty"`
	// Relationships, by collections and names, besides those of the client's schema.
	Relationships map[string]map[string]Relationship `json:"relationships,omitempty"`
	// FetchBatchSize is how many faults are read together; 0: 100.
	FetchBatchSize int `json:"fetchBatchSize,omitempty"`
	// CacheBytes is how many bytes of unchanged objects are kept; 0: 4 MiB.
	CacheBytes int `json:"cacheBytes,omitempty"`
	// Type is that of the stores, "sync" if it is empty.
	Type string `json:"type,omitempty"`
	Tag  string `json:"tag,omitempty"`
	// Store and StoreOptions choose a type of stores of the application's own.
	Store        string `json:"store,omitempty"`
	StoreOptions any    `json:"storeOptions,omitempty"`
}

// An ObjectID names an object of a context.
type ObjectID struct {
	Collection string `json:"collection"`
	ID         string `json:"id"`
}

// A Context is a working copy of objects of several collections: it collects what is inserted, changed and deleted, and saves
// that in one step if the objects are still what it has read. Several goroutines may use it; their calls wait for each other.
type Context struct {
	// lock keeps the handle open during calls; closing waits.
	lock   sync.RWMutex
	handle *C.kv_context
	client *Client
}

// Context opens a context. Close it.
func (c *Client) Context(options ContextOptions) (*Context, error) {
	text, err := marshal(options)
	if err != nil {
		return nil, err
	}
	x := &Context{client: c}
	var left *C.kv_error
	status := C.kv_context_open(c.handle, characters(append(text, 0)), &x.handle, &left)
	runtime.KeepAlive(c)
	if err := check(status, left); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(x, (*Context).Close)
	return x, nil
}

// Close closes the context; what was not saved is lost. A second time is harmless.
func (x *Context) Close() error {
	x.lock.Lock()
	defer x.lock.Unlock()
	C.kv_context_close(x.handle)
	x.handle = nil
	runtime.SetFinalizer(x, nil)
	return nil
}

// names are texts for C.
type names []*C.char

func named(texts ...string) names {
	made := make(names, len(texts))
	for index, text := range texts {
		made[index] = C.CString(text)
	}
	return made
}

func (n names) free() {
	for _, text := range n {
		C.free(unsafe.Pointer(text))
	}
}

// text runs a call that gives a text.
func (x *Context) text(call func(**C.char, *C.size_t, **C.kv_error) C.kv_status) ([]byte, error) {
	x.lock.RLock()
	defer x.lock.RUnlock()
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := call(&text, &length, &left)
	runtime.KeepAlive(x.client)
	if err := check(status, left); err != nil {
		return nil, err
	}
	return taken(text, length), nil
}

// run runs a call without a result; false: it gave KV_DONE.
func (x *Context) run(call func(**C.kv_error) C.kv_status) (bool, error) {
	x.lock.RLock()
	defer x.lock.RUnlock()
	var left *C.kv_error
	status := call(&left)
	runtime.KeepAlive(x.client)
	return status != C.KV_DONE, check(status, left)
}

// Insert adds a new object and returns its id, which is permanent unless the store chooses ids itself.
func (x *Context) Insert(collection string, object any) (string, error) {
	text, err := marshal(object)
	if err != nil {
		return "", err
	}
	n := named(collection)
	defer n.free()
	id, err := x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_insert(x.handle, n[0], characters(text), C.size_t(len(text)), out, length, left)
	})
	return string(id), err
}

// GetObject gives an object with its unsaved changes. It is ErrNotFound if there is none.
func GetObject[T any](x *Context, collection, id string) (T, error) {
	n := named(collection, id)
	defer n.free()
	text, err := x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_get(x.handle, n[0], n[1], out, length, left)
	})
	return decode[T](text, err)
}

// Update changes the members that are given; the others stay.
func (x *Context) Update(collection, id string, members any) error {
	text, err := marshal(members)
	if err != nil {
		return err
	}
	n := named(collection, id)
	defer n.free()
	_, err = x.run(func(left **C.kv_error) C.kv_status {
		return C.kv_context_update(x.handle, n[0], n[1], characters(text), C.size_t(len(text)), left)
	})
	return err
}

// Set replaces all members of an object but its id and those that the backend makes.
func (x *Context) Set(collection, id string, object any) error {
	text, err := marshal(object)
	if err != nil {
		return err
	}
	n := named(collection, id)
	defer n.free()
	_, err = x.run(func(left **C.kv_error) C.kv_status {
		return C.kv_context_set(x.handle, n[0], n[1], characters(text), C.size_t(len(text)), left)
	})
	return err
}

// Delete deletes an object at the next save.
func (x *Context) Delete(collection, id string) error {
	n := named(collection, id)
	defer n.free()
	_, err := x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_delete(x.handle, n[0], n[1], left) })
	return err
}

// An ObjectStatus is what a context knows of an object.
type ObjectStatus struct {
	ID string `json:"id"`
	// State is "unchanged", "inserted", "updated" or "deleted".
	State string `json:"state"`
	// IsFault: the object would have to be read to give a member.
	IsFault     bool `json:"isFault"`
	IsTemporary bool `json:"isTemporary"`
	// Version is the local version that was read; nil: none.
	Version *int64 `json:"version"`
}

// Status tells what the context knows of an object, without reading it.
func (x *Context) Status(collection, id string) (ObjectStatus, error) {
	n := named(collection, id)
	defer n.free()
	return decode[ObjectStatus](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_status(x.handle, n[0], n[1], out, length, left)
	}))
}

// ContextChanges are the unsaved changes of a context.
type ContextChanges struct {
	Inserted []ObjectID `json:"inserted"`
	Updated  []ObjectID `json:"updated"`
	Deleted  []ObjectID `json:"deleted"`
}

// Changes lists the unsaved changes.
func (x *Context) Changes() (ContextChanges, error) {
	return decode[ContextChanges](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_changes(x.handle, out, length, left)
	}))
}

// FetchOptions say what a fetch of a context does besides finding.
type FetchOptions struct {
	// Prefetch names relationships that are followed at once, each with one query: "post", "comments.author".
	Prefetch []string
	// ReadsAtOnce: the objects are read by the fetch, as far as the cache has room.
	ReadsAtOnce bool
	// IgnoresChanges: only what is stored is found.
	IgnoresChanges bool
}

// FetchObjects gives what a query finds, with the unsaved changes, as a list whose objects are read in batches.
func FetchObjects[T any](x *Context, collection string, query *Query, options FetchOptions) (*Results[T], error) {
	return fetchObjects[T](x, collection, query, "object", options)
}

// FetchObjectIDs gives the ids of what a query finds; no object is read for them.
func FetchObjectIDs(x *Context, collection string, query *Query, options FetchOptions) (*Results[string], error) {
	return fetchObjects[string](x, collection, query, "objectId", options)
}

func fetchObjects[T any](
	x *Context, collection string, query *Query, kind string, options FetchOptions,
) (*Results[T], error) {
	text, err := marshal(map[string]any{
		"resultType": kind, "returnsObjectsAsFaults": !options.ReadsAtOnce,
		"includesPendingChanges":             !options.IgnoresChanges,
		"relationshipKeyPathsForPrefetching": append([]string{}, options.Prefetch...),
	})
	if err != nil {
		return nil, err
	}
	opened, err := query.open()
	if err != nil {
		return nil, err
	}
	defer C.kv_query_free(opened)
	n := named(collection)
	defer n.free()
	return listed[T](x, func(out **C.kv_results, left **C.kv_error) C.kv_status {
		return C.kv_context_fetch(x.handle, n[0], characters(text), C.size_t(len(text)), opened, out, left)
	})
}

// RelatedObjects gives the objects that a relationship of an object leads to. It is followed for all objects that were read
// together with this one, in one query.
func RelatedObjects[T any](x *Context, collection, id, relationship string) (*Results[T], error) {
	n := named(collection, id, relationship)
	defer n.free()
	return listed[T](x, func(out **C.kv_results, left **C.kv_error) C.kv_status {
		return C.kv_context_related(x.handle, n[0], n[1], n[2], nil, 0, out, left)
	})
}

func listed[T any](x *Context, call func(**C.kv_results, **C.kv_error) C.kv_status) (*Results[T], error) {
	var handle *C.kv_results
	_, err := x.run(func(left **C.kv_error) C.kv_status { return call(&handle, left) })
	if err != nil {
		return nil, err
	}
	list := &fetchedList{context: x, handle: handle}
	runtime.SetFinalizer(list, (*fetchedList).close)
	return resultsOf[T](list)
}

// A ContextSave is what a save has done.
type ContextSave struct {
	ContextChanges
	// Merged are the objects whose conflicts the merge policy decided.
	Merged []ObjectID `json:"merged"`
}

// Save writes all changes in one transaction and queues them for the backend. It is ErrConflict if an object was changed since
// it was read and the merge policy does not decide: then nothing is written, and Conflicts tells more.
func (x *Context) Save() (ContextSave, error) {
	return decode[ContextSave](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_save(x.handle, out, length, left)
	}))
}

// SaveDeciding saves, asks a function about each conflict, and tries again as long as it decides all of them. The function
// gives what [Context.Resolve] takes, or an error, which ends the save.
func (x *Context) SaveDeciding(decide func(MergeConflict) (MergeDecision, error)) (ContextSave, error) {
	for {
		saved, err := x.Save()
		if !errors.Is(err, ErrConflict) {
			return saved, err
		}
		conflicts, failure := x.Conflicts()
		if failure != nil {
			return saved, failure
		}
		if len(conflicts) == 0 {
			return saved, err
		}
		for _, conflict := range conflicts {
			decision, err := decide(conflict)
			if err != nil {
				return saved, err
			}
			if err := x.Resolve(conflict.ObjectID, decision); err != nil {
				return saved, err
			}
		}
	}
}

// A MergeConflict is an object that was changed by a context and, since that read it, by somebody else.
type MergeConflict struct {
	ObjectID
	// ReadVersion is nil for an object that is new, StoredVersion for one that was deleted.
	ReadVersion   *int64 `json:"readVersion"`
	StoredVersion *int64 `json:"storedVersion"`
	// Read is the object as the context read it, Object as it wants it, Stored as it is stored; JSON null: it is not there.
	Read   json.RawMessage `json:"read"`
	Object json.RawMessage `json:"object"`
	Stored json.RawMessage `json:"stored"`
}

// A MergeDecision ends a conflict. The zero value is none.
type MergeDecision struct {
	// Use is "stored", "object" or "merged".
	Use string `json:"use"`
	// Merged is written if Use is "merged"; nil deletes the object.
	Merged any `json:"object"`
}

// UseStored drops the context's change, UseObject writes it.
var (
	UseStored = MergeDecision{Use: "stored"}
	UseObject = MergeDecision{Use: "object"}
)

// UseMerged writes an object instead of both.
func UseMerged(object any) MergeDecision { return MergeDecision{Use: "merged", Merged: object} }

// Conflicts lists the conflicts of the last save.
func (x *Context) Conflicts() ([]MergeConflict, error) {
	return decode[[]MergeConflict](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_conflicts(x.handle, out, length, left)
	}))
}

// Resolve decides a conflict of the last save: the next one writes that, unless the object has changed again.
func (x *Context) Resolve(id ObjectID, decision MergeDecision) error {
	text, err := marshal(decision)
	if err != nil {
		return err
	}
	n := named(id.Collection, id.ID)
	defer n.free()
	_, err = x.run(func(left **C.kv_error) C.kv_status {
		return C.kv_context_resolve(x.handle, n[0], n[1], characters(text), C.size_t(len(text)), left)
	})
	return err
}

// Rollback drops all unsaved changes.
func (x *Context) Rollback() error {
	_, err := x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_rollback(x.handle, left) })
	return err
}

// Refresh makes objects (nil: all) faults again. Their unsaved changes are laid over what is stored now, or dropped.
func (x *Context) Refresh(ids []ObjectID, keepChanges bool) error {
	var keep C.int32_t
	if keepChanges {
		keep = 1
	}
	var text []byte
	if ids != nil {
		made, err := marshal(ids)
		if err != nil {
			return err
		}
		text = made
	}
	_, err := x.run(func(left **C.kv_error) C.kv_status {
		return C.kv_context_refresh(x.handle, characters(text), C.size_t(len(text)), keep, left)
	})
	return err
}

// Hold tells that the application shows objects: a save checks the version that was seen of them, even if they have left the
// cache. Release them as often.
func (x *Context) Hold(ids ...ObjectID) error {
	text, err := marshal(append([]ObjectID{}, ids...))
	if err != nil {
		return err
	}
	_, err = x.run(func(left **C.kv_error) C.kv_status {
		return C.kv_context_hold(x.handle, characters(text), C.size_t(len(text)), left)
	})
	return err
}

// Release ends what Hold began.
func (x *Context) Release(ids ...ObjectID) error {
	text, err := marshal(append([]ObjectID{}, ids...))
	if err != nil {
		return err
	}
	_, err = x.run(func(left **C.kv_error) C.kv_status {
		return C.kv_context_release(x.handle, characters(text), C.size_t(len(text)), left)
	})
	return err
}

// UndoGroup makes the edits of a function one, for Undo.
func (x *Context) UndoGroup(edit func() error) error {
	_, err := x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_undo_begin(x.handle, left) })
	if err != nil {
		return err
	}
	failure := edit()
	_, err = x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_undo_end(x.handle, left) })
	if failure != nil {
		return failure
	}
	return err
}

// Undo takes the last edit, or group of edits, back; false: there is none.
func (x *Context) Undo() (bool, error) {
	return x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_undo(x.handle, left) })
}

// Redo makes the edits again that were undone last; false: there are none.
func (x *Context) Redo() (bool, error) {
	return x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_redo(x.handle, left) })
}

// ObtainIDs asks a store that chooses ids for those of new objects, before a save does.
func (x *Context) ObtainIDs() error {
	_, err := x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_obtain_ids(x.handle, out, length, left)
	})
	return err
}

// An ObjectDescription has the names of an object.
type ObjectDescription struct {
	ObjectID
	// Reference is what the store knows the object by: a text, an integer or a list; null while the id is temporary.
	Reference json.RawMessage `json:"reference"`
	// URI names the object in each context of the store, also after a relaunch.
	URI         string `json:"uri"`
	IsTemporary bool   `json:"isTemporary"`
}

// Describe tells the names of an object.
func (x *Context) Describe(collection, id string) (ObjectDescription, error) {
	n := named(collection, id)
	defer n.free()
	return decode[ObjectDescription](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_describe(x.handle, n[0], n[1], out, length, left)
	}))
}

// Locate tells what a URI names. The object need not exist.
func (x *Context) Locate(uri string) (ObjectDescription, error) {
	n := named(uri)
	defer n.free()
	return decode[ObjectDescription](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_locate(x.handle, n[0], out, length, left)
	}))
}

// ContextStatistics are what a context has cost.
type ContextStatistics struct {
	Reads             int `json:"reads"`
	RelationshipReads int `json:"relationshipReads"`
	Fetches           int `json:"fetches"`
	Saves             int `json:"saves"`
	CachedObjects     int `json:"cachedObjects"`
	CachedBytes       int `json:"cachedBytes"`
	Changes           int `json:"changes"`
	Held              int `json:"held"`
}

// Statistics tells what the context has cost.
func (x *Context) Statistics() (ContextStatistics, error) {
	return decode[ContextStatistics](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_statistics(x.handle, out, length, left)
	}))
}
