package kvstore

import (
	"encoding/json"
	"time"
)

// Progress is how far a call is. Totals are 0 while they are unknown.
type Progress struct {
	EntitiesDone, EntitiesTotal uint64
	BytesDone, BytesTotal       uint64
}

// PullResult is what a pull did to the local store.
type PullResult struct {
	Pulled  int `json:"pulled"`
	Removed int `json:"removed"`
}

// PushResult is what a push sent, and what was refused: that stays pending, with its error.
type PushResult struct {
	Pushed int      `json:"pushed"`
	Errors []*Error `json:"errors"`
	// Quarantined is how many writes are quarantined now, including those of earlier pushes: [Collection.Pending] has them,
	// [WithQuarantined] sends them once more.
	Quarantined int `json:"quarantined"`
	// Overwritten is how many accepted writes have replaced a version that was not seen here, as far as the backend lets
	// it be known.
	Overwritten int `json:"overwritten"`
}

// SyncResult is what a push and then a pull did. Nothing is pulled while a write waits that was not sent.
type SyncResult struct {
	PushResult
	PullResult
}

// SaveManyResult is what came of a save of many. Entities has the order and length of the input, with
// nil where it failed; the Index of an error is its index in the input.
type SaveManyResult[T any] struct {
	Entities []*T
	Errors   []*Error
}

// UnmarshalJSON reads the result as the library writes it.
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

// A PendingState says whether a pending write is sent by the next push.
type PendingState string

// A write waits until a push has sent it. What the backend refuses for good, and what has met another
// version there, is quarantined until it is retried, edited, reverted, dropped or changed.
const (
	Waiting    PendingState = "waiting"
	Refused    PendingState = "refused"
	InConflict PendingState = "conflict"
)

// A PendingWrite is one write that the backend has not confirmed.
type PendingWrite struct {
	ID string `json:"id"`
	// Operation is "create", "update" or "delete".
	Operation string       `json:"operation"`
	CreatedAt time.Time    `json:"createdAt"`
	ChangedAt time.Time    `json:"changedAt"`
	Attempts  int          `json:"attempts"`
	LastError *Error       `json:"lastError"`
	State     PendingState `json:"state"`
}

// PendingDetail is a pending write with what would be sent, the backend's version that it changes
// and, if it is quarantined, what the backend has; each nil if there is none, or it is unknown.
type PendingDetail struct {
	PendingWrite
	Entity json.RawMessage `json:"entity"`
	Base   json.RawMessage `json:"base"`
	Remote json.RawMessage `json:"remote"`
}
