package kvstore

// #include <kvstore.h>
//
// void kvgoEvent(void *context, kv_event *event);
// void kvgoFree(void *context);
//
// static inline kv_event_fn kvgo_event_fn(void) { return (kv_event_fn)kvgoEvent; }
// static inline kv_free_fn kvgo_event_free_fn(void) { return kvgoFree; }
import "C"

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
)

// A Subscription calls back until it or its client is closed.
type Subscription struct {
	handle  *C.kv_subscription
	closing sync.Once
	closed  error
}

// Close ends the subscription. When it returns, no callback is running and none will follow. If it is called in the
// callback itself, that callback is the last. A second call does nothing.
func (s *Subscription) Close() error {
	s.closing.Do(func() { s.closed = check(C.kv_subscription_close(s.handle), nil) })
	return s.closed
}

// End closes the subscription as Close does and waits for the backend's answer, if this was the last subscription of
// the client to the same live data. It returns the error of the backend, or [ErrNetwork] if the backend cannot be
// reached. The subscription has ended in any case. Close must still be called.
func (s *Subscription) End(ctx context.Context, options ...Option) error {
	gathered := gather(options)
	text, err := gathered.text()
	if err != nil {
		return err
	}
	_, err = run(ctx, gathered, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_subscription_end_async(s.handle, characters(text), r.done, r.context, r.free, q, e)
	})
	return err
}

// A SyncEvent is an event of a client's synchronisation. Members that do not apply are zero.
type SyncEvent struct {
	// Event is "started", "progress", "finished", "offline", "online", "loggedOut", "quarantined", "overwritten",
	// "discarded", "conditionFailed" or "backendWentBack". Later versions may add others.
	Event string
	// Task is a number that identifies the push, pull or sync.
	Task int
	// Operation is "push", "pull" or "sync".
	Operation  string
	Collection string
	// Automatic says that the option PushAutomatically started it.
	Automatic                   bool
	EntitiesDone, EntitiesTotal uint64
	BytesDone, BytesTotal       uint64
	// Result is the result of a finished call, in the form that the library writes.
	Result json.RawMessage
	Error  *Error
	// ID is the id of the entity.
	ID string
	// Remote is the version that was overwritten, or that replaced a local change. It is null if that was a deletion.
	Remote json.RawMessage
	// Local is what a write that was discarded, or whose condition failed, was to save. It is null if that was a deletion.
	Local json.RawMessage
	// Lost are the changes of a "backendWentBack" that the backend had confirmed. Resent says that they are sent again.
	Lost   []LostVersion `json:"entities"`
	Resent bool
	// Active says whether the backend answers, IsEmpty whether no write waits.
	Active, IsEmpty bool
	// Collections are those that are read, in their order.
	Collections []string
	// What reading a collection has changed.
	Added, Updated, Deleted int
	// IsFullSync says that all of it was read, IsDeltaSync that only what has changed was.
	IsFullSync, IsDeltaSync bool
	// IsComplete says that nothing was left out, IsCapped that MaxRecords has ended the read.
	IsComplete, IsCapped bool
	// Entity is what the backend has after a write.
	Entity json.RawMessage
	// Changes are the entities that came from the backend.
	Changes []SyncChange
}

// A LostVersion is a change that the backend had confirmed before it went back to an older copy of its data.
type LostVersion struct {
	ID string `json:"id"`
	// Operation is "delete" if a deletion was confirmed and the backend has the entity again, or else "update".
	Operation string `json:"operation"`
	// Version is the version that was confirmed; of a deletion, the one that it removed.
	Version string `json:"version"`
	// RemoteVersion is the version that the backend has now. It is empty if the backend has none.
	RemoteVersion string `json:"remoteVersion"`
}

// ObserveSync calls receive for each event of the client's synchronisation: the start, progress and end of a push, pull
// or sync, the loss and return of the network, and the end of a session. receive runs on the client's callback thread.
func (c *Client) ObserveSync(receive func(SyncEvent)) (*Subscription, error) {
	subscription := &Subscription{}
	receiver := event(func(text []byte, err error) {
		event, wrong := unmarshal[SyncEvent](text)
		if err == nil && wrong == nil {
			receive(event)
		}
	})
	var left *C.kv_error
	status := C.kv_client_observe_sync(c.handle, C.kvgo_event_fn(), remember(receiver),
		C.kvgo_event_free_fn(), &subscription.handle, &left)
	runtime.KeepAlive(c)
	if err := check(status, left); err != nil {
		return nil, err
	}
	return subscription, nil
}

// maxSyncEvents is the number of events that may wait for the receiver.
const maxSyncEvents = 10000

// SyncEvents delivers the events of [Client.ObserveSync] by a channel. It is closed when the context has ended or the
// client is closed, and early if more than 10,000 events wait to be received.
func (c *Client) SyncEvents(ctx context.Context) (<-chan SyncEvent, error) {
	return channel(ctx, c.over, maxSyncEvents, func(s *stream[SyncEvent]) (*Subscription, error) {
		return c.ObserveSync(func(event SyncEvent) {
			if !s.offer(event) {
				s.end()
			}
		})
	})
}
