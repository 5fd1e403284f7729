package kvstore

// #include <kvstore.h>
//
// void kvgoEvent(void *context, kv_event *event);
// void kvgoFree(void *context);
//
// static inline kv_event_fn kvgo_states_fn(void) { return (kv_event_fn)kvgoEvent; }
// static inline kv_free_fn kvgo_states_free_fn(void) { return kvgoFree; }
import "C"

import (
	"context"
	"encoding/json"
	"runtime"
	"time"
)

// A FollowState is the state of a follow.
type FollowState string

// The states of follows.
const (
	// FollowStarting: nothing has been read yet.
	FollowStarting FollowState = "starting"
	// FollowCurrent: the local data is what the backend has, as of the live data or the last poll.
	FollowCurrent FollowState = "current"
	// FollowBehind: the local data is not up to date. It is being read, or the error says why that failed.
	FollowBehind FollowState = "behind"
	// FollowOffline: the backend does not answer.
	FollowOffline FollowState = "offline"
)

// FollowStatus describes a follow. Members that do not apply are zero.
type FollowStatus struct {
	Collection string
	// Filter is the filter of the followed query, as JSON.
	Filter json.RawMessage
	State  FollowState
	// Live reports whether changes arrive as live data. Otherwise the follow polls.
	Live bool
	// LastSynced is the time of the last successful read.
	LastSynced time.Time
	Error      *Error
}

// CollectionStatus describes a collection.
type CollectionStatus struct {
	Collection, Tag string
	// Pending counts the writes that the backend has not confirmed: those that are Waiting for the next push, and those that
	// are Quarantined.
	Pending, Waiting, Quarantined int
	// LastSynced is the time of the last successful read from the backend. It is zero if there was none.
	LastSynced time.Time
}

// Activity is a running push, pull or sync.
type Activity struct {
	Operation, Collection string
	// Automatic says that the library started it by itself.
	Automatic                   bool
	EntitiesDone, EntitiesTotal uint64
	BytesDone, BytesTotal       uint64
}

// ClientStatus describes a client: its user, its network, its collections and its current activity.
type ClientStatus struct {
	// Online is nil before the first request.
	Online                        *bool
	SignedIn                      bool
	Pending, Waiting, Quarantined int
	Collections                   []CollectionStatus
	// Activity is empty if nothing runs.
	Activity []Activity
	Follows  []FollowStatus
}

// WithInterval sets how often a follow polls where there is no live data. The default is 60 s.
func WithInterval(interval time.Duration) Option { return with("interval", interval.Seconds()) }

// WithPolling makes a follow poll even where there is live data.
func WithPolling() Option { return with("live", false) }

// Follow keeps the entities that match in sync with the backend until the context has ended or the client is closed. It
// pulls them, or only their changes. It keeps them current by live data or by polling, and fetches what it missed after
// an interruption. It pushes what is saved in the collection. If there is no network or no login, it waits. The query
// has no skip and no limit.
//
// The channel delivers the state of the follow. It need not be read: a newer state replaces one that was not received.
func (c *Collection[T]) Follow(
	ctx context.Context, query *Query, options ...Option,
) (<-chan FollowStatus, error) {
	text, err := gather(options).text()
	if err != nil {
		return nil, err
	}
	return channel(ctx, c.store.client.over, 1, func(s *stream[FollowStatus]) (*Subscription, error) {
		return c.store.follow(query, text, latest(s))
	})
}

func (s *store) follow(query *Query, options []byte, receive event) (*Subscription, error) {
	handle, err := query.open()
	if err != nil {
		return nil, err
	}
	defer C.kv_query_free(handle)
	subscription := &Subscription{}
	var left *C.kv_error
	status := C.kv_store_follow(s.handle, handle, characters(options),
		C.kvgo_states_fn(), remember(receive), C.kvgo_states_free_fn(), &subscription.handle, &left)
	runtime.KeepAlive(s)
	if err := check(status, left); err != nil {
		return nil, err
	}
	return subscription, nil
}

// Status returns the status of the client without a network call.
func (c *Client) Status() (ClientStatus, error) {
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_client_status(c.handle, &text, &length, &left)
	runtime.KeepAlive(c)
	if err := check(status, left); err != nil {
		return ClientStatus{}, err
	}
	return unmarshal[ClientStatus](taken(text, length))
}

// Statuses delivers the current status and then the status after each change, until the context has ended or the client
// is closed. There are at most four in a second, and the last one is always delivered.
func (c *Client) Statuses(ctx context.Context) (<-chan ClientStatus, error) {
	return channel(ctx, c.over, 1, func(s *stream[ClientStatus]) (*Subscription, error) {
		subscription := &Subscription{}
		var left *C.kv_error
		status := C.kv_client_observe_status(c.handle, C.kvgo_states_fn(), remember(latest(s)),
			C.kvgo_states_free_fn(), &subscription.handle, &left)
		runtime.KeepAlive(c)
		if err := check(status, left); err != nil {
			return nil, err
		}
		return subscription, nil
	})
}

// latest sends states to a stream. A newer state replaces one that was not received.
func latest[E any](s *stream[E]) event {
	return func(text []byte, err error) {
		state, wrong := unmarshal[E](text)
		if err == nil && wrong == nil {
			s.replace(state)
		}
	}
}
