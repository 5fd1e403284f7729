package kvstore

// #include <kvstore.h>
import "C"

import (
	"encoding/json"
	"runtime"
)

// An Index is what an application wants to be found fast: one of Keys, Text and Place.
type Index struct {
	// Name is made of the keys if it is empty.
	Name string
	// Keys are members, nested ones ("address.city") and arrays included, in their order.
	Keys []SortKey
	// Text are the members whose words $text searches; "$**" stands for all texts.
	Text []string
	// Place is a member with a place, such as "_geoloc".
	Place string
	// Totals keeps count and sum of the last of Keys for each group of the others.
	Totals bool
	// Language keeps the stems of the words of Text too, for searches in this language: "english", or "" for none.
	Language string
}

// A StoredIndex is an index as a collection has it.
type StoredIndex struct {
	Name string `json:"name"`
	// Keys is a JSON object such as {"country":1,"population":-1}.
	Keys json.RawMessage `json:"keys"`
	// State is "ready", "building" or "unusable"; only the first is used by queries.
	State string `json:"state"`
	// Arrays tells whether some entities have an array there.
	Arrays bool `json:"arrays"`
	// Totals tells whether count and sum of the last key are kept for each group of the others.
	Totals bool `json:"totals"`
	// Language is that whose stems are kept beside the words.
	Language string `json:"language"`
}

// An Explanation tells how a query is carried out, and what it looked at.
type Explanation struct {
	// Access is "index", "ids" or "scan".
	Access  string   `json:"access"`
	Indexes []string `json:"indexes"`
	// Exact tells whether no entity had to be looked at to know that it matches.
	Exact bool `json:"exact"`
	// Covering tells whether a count needs nothing but the index.
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
		return nil, invalid("an index has Keys, Text or a Place")
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
