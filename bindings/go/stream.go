package kvstore

import (
	"context"
	"sync"
)

// A stream passes events from the callback thread to a channel. It never blocks that thread, because answers that the
// reader waits for come on the same thread.
type stream[E any] struct {
	sync.Mutex
	waiting []E
	// limit is the number of offered events that may wait.
	limit   int
	ended   bool
	anew    bool
	changed chan struct{}
}

// channel makes a channel from the events of a subscription. It is closed when the context has ended. It is also
// closed, after the last event, when over is closed or the stream has ended. If a stream asks for it, it is subscribed
// again.
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

// offer adds an event, unless too many are waiting.
func (s *stream[E]) offer(event E) bool {
	s.Lock()
	fits := len(s.waiting) < s.limit
	s.Unlock()
	if fits {
		s.put(event)
	}
	return fits
}

// replace adds an event and drops those that are waiting.
func (s *stream[E]) replace(event E) {
	s.Lock()
	defer s.Unlock()
	if !s.ended {
		s.waiting = []E{event}
	}
	s.wake()
}

// count returns the number of waiting events.
func (s *stream[E]) count() int {
	s.Lock()
	defer s.Unlock()
	return len(s.waiting)
}

// end marks the end of the stream, after the events that are waiting.
func (s *stream[E]) end() {
	s.Lock()
	defer s.Unlock()
	s.ended = true
	s.wake()
}

// renew asks for another subscription after the events that are waiting.
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

// next returns the next waiting event. If there is none, it reports whether the stream has ended and whether another
// subscription is due.
func (s *stream[E]) next() (event E, isThere, last, anew bool) {
	s.Lock()
	defer s.Unlock()
	if len(s.waiting) == 0 {
		return event, false, s.ended, s.anew
	}
	event, s.waiting = s.waiting[0], s.waiting[1:]
	return event, true, false, false
}

// pass sends the events to the channel until the stream has ended or another subscription is due.
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
			// No further event comes; those that wait are still sent.
			s.end()
		case <-ctx.Done():
			return false
		}
	}
}
