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

// A Subscription keeps calling back until it or its client is closed.
type Subscription struct {
	handle  *C.kv_subscription
	closing sync.Once
	closed  error
}

// Close ends it: when it returns, no callback is running and none will come; called inside the callback
// itself, that one is the last. A second time is harmless.
func (s *Subscription) Close() error {
	s.closing.Do(func() { s.closed = check(C.kv_subscription_close(s.handle), nil) })
	return s.closed
}

// End ends it like Close, and waits for the answer of the backend where it has to be told: live data that nobody else of
// this client listens to. What the backend says if it refuses is the error, or [ErrNetwork] if it cannot be told now; nothing
// is received any more in any case. Close is still to be called.
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

// A SyncEvent is what happened while a client synchronised. Members that do not apply are zero.
type SyncEvent struct {
	// Event is "started", "progress", "finished", "offline", "online", "loggedOut", "quarantined" or "overwritten"; others
	// may follow.
	Event string
	// Task tells one push, pull or sync from the other.
	Task int
	// Operation is "push", "pull" or "sync".
	Operation  string
	Collection string
	// Automatic tells that nobody asked for it but the option PushAutomatically.
	Automatic                   bool
	EntitiesDone, EntitiesTotal uint64
	BytesDone, BytesTotal       uint64
	// Result is what a finished call gave, as the library writes it.
	Result json.RawMessage
	Error  *Error
	// ID is the entity concerned.
	ID string
	// Remote is the version that was overwritten; null if it was a deletion.
	Remote json.RawMessage
}

// ObserveSync tells receive what happens while the client synchronises: pushes, pulls and syncs that start,
// get on and finish, the network that goes and comes back, a session that ends. receive runs on the client's
// callback thread.
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

// maxSyncEvents is how many may wait for who receives them.
const maxSyncEvents = 10000

// SyncEvents gives what [Client.ObserveSync] tells by a channel, which is closed when the context has ended or
// the client is closed. It is closed early if more than 10,000 events wait to be received.
func (c *Client) SyncEvents(ctx context.Context) (<-chan SyncEvent, error) {
	return channel(ctx, c.over, maxSyncEvents, func(s *stream[SyncEvent]) (*Subscription, error) {
		return c.ObserveSync(func(event SyncEvent) {
			if !s.offer(event) {
				s.end()
			}
		})
	})
}
