package kvstore

// #include <kvstore.h>
import "C"

import (
	"context"
	"runtime"
)

// An UpdateResult is the result of an update.
type UpdateResult struct {
	// Matched is the number of entities that matched.
	Matched int `json:"matched"`
	// Modified is the number of entities that the update changed.
	Modified int `json:"modified"`
}

// Update changes members of the entities that match, in MongoDB's update language. Other members stay as they are:
//
//	notes.Update(ctx, query, kvstore.M{"$set": kvstore.M{"done": true}, "$inc": kvstore.M{"n": 1}})
//
// Locally, the update is atomic. If it does not fit one of the entities, it changes none and fails with ErrInvalid and
// the ID of that entity.
func (c *Collection[T]) Update(
	ctx context.Context, query *Query, update M, options ...Option,
) (UpdateResult, error) {
	return decode[UpdateResult](c.store.update(ctx, query, update, options))
}

// Version returns the local version of one entity, a number that grows with each local change. It fails with
// ErrNotFound if there is none.
func (c *Collection[T]) Version(id string) (int64, error) { return c.store.version(id) }

func (s *store) update(
	ctx context.Context, query *Query, update M, options []Option,
) ([]byte, error) {
	change, err := marshal(update)
	if err != nil {
		return nil, err
	}
	c, err := s.prepare(ctx, query, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	body, size := characters(change), C.size_t(len(change))
	if s.writes(c) {
		var text *C.char
		var length C.size_t
		var left *C.kv_error
		status := C.kv_store_update(s.handle, c.query, body, size, c.text, &text, &length, &left)
		return taken(text, length), check(status, left)
	}
	return run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_update_async(s.handle, c.query, body, size, c.text,
			r.done, r.context, r.free, q, e)
	})
}

func (s *store) version(id string) (int64, error) {
	key, err := terminated(id, "id")
	if err != nil {
		return 0, err
	}
	defer runtime.KeepAlive(s)
	var version C.int64_t
	var left *C.kv_error
	status := C.kv_store_version(s.handle, characters(key), &version, &left)
	return int64(version), check(status, left)
}
