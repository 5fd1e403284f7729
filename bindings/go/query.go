package kvstore

// #include <kvstore.h>
import "C"

import (
	"bytes"
	"encoding/json"
)

// M is a JSON object, for filters and for entities without a type of their own. A number that is read into it, or into
// any other interface, is an int64 where it is written as an integer and fits, else a float64 where that is the same
// number, else a [json.Number]: what is read and saved again stays what it was.
type M = map[string]any

// A Query says which entities, in which order, and which part of them. nil means everything.
type Query struct {
	// Filter is in the backend's language (MongoDB's), such as M{"population": M{"$gte": 50000}};
	// anything that marshals to a JSON object.
	Filter any
	// Format, if not empty, is used in index of Filter: a predicate format as NSPredicate has them,
	// such as "state == %@ AND population >= %d".
	Format string
	// Arguments are the values of the format's %@, %K, %d and so on; nothing in them is read as syntax.
	Arguments []any
	// Variables are the values of the format's $names.
	Variables M
	// Sort is by the first key, then by the second, and so on; ties are broken by "_id".
	Sort []SortKey
	// Skip and Limit choose a page; a Limit of 0 is none, as in every language.
	Skip, Limit int
	// Fields chooses members; "_id" always comes.
	Fields []string
	// Computed are members that results have beside those of the entities, by their names: see [Query.Computing].
	Computed map[string]Computed

	// combination, if not empty, says how parts make this query.
	combination string
	parts       []*Query
	// broken is what is wrong with a query that could not be built.
	broken error
}

// And selects what all of the queries select. Their filters count, not their modifiers; the result may be
// given some of its own.
func And(queries ...*Query) *Query { return &Query{combination: "and", parts: queries} }

// Or selects what at least one of the queries selects; otherwise as [And].
func Or(queries ...*Query) *Query { return &Query{combination: "or", parts: queries} }

// Not selects what a query does not select; otherwise as [And].
func Not(query *Query) *Query { return &Query{combination: "not", parts: []*Query{query}} }

// A SortKey is a member to sort by.
type SortKey struct {
	Name       string
	Descending bool
	// meta, if not empty, is what is computed instead of the member.
	meta Meta
}

// Ascending sorts by a member, smallest first.
func Ascending(name string) SortKey { return SortKey{Name: name} }

// Descending sorts by a member, greatest first.
func Descending(name string) SortKey { return SortKey{Name: name, Descending: true} }

// open makes what C calls a query; the caller frees it.
func (q *Query) open() (*C.kv_query, error) {
	if q == nil {
		return nil, nil
	}
	if q.broken != nil {
		return nil, q.broken
	}
	if q.combination != "" {
		return q.openCombination()
	}
	if q.Format != "" {
		return q.openFormat()
	}
	var filter []byte
	if q.Filter != nil {
		text, err := marshal(q.Filter)
		if err != nil {
			return nil, err
		}
		filter = text
	}
	modifiers, err := q.modifiers()
	if err != nil {
		return nil, err
	}
	var handle *C.kv_query
	var left *C.kv_error
	status := C.kv_query_create(characters(filter), C.size_t(len(filter)),
		characters(modifiers), C.size_t(len(modifiers)), &handle, &left)
	return handle, check(status, left)
}

// openFormat makes a query of the predicate format.
func (q *Query) openFormat() (*C.kv_query, error) {
	if q.Filter != nil {
		return nil, invalid("a query has a Filter or a Format, not both")
	}
	values := map[string]any{"arguments": append([]any{}, q.Arguments...)}
	if q.Variables != nil {
		values["variables"] = q.Variables
	}
	arguments, err := marshal(values)
	if err != nil {
		return nil, err
	}
	modifiers, err := q.modifiers()
	if err != nil {
		return nil, err
	}
	format, err := terminated(q.Format, "the format")
	if err != nil {
		return nil, err
	}
	var handle *C.kv_query
	var left *C.kv_error
	status := C.kv_query_from_format(characters(format), characters(arguments), C.size_t(len(arguments)),
		characters(modifiers), C.size_t(len(modifiers)), &handle, &left)
	return handle, check(status, left)
}

// openCombination makes a query of the parts.
func (q *Query) openCombination() (*C.kv_query, error) {
	if q.Filter != nil || q.Format != "" {
		return nil, invalid("a combined query has no Filter or Format of its own")
	}
	// NULL stands for everything, as nil does.
	handles := make([]*C.kv_query, len(q.parts)+1)
	defer func() {
		for _, handle := range handles {
			C.kv_query_free(handle)
		}
	}()
	for index, part := range q.parts {
		handle, err := part.open()
		if err != nil {
			return nil, err
		}
		handles[index] = handle
	}
	modifiers, err := q.modifiers()
	if err != nil {
		return nil, err
	}
	name, err := terminated(q.combination, "the combination")
	if err != nil {
		return nil, err
	}
	var handle *C.kv_query
	var left *C.kv_error
	status := C.kv_query_combine(characters(name), &handles[0], C.size_t(len(q.parts)),
		characters(modifiers), C.size_t(len(modifiers)), &handle, &left)
	return handle, check(status, left)
}

func (q *Query) modifiers() ([]byte, error) {
	members := map[string]any{}
	put(members, "skip", q.Skip)
	put(members, "limit", q.Limit)
	if q.Fields != nil {
		members["fields"] = q.Fields
	}
	if q.Computed != nil {
		computed := M{}
		for name, value := range q.Computed {
			if value == nil {
				return nil, invalid("nothing is computed as %q", name)
			}
			computed[name] = value.computation()
		}
		members["computed"] = computed
	}
	if q.Sort != nil {
		members["sort"] = sortKeys(q.Sort)
	}
	if len(members) == 0 {
		return nil, nil
	}
	return marshal(members)
}

// sortKeys is written as an object whose order counts, which a map would lose.
type sortKeys []SortKey

func (keys sortKeys) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for index, key := range keys {
		if index > 0 {
			text.WriteByte(',')
		}
		name, err := json.Marshal(key.Name)
		if err != nil {
			return nil, err
		}
		text.Write(name)
		switch {
		case key.meta != "":
			meta, err := marshal(key.meta.computation())
			if err != nil {
				return nil, err
			}
			text.WriteByte(':')
			text.Write(meta)
		case key.Descending:
			text.WriteString(":-1")
		default:
			text.WriteString(":1")
		}
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}
