package kvstore

// #include <kvstore.h>
import "C"

import "runtime"

// A Relationship leads to objects of the collection To. Either Key is the member that holds the id of the other object, or
// InverseKey the member of the other objects that holds the id of this one; then Single says that there is one at most.
type Relationship struct {
	To         string `json:"to"`
	Key        string `json:"key,omitempty"`
	InverseKey string `json:"inverseKey,omitempty"`
	Single     bool   `json:"single,omitempty"`
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

// A RelationshipTarget is where a relationship of a collection leads.
type RelationshipTarget struct {
	Name string `json:"name"`
	// To is the collection of the other objects; ToMany says that there may be several.
	To     string `json:"to"`
	ToMany bool   `json:"toMany"`
}

// Relationships lists the relationships of a collection by their names: those of the schema and those of the options.
func (x *Context) Relationships(collection string) ([]RelationshipTarget, error) {
	n := named(collection)
	defer n.free()
	return decode[[]RelationshipTarget](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_relationships(x.handle, n[0], out, length, left)
	}))
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
