package kvstore

// #include <kvstore.h>
import "C"

import (
	"context"
	"encoding/json"
	"runtime"
)

// Pending is the queue of a collection: its pending writes, at most one for each entity. Writes that the backend
// refuses for good, and conflicts that are left open, are quarantined: see [PendingState]. Only Retry uses the network.
type Pending struct {
	store *store
}

// Len returns the number of pending writes. It is 0 for a Network collection.
func (p *Pending) Len() (int, error) {
	var count C.int64_t
	var left *C.kv_error
	status := C.kv_store_sync_count(p.store.handle, &count, &left)
	runtime.KeepAlive(p.store)
	return int(count), check(status, left)
}

// List returns pending writes, oldest first. It starts after the id `after` ("": at the start) and returns at most
// limit of them (0: all).
func (p *Pending) List(after string, limit int) ([]PendingWrite, error) {
	if limit < 0 || int64(limit) > 1<<31 {
		return nil, invalid("the limit %d is out of range", limit)
	}
	var afterID []byte
	if after != "" {
		text, err := terminated(after, "id")
		if err != nil {
			return nil, err
		}
		afterID = text
	}
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_store_pending(p.store.handle, characters(afterID), C.uint32_t(limit),
		&text, &length, &left)
	runtime.KeepAlive(p.store)
	return decode[[]PendingWrite](taken(text, length), check(status, left))
}

// Get returns one pending write and the entity that it would send. It fails with ErrNotFound if there is none.
func (p *Pending) Get(id string) (PendingDetail, error) {
	key, err := terminated(id, "id")
	if err != nil {
		return PendingDetail{}, err
	}
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_store_pending_get(p.store.handle, characters(key), &text, &length, &left)
	runtime.KeepAlive(p.store)
	detail, err := decode[PendingDetail](taken(text, length), check(status, left))
	detail.Entity, detail.Base = unlessNull(detail.Entity), unlessNull(detail.Base)
	detail.Remote = unlessNull(detail.Remote)
	return detail, err
}

func unlessNull(text json.RawMessage) json.RawMessage {
	if string(text) == "null" {
		return nil
	}
	return text
}

// Retry sends one write now. If that fails, the write stays pending. After a conflict, it replaces the backend's
// version that the conflict was found with.
func (p *Pending) Retry(ctx context.Context, id string, options ...Option) error {
	key, err := terminated(id, "id")
	if err != nil {
		return err
	}
	c, err := p.store.prepare(ctx, nil, options)
	if err != nil {
		return err
	}
	defer p.store.done(c)
	_, err = run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_pending_retry_async(p.store.handle, characters(key), c.text,
			r.done, r.context, r.free, q, e)
	})
	return err
}

// Edit replaces the entity that a pending create or update would send, and resets its attempts and its error.
func (p *Pending) Edit(id string, entity any) error {
	key, err := terminated(id, "id")
	if err != nil {
		return err
	}
	body, err := marshal(entity)
	if err != nil {
		return err
	}
	var left *C.kv_error
	status := C.kv_store_pending_edit(p.store.handle, characters(key), characters(body),
		C.size_t(len(body)), &left)
	runtime.KeepAlive(p.store)
	return check(status, left)
}

// Revert discards one write and restores the local entity to the backend's version, as far as that is known.
func (p *Pending) Revert(id string) error {
	key, err := terminated(id, "id")
	if err != nil {
		return err
	}
	var left *C.kv_error
	status := C.kv_store_pending_revert(p.store.handle, characters(key), &left)
	runtime.KeepAlive(p.store)
	return check(status, left)
}

// Drop discards one write. The local entity stays as it is.
func (p *Pending) Drop(id string) error {
	key, err := terminated(id, "id")
	if err != nil {
		return err
	}
	var left *C.kv_error
	status := C.kv_store_pending_drop(p.store.handle, characters(key), &left)
	runtime.KeepAlive(p.store)
	return check(status, left)
}
