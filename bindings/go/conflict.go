package kvstore

// #include <stdint.h>
// #include <kvstore.h>
//
// int32_t kvgoConflict(void *context, kv_conflict *conflict, char **merged);
// void kvgoFree(void *context);
//
// static inline kv_conflict_fn kvgo_conflict_fn(void) { return (kv_conflict_fn)kvgoConflict; }
// static inline kv_free_fn kvgo_free_conflict_fn(void) { return kvgoFree; }
import "C"

import (
	"encoding/json"
	"runtime"
)

// A Conflict is an entity that was changed or deleted here, while the backend has another version of
// it than the one that was changed.
type Conflict struct {
	ID string
	// Base is what both started from; nil: there was nothing, or it is unknown.
	Base json.RawMessage
	// Local is what would be sent; nil: it was deleted here.
	Local json.RawMessage
	// Remote is what the backend has; nil: it was deleted there.
	Remote json.RawMessage
}

// A Decision is what a conflict handler says; the zero one leaves the conflict open.
type Decision struct {
	answer C.int32_t
	entity any
}

// LeaveOpen sets the write aside, in conflict.
func LeaveOpen() Decision { return Decision{} }

// KeepLocal lets ours replace theirs.
func KeepLocal() Decision { return Decision{answer: C.KV_CONFLICT_KEEP} }

// TakeRemote lets theirs replace ours.
func TakeRemote() Decision { return Decision{answer: C.KV_CONFLICT_TAKE} }

// DeleteBoth deletes the entity, here and there.
func DeleteBoth() Decision { return Decision{answer: C.KV_CONFLICT_DELETE} }

// Merged replaces both versions by an entity.
func Merged(entity any) Decision {
	return Decision{answer: C.KV_CONFLICT_MERGED, entity: entity}
}

// SetConflictHandler lets a function decide the conflicts that calls of this collection meet, unless
// [WithConflicts] says otherwise; nil takes it away. It runs on the client's callback thread and may
// call anything, closing the client included. An entity that is no JSON leaves the conflict open.
func (c *Collection[T]) SetConflictHandler(decide func(Conflict) Decision) error {
	return c.store.setConflictHandler(decide)
}

func (s *store) setConflictHandler(decide func(Conflict) Decision) error {
	defer runtime.KeepAlive(s)
	var left *C.kv_error
	if decide == nil {
		return check(C.kv_store_set_conflict_handler(s.handle, nil, nil, nil, &left), left)
	}
	context := remember(decider(func(conflict Conflict) (C.int32_t, []byte) {
		decision := decide(conflict)
		if decision.answer != C.KV_CONFLICT_MERGED {
			return decision.answer, nil
		}
		entity, err := marshal(decision.entity)
		if err != nil {
			return C.KV_CONFLICT_LEAVE, nil
		}
		return decision.answer, entity
	}))
	status := C.kv_store_set_conflict_handler(s.handle, C.kvgo_conflict_fn(), context,
		C.kvgo_free_conflict_fn(), &left)
	return check(status, left)
}
