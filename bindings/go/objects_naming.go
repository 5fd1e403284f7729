package kvstore

// #include <kvstore.h>
import "C"

import "encoding/json"

// An ObjectDescription has the names of an object.
type ObjectDescription struct {
	ObjectID
	// Reference is what the store knows the object by: a text, an integer or a list; null while the id is temporary.
	Reference json.RawMessage `json:"reference"`
	// URI names the object in each context of the store, also after a relaunch.
	URI         string `json:"uri"`
	IsTemporary bool   `json:"isTemporary"`
}

// Describe tells the names of an object.
func (x *Context) Describe(collection, id string) (ObjectDescription, error) {
	n := named(collection, id)
	defer n.free()
	return decode[ObjectDescription](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_describe(x.handle, n[0], n[1], out, length, left)
	}))
}

// Locate tells what a URI names. The object need not exist.
func (x *Context) Locate(uri string) (ObjectDescription, error) {
	n := named(uri)
	defer n.free()
	return decode[ObjectDescription](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_locate(x.handle, n[0], out, length, left)
	}))
}

// A PermanentID is the id that a store has chosen for a new object.
type PermanentID struct {
	// ObjectID names the object from now on.
	ObjectID
	// Temporary is the id that Insert returned. It names the object in this context ever after.
	Temporary string `json:"temporary"`
}

// ObtainIDs asks a store that chooses ids for those of new objects, before a save does, and returns them.
func (x *Context) ObtainIDs() ([]PermanentID, error) {
	return decode[[]PermanentID](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_obtain_ids(x.handle, out, length, left)
	}))
}
