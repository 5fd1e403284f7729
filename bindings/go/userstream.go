package kvstore

// #include <kvstore.h>
//
// void kvgoEvent(void *context, kv_event *event);
// void kvgoFree(void *context);
//
// static inline kv_event_fn kvgo_said_fn(void) { return (kv_event_fn)kvgoEvent; }
// static inline kv_free_fn kvgo_free_said_fn(void) { return kvgoFree; }
import "C"

import (
	"context"
	"runtime"
)

// A UserStream carries messages between users. The backend does not store them. Each user owns one part of the stream;
// an empty user means the active user's own part. Call [Client.RegisterLive] before sending and listening.
type UserStream struct {
	client *Client
	name   string
}

// A StreamACL has the ids of the users who may publish to a part of a stream and listen to it, besides its owner.
type StreamACL struct {
	Subscribe []string            `json:"subscribe"`
	Publish   []string            `json:"publish"`
	Groups    map[string][]string `json:"groups,omitempty"`
}

// Stream returns a user-to-user stream, without a network call.
func (c *Client) Stream(name string) *UserStream { return &UserStream{c, name} }

// ACL reads the access list of a part of the stream.
func (s *UserStream) ACL(ctx context.Context, user string, options ...Option) (StreamACL, error) {
	var none StreamACL
	name, of, err := s.part(user)
	if err != nil {
		return none, err
	}
	text, err := s.client.run(ctx, options, func(o *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_stream_acl_async(s.client.handle, characters(name), characters(of), o, r.done, r.context, r.free, q, e)
	})
	return decode[StreamACL](text, err)
}

// SetACL replaces the access list of a part of the stream. Users who lose the right to listen receive nothing more.
func (s *UserStream) SetACL(ctx context.Context, user string, acl StreamACL, options ...Option) error {
	name, of, err := s.part(user)
	if err != nil {
		return err
	}
	acl.Subscribe = append([]string{}, acl.Subscribe...)
	acl.Publish = append([]string{}, acl.Publish...)
	text, err := marshal(acl)
	if err != nil {
		return err
	}
	_, err = s.client.run(ctx, options, func(o *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_stream_set_acl_async(s.client.handle, characters(name), characters(of), characters(text),
			C.size_t(len(text)), o, r.done, r.context, r.free, q, e)
	})
	return err
}

// Owners lists the users whose parts of the stream the active user may use.
func (s *UserStream) Owners(ctx context.Context, options ...Option) ([]string, error) {
	name, err := terminated(s.name, "the name of the stream")
	if err != nil {
		return nil, err
	}
	text, err := s.client.run(ctx, options, func(o *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_stream_owners_async(s.client.handle, characters(name), o, r.done, r.context, r.free, q, e)
	})
	return decode[[]string](text, err)
}

// Send sends a message, any JSON of up to 32 KB, to the current subscribers. The request is sent only once: after
// [ErrNetwork] the message may have been delivered or not.
func (s *UserStream) Send(ctx context.Context, user string, message any, options ...Option) error {
	name, of, err := s.part(user)
	if err != nil {
		return err
	}
	text, err := marshal(message)
	if err != nil {
		return err
	}
	_, err = s.client.run(ctx, options, func(o *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_stream_send_async(s.client.handle, characters(name), characters(of), characters(text),
			C.size_t(len(text)), o, r.done, r.context, r.free, q, e)
	})
	return err
}

// Listen delivers the messages in a part of a stream, as [LiveMessage] events, until the context ends: see
// [Collection.Watch].
func Listen[T any](ctx context.Context, s *UserStream, user string) (<-chan LiveEvent[T], error) {
	name, of, err := s.part(user)
	if err != nil {
		return nil, err
	}
	return channel(ctx, s.client.over, liveLimit, func(events *stream[LiveEvent[T]]) (*Subscription, error) {
		defer runtime.KeepAlive(s.client)
		subscription := &Subscription{}
		var left *C.kv_error
		handler := C.kvgo_said_fn()
		status := C.kv_stream_subscribe(s.client.handle, characters(name), characters(of), handler, handler, handler,
			handler, remember(watcher(events)), C.kvgo_free_said_fn(), &subscription.handle, &left)
		if err := check(status, left); err != nil {
			return nil, err
		}
		return subscription, nil
	})
}

// part returns the name of the stream and its owner in the form that C reads. A nil owner is the active user.
func (s *UserStream) part(user string) (name, of []byte, err error) {
	if name, err = terminated(s.name, "the name of the stream"); err != nil {
		return nil, nil, err
	}
	if user != "" {
		of, err = terminated(user, "the id of the user")
	}
	return name, of, err
}
