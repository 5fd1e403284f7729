package kvstore

// #include <stdint.h>
// #include <kvstore.h>
//
// int32_t kvgoReduce(void *context, size_t group, char *entity, size_t length);
//
// static inline kv_reduce_fn kvgo_reduce_fn(void) { return (kv_reduce_fn)kvgoReduce; }
import "C"

import (
	"context"
	"encoding/json"
	"unsafe"

	"github.com/libkvstore/libkvstore/bindings/go/internal/wire"
)

// An Aggregate is a number that is computed for each group: [Count], [Sum], [Average], [Minimum] or [Maximum]. Except
// for Count, values that are not numbers are ignored.
type Aggregate struct{ json any }

// Count counts the entities of a group.
var Count = Aggregate{"count"}

// Sum adds the numbers at a path, exactly if they are integers. Without numbers it is 0.
func Sum(path string) Aggregate { return Aggregate{M{"sum": path}} }

// Average is the mean of the numbers at a path. Without numbers it is null.
func Average(path string) Aggregate { return Aggregate{M{"avg": path}} }

// Minimum is the least of the numbers at a path. Without numbers it is null.
func Minimum(path string) Aggregate { return Aggregate{M{"min": path}} }

// Maximum is the greatest of the numbers at a path. Without numbers it is null.
func Maximum(path string) Aggregate { return Aggregate{M{"max": path}} }

// MarshalJSON writes the aggregate in the form that the library reads.
func (a Aggregate) MarshalJSON() ([]byte, error) { return wire.Marshal(a.json) }

// A Grouping has the members by which entities are grouped, and the numbers to compute for each group.
type Grouping struct {
	Keys       []string
	Aggregates map[string]Aggregate
	// Collation, if not nil, makes texts that are equal in the order of a language one group, whose key is the first of
	// them by code point, and orders the groups.
	Collation *Collation
	// Reduce, if not empty, is JavaScript in place of Aggregates, for a backend that runs it: "function(doc, out) { … }".
	// Its accumulator starts as Initial.
	Reduce  string
	Initial any
}

func (g Grouping) text() ([]byte, error) {
	members := map[string]any{"keys": append([]string{}, g.Keys...)}
	if g.Collation != nil {
		members["collation"] = g.Collation
	}
	if g.Reduce == "" {
		if g.Aggregates != nil {
			members["aggregates"] = g.Aggregates
		}
		return marshal(members)
	}
	members["reduce"] = g.Reduce
	if g.Initial != nil {
		members["initial"] = g.Initial
	}
	return marshal(members)
}

// Group groups the entities that match; a nil query means all. It returns a row for each group, ordered by the keys. A
// row has the keys and the aggregates as members.
//
//	type row struct{ State string; Mean float64 }
//	rows, err := kvstore.Group[row](ctx, cities, kvstore.Grouping{
//		Keys:       []string{"state"},
//		Aggregates: map[string]kvstore.Aggregate{"mean": kvstore.Average("people")},
//	}, nil)
func Group[Row, T any](
	ctx context.Context, c *Collection[T], grouping Grouping, query *Query, options ...Option,
) ([]Row, error) {
	return decode[[]Row](c.store.group(ctx, grouping, query, options))
}

// Distinct returns the different values of a member among the entities that match, in sort order. If the member is an
// array, each element counts as a value.
func Distinct[Value, T any](
	ctx context.Context, c *Collection[T], path string, query *Query, options ...Option,
) ([]Value, error) {
	return decode[[]Value](c.store.distinct(ctx, path, query, options))
}

// Folded is the result for one group: its keys as a JSON object, and the last value of the function.
type Folded[A any] struct {
	Keys  json.RawMessage
	Value A
}

// Fold groups the entities that match by some members and folds each group with a function. The function receives its
// last result for the group, the zero value at first, and an entity. An error that it returns ends the call. It runs in
// the calling goroutine. The groups are in the order of their first entities.
func Fold[A, T any](
	ctx context.Context, c *Collection[T], keys []string, query *Query,
	step func(A, T) (A, error), options ...Option,
) ([]Folded[A], error) {
	var folded []Folded[A]
	var failed error
	text, err := c.store.reduce(ctx, keys, query, options, func(group int, text []byte) bool {
		if failed = ctx.Err(); failed != nil {
			failed = ended(failed)
			return false
		}
		for len(folded) <= group {
			folded = append(folded, Folded[A]{})
		}
		entity, err := unmarshal[T](text)
		if err == nil {
			folded[group].Value, err = step(folded[group].Value, entity)
		}
		failed = err
		return err == nil
	})
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	names, err := unmarshal[[]json.RawMessage](text)
	for index := range folded {
		folded[index].Keys = names[index]
	}
	return folded, err
}

func (s *store) group(
	ctx context.Context, grouping Grouping, query *Query, options []Option,
) ([]byte, error) {
	wanted, err := grouping.text()
	if err != nil {
		return nil, err
	}
	c, err := s.prepare(ctx, query, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	return run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_group_async(s.handle, characters(wanted), C.size_t(len(wanted)), c.query, c.text,
			r.done, r.context, r.free, q, e)
	})
}

func (s *store) distinct(
	ctx context.Context, path string, query *Query, options []Option,
) ([]byte, error) {
	name, err := terminated(path, "the path")
	if err != nil {
		return nil, err
	}
	c, err := s.prepare(ctx, query, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	return run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_distinct_async(s.handle, characters(name), c.query, c.text,
			r.done, r.context, r.free, q, e)
	})
}

// reducer receives an entity of a group; false ends the call.
type reducer func(group int, entity []byte) bool

func (s *store) reduce(
	ctx context.Context, keys []string, query *Query, options []Option, add reducer,
) ([]byte, error) {
	names, err := marshal(append([]string{}, keys...))
	if err != nil {
		return nil, err
	}
	c, err := s.prepare(ctx, query, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	number := remember(add)
	defer kvgoFree(number)
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_store_reduce(s.handle, characters(names), C.size_t(len(names)), c.query, c.text,
		C.kvgo_reduce_fn(), number, &text, &length, &left)
	return taken(text, length), check(status, left)
}

//export kvgoReduce
func kvgoReduce(context unsafe.Pointer, group C.size_t, entity *C.char, length C.size_t) C.int32_t {
	if add, ok := recall(context).(reducer); ok && add(int(group), bytesOf(entity, length)) {
		return 0
	}
	return 1
}
