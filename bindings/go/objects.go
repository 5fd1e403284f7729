package kvstore

// #include <stdlib.h>
// #include <kvstore.h>
import "C"

import (
	"runtime"
	"sync"
	"unsafe"
)

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
