package kvstore

// #include <kvstore.h>
import "C"

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// A ResultsRequest says what a fetch gives besides whole entities, and how it reads them. The zero value is all right.
type ResultsRequest struct {
	// BatchSize is how many entities are read together; 0: 100.
	BatchSize int
	// CacheBytes is how many bytes of what was read are kept; 0: 4 MiB.
	CacheBytes int
	// ReturnsFaults: of a read of the backend, the ids come at once, and the entities of a batch when one of them is touched,
	// with one request. nil: in network stores.
	ReturnsFaults *bool
	// Distinct, for [FetchRows]: each combination of values of the query's fields once.
	Distinct bool
	// GroupBy and Aggregates, for [FetchRows]: a row for each group, as [Group] gives it.
	GroupBy    []string
	Aggregates map[string]Aggregate
	// Having is a filter of the rows of groups.
	Having any
}

func (r ResultsRequest) text(kind string) ([]byte, error) {
	members := map[string]any{"resultType": kind}
	if r.BatchSize != 0 {
		members["fetchBatchSize"] = r.BatchSize
	}
	if r.CacheBytes != 0 {
		members["cacheBytes"] = r.CacheBytes
	}
	if r.ReturnsFaults != nil {
		members["returnsObjectsAsFaults"] = *r.ReturnsFaults
	}
	if r.Distinct {
		members["distinct"] = true
	}
	if r.GroupBy != nil {
		members["groupBy"] = r.GroupBy
	}
	if r.Aggregates != nil {
		members["aggregates"] = r.Aggregates
	}
	if r.Having != nil {
		members["having"] = r.Having
	}
	return marshal(members)
}

// Results are what a query found, as a list whose entities are read in batches when they are asked for. Which entities it
// has, and in which order, is fixed; nothing is held open in between. Several goroutines may use it.
type Results[T any] struct {
	list  *fetchedList
	count atomic.Int64
}

// fetchedList is the part of results that touches C; the lock keeps what C lends until it is copied.
type fetchedList struct {
	sync.Mutex
	handle *C.kv_results
	// store must not be closed by its finalizer while the results are open.
	store *store
	// context must not be closed by its finalizer either.
	context *Context
}

// Results fetches what a query finds, as a list that loads little by little.
func (c *Collection[T]) Results(
	ctx context.Context, query *Query, wanted ResultsRequest, options ...Option,
) (*Results[T], error) {
	return fetchResults[T](ctx, c.store, "object", wanted, query, options)
}

// IDs fetches the ids of what a query finds; no entity is read for them.
func (c *Collection[T]) IDs(ctx context.Context, query *Query, options ...Option) (*Results[string], error) {
	return fetchResults[string](ctx, c.store, "objectId", ResultsRequest{}, query, options)
}

// FetchRows fetches the fields of the query, or all members but the reserved ones; with GroupBy, Aggregates or Distinct the
// rows of groups, of which sort, skip and limit of the query are then those.
func FetchRows[Row, T any](
	ctx context.Context, c *Collection[T], query *Query, wanted ResultsRequest, options ...Option,
) (*Results[Row], error) {
	return fetchResults[Row](ctx, c.store, "dictionary", wanted, query, options)
}

func fetchResults[T any](
	ctx context.Context, s *store, kind string, wanted ResultsRequest, query *Query, options []Option,
) (*Results[T], error) {
	text, err := wanted.text(kind)
	if err != nil {
		return nil, err
	}
	list, err := s.fetch(ctx, text, query, options)
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(list, (*fetchedList).close)
	return resultsOf[T](list)
}

func resultsOf[T any](list *fetchedList) (*Results[T], error) {
	var count C.int64_t
	var left *C.kv_error
	if err := check(C.kv_results_count(list.handle, &count, &left), left); err != nil {
		return nil, err
	}
	results := &Results[T]{list: list}
	results.count.Store(int64(count))
	return results, nil
}

func (s *store) fetch(
	ctx context.Context, wanted []byte, query *Query, options []Option,
) (*fetchedList, error) {
	c, err := s.prepare(ctx, query, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	list := &fetchedList{store: s}
	var left *C.kv_error
	if s.reads(c) {
		status := C.kv_store_results(s.handle, characters(wanted), C.size_t(len(wanted)), c.query, c.text,
			&list.handle, &left)
		return list, check(status, left)
	}
	c.options.onLocalAnswer = nil
	request, err := start(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_results_async(s.handle, characters(wanted), C.size_t(len(wanted)), c.query, c.text,
			r.done, r.context, r.free, q, e)
	})
	if err != nil {
		return nil, err
	}
	defer request.free()
	if err := request.wait(ctx, nil, nil); err != nil {
		return nil, err
	}
	return list, check(C.kv_request_results(request.handle, &list.handle, &left), left)
}

