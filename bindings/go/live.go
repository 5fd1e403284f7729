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
	"encoding/json"
	"runtime"
	"sync"
)

// A LiveKind says what a [LiveEvent] tells.
type LiveKind string

const (
	// LiveReady: every change from now on is told.
	LiveReady LiveKind = "ready"
	// LiveStatus: see the Status of the event.
	LiveStatus LiveKind = "status"
	// LiveChange: see the Change, the ID and the Entity of the event.
	LiveChange LiveKind = "change"
	// LiveMissed: changes were lost; whoever wants to know them pulls.
	LiveMissed LiveKind = "missed"
)

// A LiveEvent is what a subscriber is told.
type LiveEvent[T any] struct {
	Kind LiveKind `json:"event"`
	// Status is "connected", "disconnected", "reconnected" or "unexpectedDisconnect".
	Status string `json:"status"`
	// Change is "create", "update", "save" (one of these), "delete" or "fetch" (saved, and too large).
	Change string `json:"change"`
	ID     string `json:"id"`
	// Entity is nil for "delete" and "fetch".
	Entity *T `json:"entity"`
	// Err is an error in the place of anything else.
	Err error `json:"-"`
}

// RegisterLive lets the active user listen: [Collection.Watch]. To be called after each login.
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

// Watch tells what happens to the collection on the backend, until the context ends: then the channel is
// closed. It is also closed when the user logs out or the client is closed. A reader may take its time: other
// callbacks of the client do not wait for it, and what it does not take in time costs it a [LiveMissed].
// [Client.RegisterLive] comes first.
//
// With toLocal, changes are written to the local store before they are told, never over a pending write.
func (c *Collection[T]) Watch(ctx context.Context, toLocal bool) (<-chan LiveEvent[T], error) {
	out := make(chan LiveEvent[T])
	waiting := newBacklog(LiveEvent[T]{Kind: LiveMissed})
	subscription, err := c.store.subscribe(toLocal, func(text []byte, err error) {
		event := LiveEvent[T]{Err: err}
		if err == nil {
			event.Err = json.Unmarshal(text, &event)
		}
		waiting.add(event)
	}, waiting.end)
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(out)
		defer C.kv_subscription_close(subscription)
		for {
			event, ok := waiting.next(ctx)
			if !ok {
				return
			}
			select {
			case out <- event:
			case <-ctx.Done():
				return
			}
			if event.Status == "disconnected" {
				return
			}
		}
	}()
	return out, nil
}

func (s *store) subscribe(toLocal bool, receive event, ended func()) (*C.kv_subscription, error) {
	defer runtime.KeepAlive(s)
	options := "{}"
	if toLocal {
		options = `{"liveToLocal":true}`
	}
	var subscription *C.kv_subscription
	var left *C.kv_error
	status := C.kv_store_subscribe(s.handle, characters(append([]byte(options), 0)), C.kvgo_event_fn(),
		C.kvgo_event_fn(), C.kvgo_event_fn(), C.kvgo_event_fn(), remember(watcher{receive, ended}), C.kvgo_free_event_fn(), &subscription, &left)
	if err := check(status, left); err != nil {
		return nil, err
	}
	return subscription, nil
}

// A backlog keeps what waits for a reader, up to a bound; the last entry says then that something is
// missing, and nothing is added until it was read.
type backlog[E any] struct {
	lock   sync.Mutex
	events []E
	missed E
	behind bool
	ended  bool
	wake   chan struct{}
}

const mostLive = 1024

func newBacklog[E any](missed E) *backlog[E] {
	return &backlog[E]{missed: missed, wake: make(chan struct{}, 1)}
}

func (b *backlog[E]) add(event E) {
	b.lock.Lock()
	if !b.behind {
		b.behind = len(b.events) >= mostLive
		if b.behind {
			event = b.missed
		}
		b.events = append(b.events, event)
	}
	b.lock.Unlock()
	b.signal()
}

func (b *backlog[E]) end() {
	b.lock.Lock()
	b.ended = true
	b.lock.Unlock()
	b.signal()
}

func (b *backlog[E]) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// next waits for an event; false at the end of the context, or of what is told.
func (b *backlog[E]) next(ctx context.Context) (E, bool) {
	for {
		b.lock.Lock()
		if len(b.events) > 0 {
			event := b.events[0]
			b.events = b.events[1:]
			b.behind = b.behind && len(b.events) > 0
			b.lock.Unlock()
			return event, true
		}
		ended := b.ended
		b.lock.Unlock()
		var none E
		if ended {
			return none, false
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
			return none, false
		}
	}
}
