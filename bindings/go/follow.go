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

// A FollowState says how a query that is followed stands.
type FollowState string

// The states of follows.
const (
	// FollowStarting: nothing was read yet.
	FollowStarting FollowState = "starting"
	// FollowCurrent: here is what the backend has, as far as live data or the last poll tells.
	FollowCurrent FollowState = "current"
	// FollowBehind: it is being read, or the error says why it cannot be.
	FollowBehind FollowState = "behind"
	// FollowOffline: nobody answers.
	FollowOffline FollowState = "offline"
)

// FollowStatus is how a query that is followed stands. Members that do not apply are zero.
type FollowStatus struct {
	Collection string
	// Filter is what is followed, as JSON.
	Filter json.RawMessage
	State  FollowState
	// Live tells whether changes come by live data; else they are polled for.
	Live bool
	// LastSynced is when it was last read.
	LastSynced time.Time
	Error      *Error
}

// CollectionStatus is how a collection stands.
type CollectionStatus struct {
	Collection, Tag string
	// Pending counts the writes that the backend has not confirmed, including quarantined ones.
	Pending, Quarantined int
	// LastSynced is when it was last read from the backend; zero: never.
	LastSynced time.Time
}

// Activity is a push, pull or sync that runs.
type Activity struct {
	Operation, Collection string
	// Automatic tells that nobody asked for it.
	Automatic                   bool
	EntitiesDone, EntitiesTotal uint64
	BytesDone, BytesTotal       uint64
}

// ClientStatus is how a client stands, and what it does.
type ClientStatus struct {
	// Online is nil before anything was asked.
	Online               *bool
	SignedIn             bool
	Pending, Quarantined int
	Collections          []CollectionStatus
	// Activity is empty if nothing runs.
	Activity []Activity
	Follows  []FollowStatus
}

// WithInterval sets how often a follow reads where there is no live data; default: 60 s.
func WithInterval(interval time.Duration) Option { return with("interval", interval.Seconds()) }

// WithPolling lets a follow poll, also where there is live data.
func WithPolling() Option { return with("live", false) }

// Follow keeps what matches in sync with the backend until the context has ended or the client is closed: pulls it, or
// its changes, keeps it current by live data or by polling, catches up after each absence, and pushes what is saved in
// the collection. It waits for the network and for logins by itself. The query has no skip and no limit.
//
// The channel gives how it stands; a state that nobody received gives way to the next, and nobody has to receive any.
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

// Status tells how the client stands and what it does, without a network call.
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

// Statuses gives the status, as it is now and after each change, until the context has ended or the client is closed:
// four times a second at the most, and the last one in any case.
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

// latest brings states to a stream, in place of what waits there.
func latest[E any](s *stream[E]) event {
	return func(text []byte, err error) {
		state, wrong := unmarshal[E](text)
		if err == nil && wrong == nil {
			s.replace(state)
		}
	}
}
