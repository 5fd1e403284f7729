package kvstore

import (
	"context"
	"sync"
)

// A stream brings events from the callback thread, which it never holds up, to a channel: an answer that the
// reader waits for comes on the same thread.
type stream[E any] struct {
	sync.Mutex
	waiting []E
	// limit may wait of what is offered.
	limit   int
	ended   bool
	anew    bool
	changed chan struct{}
}

// channel makes a channel of what a subscription tells. It is closed when the context has ended, and after the
// last event once over is closed or the stream has ended. A stream that asks for it is subscribed anew.
func channel[E any](
	ctx context.Context, over <-chan struct{}, limit int, subscribe func(*stream[E]) (*Subscription, error),
) (<-chan E, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	s := &stream[E]{limit: limit, changed: make(chan struct{}, 1)}
	subscription, err := subscribe(s)
	if err != nil {
		return nil, err
	}
	out := make(chan E)
	go func() {
		defer close(out)
		for s.pass(ctx, over, out) {
			_ = subscription.Close()
			s.restart()
			if subscription, err = subscribe(s); err != nil {
				return
			}
		}
		_ = subscription.Close()
	}()
	return out, nil
}

// put adds an event that must not be dropped.
func (s *stream[E]) put(event E) {
	s.Lock()
	defer s.Unlock()
	if !s.ended && !s.anew {
		s.waiting = append(s.waiting, event)
	}
	s.wake()
}

// offer adds an event unless too many wait.
func (s *stream[E]) offer(event E) bool {
	s.Lock()
	fits := len(s.waiting) < s.limit
	s.Unlock()
	if fits {
		s.put(event)
	}
	return fits
}

// replace puts an event in the place of those that wait.
func (s *stream[E]) replace(event E) {
	s.Lock()
	defer s.Unlock()
	if !s.ended {
		s.waiting = []E{event}
	}
	s.wake()
}

// count tells how many wait.
func (s *stream[E]) count() int {
	s.Lock()
	defer s.Unlock()
	return len(s.waiting)
}

// end says that nothing follows what waits.
func (s *stream[E]) end() {
	s.Lock()
	defer s.Unlock()
	s.ended = true
	s.wake()
}

// renew asks for another subscription behind what waits.
func (s *stream[E]) renew() {
	s.Lock()
	defer s.Unlock()
	s.anew = true
	s.wake()
}

func (s *stream[E]) restart() {
	s.Lock()
	defer s.Unlock()
	s.anew = false
}

func (s *stream[E]) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// next takes what waits first; without it, whether nothing follows, and whether another subscription is due.
func (s *stream[E]) next() (event E, isThere, last, anew bool) {
	s.Lock()
	defer s.Unlock()
	if len(s.waiting) == 0 {
		return event, false, s.ended, s.anew
	}
	event, s.waiting = s.waiting[0], s.waiting[1:]
	return event, true, false, false
}

// pass sends what waits until nothing will follow, or until another subscription is due.
func (s *stream[E]) pass(ctx context.Context, over <-chan struct{}, out chan<- E) bool {
	for {
		event, isThere, last, anew := s.next()
		if isThere {
			select {
			case out <- event:
				continue
			case <-ctx.Done():
				return false
			}
		}
		if last || anew {
			return !last
		}
		select {
		case <-s.changed:
		case <-over:
			// No event comes any more; those that wait go out.
			s.end()
		case <-ctx.Done():
			return false
		}
	}
}
