package kvstore

// #include <kvstore.h>
import "C"

import (
	"bytes"
	"encoding/json"
)

// M is a JSON object, for filters and for entities without a type of their own. A number that is read into M, or into
// any other interface, keeps its exact value. It becomes an int64 if it is written as an integer and fits, else a
// float64 if that is the same number, else a [json.Number].
type M = map[string]any

// A Query selects entities, sorts them and chooses their members. A nil query means everything.
type Query struct {
	// Filter is in MongoDB's query language, such as M{"population": M{"$gte": 50000}}. Any value that marshals to a JSON
	// object is allowed.
	Filter any
	// Format, if not empty, is used in place of Filter: a predicate format in the syntax of NSPredicate, such as "state ==
	// %@ AND population >= %d".
	Format string
	// Arguments are the values for %@, %K, %d and so on in the format. They are never read as syntax.
	Arguments []any
	// Variables are the values for the $names in the format.
	Variables M
	// Sort has the sort keys, most significant first. Equal entities are sorted by "_id".
	Sort []SortKey
	// Collation, if not nil, compares and sorts texts as a language does.
	Collation *Collation
	// Skip and Limit choose a page. A Limit of 0 means no limit.
	Skip, Limit int
	// Fields are the members that results have. "_id" is always one of them.
	Fields []string
	// Computed are additional members of the results, by name: see [Query.Computing].
	Computed map[string]Computed

	// combination, if not empty, is the operator that combines parts.
	combination string
	parts       []*Query
	// broken is the error of a query that could not be built.
	broken error
}

// And selects entities that all of the queries select. Only their filters are used, not their sort order, page or
// fields. The result may have its own.
func And(queries ...*Query) *Query { return &Query{combination: "and", parts: queries} }

// Or selects entities that at least one of the queries selects. Otherwise it works like [And].
func Or(queries ...*Query) *Query { return &Query{combination: "or", parts: queries} }

// Not selects entities that a query does not select. Otherwise it works like [And].
func Not(query *Query) *Query { return &Query{combination: "not", parts: []*Query{query}} }

// A Collation is how texts are compared and sorted: as a language does.
type Collation struct {
	// Locale is the language, such as "de" or "sv".
	Locale string `json:"locale"`
	// IgnoreCase makes "a" and "A" equal.
	IgnoreCase bool `json:"ignoreCase,omitempty"`
	// IgnoreAccents makes "a" and "ä" equal. It needs IgnoreCase.
	IgnoreAccents bool `json:"ignoreAccents,omitempty"`
}

// A SortKey is a member to sort by, and the direction.
type SortKey struct {
	Name       string
	Descending bool
	// meta, if not empty, is the computed number to sort by, in place of the member.
	meta Meta
}

// Ascending sorts by a member, smallest first.
func Ascending(name string) SortKey { return SortKey{Name: name} }

// Descending sorts by a member, greatest first.
func Descending(name string) SortKey { return SortKey{Name: name, Descending: true} }

// open creates a C query, which the caller frees.
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

// openFormat creates a C query from the predicate format.
func (q *Query) openFormat() (*C.kv_query, error) {
	if q.Filter != nil {
		return nil, invalid("a query cannot have both a Filter and a Format")
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

// openCombination creates a C query from the parts.
func (q *Query) openCombination() (*C.kv_query, error) {
	if q.Filter != nil || q.Format != "" {
		return nil, invalid("a combined query cannot have a Filter or a Format of its own")
	}
	// NULL means everything, as nil does.
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
				return nil, invalid("no computed value is given for the member %q", name)
			}
			computed[name] = value.computation()
		}
		members["computed"] = computed
	}
	if q.Sort != nil {
		members["sort"] = sortKeys(q.Sort)
	}
	if q.Collation != nil {
		members["collation"] = q.Collation
	}
	if len(members) == 0 {
		return nil, nil
	}
	return marshal(members)
}

// sortKeys is written as a JSON object whose order matters. A map would lose the order.
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