// Len is the number of entities. It changes only while the results are observed.
func (r *Results[T]) Len() int { return int(r.count.Load()) }

// At gives the entity at a position. It is ErrNotFound if the entity was deleted after the fetch, and ErrInvalid if there is
// no such position. changed: the entity was changed after the fetch.
func (r *Results[T]) At(position int) (entity T, changed bool, err error) {
	if position < 0 {
		return entity, false, r.outside(position)
	}
	text, state, err := r.list.at(position)
	if err != nil {
		return entity, false, err
	}
	if text == nil {
		return entity, false, r.outside(position)
	}
	entity, err = unmarshal[T](text)
	return entity, state == C.KV_RECORD_CHANGED, err
}

func (r *Results[T]) outside(position int) error {
	return invalid("there is no position %d in results of %d", position, r.Len())
}

// IsDeleted tells whether the entity at a position was deleted after the fetch.
func (r *Results[T]) IsDeleted(position int) bool {
	_, _, err := r.At(position)
	return errors.Is(err, ErrNotFound)
}

// Slice gives the entities from one position up to another, which is not included. Those that were deleted after the fetch are
// left out.
func (r *Results[T]) Slice(start, end int) ([]T, error) {
	entities := []T{}
	err := r.between(start, end, func(_ int, entity T) bool {
		entities = append(entities, entity)
		return true
	})
	return entities, err
}

// Each calls a function with the position and the entity of all that were not deleted after the fetch, until it gives false. Its
// parameters are those of an iterator for range.
func (r *Results[T]) Each(yield func(position int, entity T) bool) error {
	return r.between(0, r.Len(), yield)
}

func (r *Results[T]) between(start, end int, yield func(int, T) bool) error {
	if start < 0 || end > r.Len() || start > end {
		return invalid("there are no positions from %d to %d in results of %d", start, end, r.Len())
	}
	for position := start; position < end; position += laterPage {
		limit := end - position
		if limit > laterPage {
			limit = laterPage
		}
		text, err := r.list.page(position, limit)
		if err != nil {
			return err
		}
		page, err := unmarshal[[]*T](text)
		if err != nil {
			return err
		}
		for index, entity := range page {
			if entity != nil && !yield(position+index, *entity) {
				return nil
			}
		}
	}
	return nil
}

// Reads is the number of batches that were read so far.
func (r *Results[T]) Reads() (int, error) {
	statistics, err := decode[struct{ Reads int }](r.list.statistics())
	return statistics.Reads, err
}

// Refresh forgets what was read: each entity is read again when it is next asked for.
func (r *Results[T]) Refresh() error {
	r.list.Lock()
	defer r.list.Unlock()
	var left *C.kv_error
	return check(C.kv_results_refresh(r.list.handle, &left), left)
}

// Close closes the results. A second time is harmless.
func (r *Results[T]) Close() error {
	r.list.close()
	return nil
}

func (l *fetchedList) at(position int) ([]byte, C.int32_t, error) {
	l.Lock()
	defer l.Unlock()
	var text *C.char
	var length C.size_t
	var state C.int32_t
	var left *C.kv_error
	status := C.kv_results_get(l.handle, C.uint64_t(position), &text, &length, &state, &left)
	if err := check(status, left); err != nil || text == nil {
		return nil, state, err
	}
	return bytesOf(text, length), state, nil
}

func (l *fetchedList) page(position, limit int) ([]byte, error) {
	l.Lock()
	defer l.Unlock()
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_results_page(l.handle, C.uint64_t(position), C.uint32_t(limit), &text, &length, nil, &left)
	if err := check(status, left); err != nil {
		return nil, err
	}
	return bytesOf(text, length), nil
}

func (l *fetchedList) statistics() ([]byte, error) {
	l.Lock()
	defer l.Unlock()
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	err := check(C.kv_results_statistics(l.handle, &text, &length, &left), left)
	return taken(text, length), err
}

func (l *fetchedList) close() {
	l.Lock()
	defer l.Unlock()
	C.kv_results_close(l.handle)
	l.handle = nil
	runtime.SetFinalizer(l, nil)
}
