package kvstore

// #include <stdint.h>
// #include <kvstore.h>
//
// void kvgoEvent(void *context, kv_event *event);
// void kvgoFree(void *context);
//
// static inline kv_event_fn kvgo_event_fn(void) { return (kv_event_fn)kvgoEvent; }
// static inline kv_free_fn kvgo_free_event_fn(void) { return kvgoFree; }
import "C"

import (
	"context"
	"runtime"
)

// A LiveKind is the kind of a [LiveEvent].
type LiveKind string

const (
	// LiveReady: the connection is ready. Every change from now on is received.
	LiveReady LiveKind = "ready"
	// LiveStatus: the Status of the event has changed.
	LiveStatus LiveKind = "status"
	// LiveChange: an entity has changed. See the Change, the ID and the Entity of the event.
	LiveChange LiveKind = "change"
	// LiveMessage: a message was sent to a [UserStream]. See the Message of the event.
	LiveMessage LiveKind = "message"
	// LiveMissed: changes were lost; pull to get them.
	LiveMissed LiveKind = "missed"
)

// A LiveEvent is an event of a live subscription.
type LiveEvent[T any] struct {
	Kind LiveKind `json:"event"`
	// Status is "connected", "disconnected", "reconnected" or "unexpectedDisconnect".
	Status string `json:"status"`
	// Change is "create", "update", "save" (either of these), "delete" or "fetch" (saved, but too large to be sent).
	Change string `json:"change"`
	ID     string `json:"id"`
	// Entity is nil for "delete" and "fetch".
	Entity *T `json:"entity"`
	// Message is the message that was sent to a [UserStream].
	Message *T `json:"message"`
	// Err, if not nil, is an error; no other member is set.
	Err error `json:"-"`
}

// RegisterLive registers the active user for live data, which [Collection.Watch] needs. Call it after each login.
func (c *Client) RegisterLive(ctx context.Context, options ...Option) error {
	_, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_live_register_async(c.handle, text, r.done, r.context, r.free, q, e)
	})
	return err
}

// UnregisterLive ends all live subscriptions of this client. A logout does this too.
func (c *Client) UnregisterLive(ctx context.Context, options ...Option) error {
	_, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_live_unregister_async(c.handle, text, r.done, r.context, r.free, q, e)
	})
	return err
}

// liveLimit is the number of changes that may wait for the receiver.
const liveLimit = 1024

// Watch delivers the changes of the collection on the backend until the context ends. The channel is then closed. It is
// also closed when the user logs out or loses the right to listen, and when the client is closed. [Client.RegisterLive]
// must be called before.
//
// A slow reader does not delay other callbacks of the client. If more than 1,024 changes wait, the following ones
// become one [LiveMissed].
//
// With toLocal, changes are written to the local store before they are delivered, but never over a pending write.
func (c *Collection[T]) Watch(ctx context.Context, toLocal bool) (<-chan LiveEvent[T], error) {
	return channel(ctx, c.store.client.over, liveLimit, func(s *stream[LiveEvent[T]]) (*Subscription, error) {
		return c.store.subscribe(toLocal, watcher(s))
	})
}

// Subscribe calls receive for each change of the collection on the backend, until the subscription is closed.
// [Subscription.End] also waits for the backend's answer. receive runs on the client's callback thread. If more than
// 1,024 changes wait for it, the following ones become one [LiveMissed].
func (c *Collection[T]) Subscribe(toLocal bool, receive func(LiveEvent[T])) (*Subscription, error) {
	return c.store.subscribe(toLocal, func(text []byte, err error) { receive(liveEvent[T](text, err)) })
}

// liveEvent reads an event, or returns an event with the error.
func liveEvent[T any](text []byte, err error) LiveEvent[T] {
	received, wrong := unmarshal[LiveEvent[T]](text)
	if received.Err = err; err == nil {
		received.Err = wrong
	}
	return received
}

// watcher sends the events of a subscription to a stream. Events after a LiveMissed are dropped until everything has
// been received.
func watcher[T any](s *stream[LiveEvent[T]]) event {
	isMissing := false
	return func(text []byte, err error) {
		received := liveEvent[T](text, err)
		if received.Kind != LiveChange && received.Kind != LiveMessage {
			s.put(received)
			if received.Status == "disconnected" {
				s.end()
			}
			return
		}
		if isMissing = isMissing && s.count() > 0; isMissing {
			return
		}
		if isMissing = !s.offer(received); isMissing {
			s.put(LiveEvent[T]{Kind: LiveMissed})
		}
	}
}

func (s *store) subscribe(toLocal bool, receive event) (*Subscription, error) {
	defer runtime.KeepAlive(s)
	options := "{}"
	if toLocal {
		options = `{"liveToLocal":true}`
	}
	subscription := &Subscription{}
	var left *C.kv_error
	handler := C.kvgo_event_fn()
	status := C.kv_store_subscribe(s.handle, characters(append([]byte(options), 0)), handler, handler, handler,
		handler, remember(receive), C.kvgo_free_event_fn(), &subscription.handle, &left)
	if err := check(status, left); err != nil {
		return nil, err
	}
	return subscription, nil
}
