package kvstore

import (
	"context"
	"sync"
)

// mostWaiting is how many events may wait for who receives them.
const mostWaiting = 10000

// A stream brings events from the callback thread, which it never holds up, to a channel.
type stream[E any] struct {
	sync.Mutex
	waiting []E
	ended   bool
	changed chan struct{}
}

// channel makes a channel of what a subscription tells. It is closed when the context has ended, after the
// last event once over is closed, and when more events wait than may.
func channel[E any](
	ctx context.Context, over <-chan struct{}, subscribe func(func(E)) (*Subscription, error),
) (<-chan E, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	s := &stream[E]{changed: make(chan struct{}, 1)}
	subscription, err := subscribe(s.take)
	if err != nil {
		return nil, err
	}
	out := make(chan E)
	go func() {
		defer close(out)
		defer subscription.Close()
		s.pass(ctx, over, out)
	}()
	return out, nil
}

func (s *stream[E]) take(event E) {
	s.Lock()
	defer s.Unlock()
	if len(s.waiting) == mostWaiting {
		s.ended = true
	}
	if !s.ended {
		s.waiting = append(s.waiting, event)
	}
	s.wake()
}

func (s *stream[E]) end() {
	s.Lock()
	defer s.Unlock()
	s.ended = true
	s.wake()
}

func (s *stream[E]) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// pass sends what waits until nothing will follow.
func (s *stream[E]) pass(ctx context.Context, over <-chan struct{}, out chan<- E) {
	for {
		s.Lock()
		events, last := s.waiting, s.ended
		s.waiting = nil
		s.Unlock()
		for _, event := range events {
			select {
			case out <- event:
			case <-ctx.Done():
				return
			}
		}
		if last {
			return
		}
		select {
		case <-s.changed:
		case <-over:
			// No event comes any more; those that wait go out.
			s.end()
		case <-ctx.Done():
			return
		}
	}
}
