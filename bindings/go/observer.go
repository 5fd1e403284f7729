package kvstore

// #include <kvstore.h>
//
// void kvgoEvent(void *context, kv_event *event);
// void kvgoFree(void *context);
//
// static inline kv_event_fn kvgo_changes_fn(void) { return (kv_event_fn)kvgoEvent; }
// static inline kv_free_fn kvgo_changes_free_fn(void) { return kvgoFree; }
import "C"

import (
	"context"
	"runtime"
	"sort"
)

// Deletion is an entity that left the result. Index is its index in the old result.
type Deletion struct {
	Index int
	ID    string
	// Source is where it was deleted: "local" as long as the backend has not accepted that, else "remote".
	Source string
}

// Move is an entity that stays in the result and changes its index: From in the old, To in the new result.
type Move struct {
	From, To int
	ID       string
}

// Placed is an entity that was inserted or modified. Index is its index in the new result.
type Placed[T any] struct {
	Index  int
	Entity T
	// Source is where it was changed: "local" as long as the backend has not accepted that, else "remote".
	Source string
}

// Changes lead from one result of an observed query to the next.
type Changes[T any] struct {
	// Initial means that this is the whole result, as insertions. The first changes are initial. If a reader was too slow,
	// it gets the whole result again.
	Initial bool
	// IsSynced means that the collection is synchronised in the background, and was read since that has started.
	IsSynced bool
	// Count is the size of the new result.
	Count         int
	Deletions     []Deletion
	Moves         []Move
	Insertions    []Placed[T]
	Modifications []Placed[T]
	// Err means that the data could not be read. Later changes include what is missing here.
	Err error `json:"-"`
}

// Apply turns the old result into the new one and returns it. The old slice must not be used afterwards.
func (c Changes[T]) Apply(result []T) []T {
	if c.Initial {
		result = nil
	}
	coming := append([]Placed[T]{}, c.Insertions...)
	going := map[int]bool{}
	for _, deletion := range c.Deletions {
		going[deletion.Index] = true
	}
	for _, move := range c.Moves {
		coming = append(coming, Placed[T]{Index: move.To, Entity: result[move.From]})
		going[move.From] = true
	}
	sort.Slice(coming, func(i, j int) bool { return coming[i].Index < coming[j].Index })
	made := make([]T, 0, c.Count)
	for index, entity := range result {
		if going[index] {
			continue
		}
		for len(coming) > 0 && coming[0].Index == len(made) {
			made, coming = append(made, coming[0].Entity), coming[1:]
		}
		made = append(made, entity)
	}
	for _, change := range coming {
		made = append(made, change.Entity)
	}
	for _, change := range c.Modifications {
		made[change.Index] = change.Entity
	}
	return made
}

// maxChanges is the number of changes that may wait for the receiver.
const maxChanges = 100

// Observe delivers the result of a query over the local data, and then its changes, whatever their cause. The channel
// is closed when the context has ended or the client is closed. A reader may be slow: if more than 100 changes wait,
// they are delivered, and then the whole result again.
func (c *Collection[T]) Observe(ctx context.Context, query *Query) (<-chan Changes[T], error) {
	return channel(ctx, c.store.client.over, maxChanges, func(s *stream[Changes[T]]) (*Subscription, error) {
		return c.store.observe(query, func(text []byte, err error) {
			changes, wrong := unmarshal[Changes[T]](text)
			if changes.Err = err; err == nil {
				changes.Err = wrong
			}
			if !s.offer(changes) {
				s.renew()
			}
		})
	})
}

// ObserveByID observes one entity in the same way. The entity need not exist.
func (c *Collection[T]) ObserveByID(ctx context.Context, id string) (<-chan Changes[T], error) {
	return c.Observe(ctx, &Query{Filter: M{"_id": id}})
}

func (s *store) observe(query *Query, receive event) (*Subscription, error) {
	handle, err := query.open()
	if err != nil {
		return nil, err
	}
	defer C.kv_query_free(handle)
	subscription := &Subscription{}
	var left *C.kv_error
	status := C.kv_store_observe(s.handle, handle, C.kvgo_changes_fn(), remember(receive),
		C.kvgo_changes_free_fn(), &subscription.handle, &left)
	runtime.KeepAlive(s)
	if err := check(status, left); err != nil {
		return nil, err
	}
	return subscription, nil
}
