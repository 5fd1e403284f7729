package kvstore

// #include <kvstore.h>
//
// void kvgoEvent(void *context, kv_event *event);
// void kvgoFree(void *context);
//
// static inline kv_event_fn kvgo_list_fn(void) { return (kv_event_fn)kvgoEvent; }
// static inline kv_free_fn kvgo_list_free_fn(void) { return kvgoFree; }
import "C"

// ListChanges are the positions at which results have changed. To turn a list of what was shown before into one of what is
// there now: remove what is at Deletions and the From of Moves, positions before; insert, in ascending order, what is at
// Insertions and the To of Moves, positions now; then show anew what is at Modifications, positions now.
type ListChanges struct {
	// Count is the number of entities now.
	Count         int
	Deletions     []int
	Moves         []ListMove
	Insertions    []int
	Modifications []int
}

// A ListMove is an entity that was at the position From and is at the position To.
type ListMove struct{ From, To int }

// Observe has the results follow their query over the local data, until the subscription is closed: right before each call of
// receive they become what the query finds now. The first call has what was changed since the fetch, if anything was. An error
// means that the data could not be read. receive runs on the client's callback thread.
func (r *Results[T]) Observe(receive func(ListChanges, error)) (*Subscription, error) {
	receiver := event(func(text []byte, err error) {
		var changes ListChanges
		if err == nil {
			changes, err = unmarshal[ListChanges](text)
		}
		if err == nil {
			r.count.Store(int64(changes.Count))
		}
		receive(changes, err)
	})
	r.list.Lock()
	defer r.list.Unlock()
	subscription := &Subscription{}
	var left *C.kv_error
	status := C.kv_results_observe(r.list.handle, C.kvgo_list_fn(), remember(receiver), C.kvgo_list_free_fn(),
		&subscription.handle, &left)
	if err := check(status, left); err != nil {
		return nil, err
	}
	return subscription, nil
}
