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

// A Conflict is an entity that was changed or deleted on this device, while the backend has another version than the
// one that the change started from.
type Conflict struct {
	ID string
	// Base is the version that both changes started from. It is nil if there was none or if it is unknown.
	Base json.RawMessage
	// Local is the entity that a push would send. It is nil if it was deleted on this device.
	Local json.RawMessage
	// Remote is the entity on the backend. It is nil if it was deleted there.
	Remote json.RawMessage
}

// A Decision is the answer of a conflict handler. The zero value leaves the conflict open.
type Decision struct {
	answer C.int32_t
	entity any
}

// LeaveOpen quarantines the write as a conflict.
func LeaveOpen() Decision { return Decision{} }

// KeepLocal replaces the backend's version by the local one.
func KeepLocal() Decision { return Decision{answer: C.KV_CONFLICT_KEEP} }

// TakeRemote replaces the local version by the backend's.
func TakeRemote() Decision { return Decision{answer: C.KV_CONFLICT_TAKE} }

// DeleteBoth deletes the entity locally and on the backend.
func DeleteBoth() Decision { return Decision{answer: C.KV_CONFLICT_DELETE} }

// Merged replaces both versions by an entity.
func Merged(entity any) Decision {
	return Decision{answer: C.KV_CONFLICT_MERGED, entity: entity}
}

// SetConflictHandler sets the function that decides the conflicts of this collection, unless [WithConflicts] says
// otherwise; nil removes it. The function runs on the client's callback thread. It may call anything, even close the
// client. If a merged entity is not JSON, the conflict stays open.
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
