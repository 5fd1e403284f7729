package kvstore

import (
	"encoding/json"
	"time"
)

// Progress is the progress of a call. A total is 0 while it is unknown.
type Progress struct {
	EntitiesDone, EntitiesTotal uint64
	BytesDone, BytesTotal       uint64
}

// PullResult is the effect of a pull on the local store.
type PullResult struct {
	Pulled  int `json:"pulled"`
	Removed int `json:"removed"`
}

// PushResult has what a push sent and the errors of refused writes, which stay pending.
type PushResult struct {
	Pushed int      `json:"pushed"`
	Errors []*Error `json:"errors"`
	// Quarantined is the number of writes in quarantine now, including those of earlier pushes. [Collection.Pending] lists
	// them, and [WithQuarantined] sends them again.
	Quarantined int `json:"quarantined"`
	// Overwritten is the number of accepted writes that replaced a version unknown to this device, as far as the backend
	// reports that.
	Overwritten int `json:"overwritten"`
	// Discarded is the number of writes that were given up for what the backend has, as a whole or in part. The event
	// "discarded" has both versions.
	Discarded int `json:"discarded"`
}

// SyncResult is the result of a push and then a pull. The pull is left out while a write is still waiting to be sent.
type SyncResult struct {
	PushResult
	PullResult
}

// SaveManyResult is the result of SaveMany. Entities has the order and the length of the input, with nil where a save
// failed. The Index of an error is the index in the input.
type SaveManyResult[T any] struct {
	Entities []*T
	Errors   []*Error
}

// UnmarshalJSON reads the result in the form that the library writes.
func (r *SaveManyResult[T]) UnmarshalJSON(text []byte) error {
	var members struct {
		Entities []json.RawMessage
		Errors   []*Error
	}
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	r.Errors = members.Errors
	r.Entities = make([]*T, len(members.Entities))
	for index, one := range members.Entities {
		if one == nil || string(one) == "null" {
			continue
		}
		entity, err := unmarshal[T](one)
		if err != nil {
			return err
		}
		r.Entities[index] = &entity
	}
	return nil
}

// A PendingState says whether the next push sends a pending write.
type PendingState string

// A waiting write is sent by the next push. A quarantined write was refused for good by the backend, or met another
// version there. It stays in quarantine until it is retried, edited, reverted, dropped or changed.
const (
	Waiting    PendingState = "waiting"
	Refused    PendingState = "refused"
	InConflict PendingState = "conflict"
	// BackendWentBack is the state of a change that the backend had confirmed before it went back to an older copy of its
	// data: see [BackendReset].
	BackendWentBack PendingState = "backendWentBack"
)

// A PendingWrite is a write that the backend has not confirmed.
type PendingWrite struct {
	ID string `json:"id"`
	// Operation is "create", "update" or "delete".
	Operation string       `json:"operation"`
	CreatedAt time.Time    `json:"createdAt"`
	ChangedAt time.Time    `json:"changedAt"`
	Attempts  int          `json:"attempts"`
	LastError *Error       `json:"lastError"`
	State     PendingState `json:"state"`
	// Condition is the filter that the backend's entity has to match when the write is sent. It is nil if the write was
	// not made on one.
	Condition json.RawMessage `json:"if"`
}

// PendingDetail is a pending write with the entity that it would send, the backend's version that the change started
// from and, in quarantine, the backend's current version. Each of them is nil if it does not exist or is unknown.
type PendingDetail struct {
	PendingWrite
	Entity json.RawMessage `json:"entity"`
	Base   json.RawMessage `json:"base"`
	Remote json.RawMessage `json:"remote"`
}
