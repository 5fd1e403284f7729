package kvstore

// #include <kvstore.h>
import "C"

import (
	"encoding/json"
	"runtime"
)

// An Index describes an index to create. Exactly one of Keys, Text and Place is set.
type Index struct {
	// Name is the name of the index. If it is empty, it is derived from the keys.
	Name string
	// Keys are the indexed members, in order. They may be nested ("address.city") or arrays.
	Keys []SortKey
	// Text are the members whose words $text searches. "$**" stands for all strings.
	Text []string
	// Place is a member that holds a point, such as "_geoloc".
	Place string
	// Totals stores the count and the sum of the last key for each group of the other keys.
	Totals bool
	// Language also indexes the stems of the words, for searches in this language: "english", or "" for none.
	Language string
	// Collation, if not nil, keeps the texts of Keys in the order of a language, for queries with the same one.
	Collation *Collation
}

// A StoredIndex is an index of a collection.
type StoredIndex struct {
	Name string `json:"name"`
	// Keys is a JSON object such as {"country":1,"population":-1}.
	Keys json.RawMessage `json:"keys"`
	// State is "ready", "building" or "unusable". Queries use only indexes that are ready.
	State string `json:"state"`
	// Arrays reports whether the indexed member is an array in some entities.
	Arrays bool `json:"arrays"`
	// Totals reports whether count and sum of the last key are stored for each group of the others.
	Totals bool `json:"totals"`
	// Language is the language whose stems are indexed as well.
	Language string `json:"language"`
	// Collation is the order of texts. It is nil if they are in that of code points.
	Collation *Collation `json:"collation"`
	// Automatic tells why the index was made without being asked for. It is nil if the application created it.
	Automatic *IndexReason `json:"automatic"`
}

// An IndexReason is what queries had cost before an automatic index was made.
type IndexReason struct {
	// Scans is the number of queries that looked at all entities.
	Scans int `json:"scans"`
	// Examined and Returned count the entities that these looked at and found, in total.
	Examined int `json:"examined"`
	Returned int `json:"returned"`
	// Bytes is how much of the file the index took.
	Bytes int `json:"bytes"`
}

// An Explanation describes how a query was carried out and what it read.
type Explanation struct {
	// Access is "index", "ids" or "scan".
	Access  string   `json:"access"`
	Indexes []string `json:"indexes"`
	// Exact reports whether the index alone decides which entities match, without reading them.
	Exact bool `json:"exact"`
	// Covering reports whether the index alone answers a count.
	Covering bool     `json:"covering"`
	SQL      string   `json:"sql"`
	Steps    []string `json:"steps"`
	Examined int      `json:"examined"`
	Returned int      `json:"returned"`
}

func (i Index) json() ([]byte, error) {
	spec := map[string]any{}
	put(spec, "name", i.Name)
	put(spec, "language", i.Language)
	if i.Totals {
		spec["totals"] = true
	}
	if i.Collation != nil {
		spec["collation"] = i.Collation
	}
	others := map[string]string{}
	for _, name := range i.Text {
		others[name] = "text"
	}
	if i.Place != "" {
		others[i.Place] = "2dsphere"
	}
	switch {
	case len(i.Keys) > 0 && len(others) == 0:
		spec["keys"] = sortKeys(i.Keys)
	case len(i.Keys) == 0 && len(others) > 0:
		spec["keys"] = others
	default:
		return nil, invalid("an index needs Keys, Text or a Place")
	}
	return marshal(spec)
}

func (s *store) createIndex(index Index) error {
	spec, err := index.json()
	if err != nil {
		return err
	}
	var left *C.kv_error
	status := C.kv_store_create_index(s.handle, characters(spec), C.size_t(len(spec)), &left)
	runtime.KeepAlive(s)
	return check(status, left)
}

func (s *store) dropIndex(name string) error {
	text, err := terminated(name, "the name of the index")
	if err != nil {
		return err
	}
	var left *C.kv_error
	status := C.kv_store_drop_index(s.handle, characters(text), &left)
	runtime.KeepAlive(s)
	return check(status, left)
}

func (s *store) indexes() ([]StoredIndex, error) {
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_store_indexes(s.handle, &text, &length, &left)
	runtime.KeepAlive(s)
	return decode[[]StoredIndex](taken(text, length), check(status, left))
}

func (s *store) explain(query *Query) (Explanation, error) {
	handle, err := query.open()
	if err != nil {
		return Explanation{}, err
	}
	defer C.kv_query_free(handle)
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_store_explain(s.handle, handle, &text, &length, &left)
	runtime.KeepAlive(s)
	return decode[Explanation](taken(text, length), check(status, left))
}
