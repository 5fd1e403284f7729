package kvstore

// #include <stdint.h>
// #include <stdlib.h>
// #include <kvstore.h>
//
// void kvgoFetch(void *context, uint64_t request, char *json, size_t length);
// void kvgoFetchIDs(void *context, uint64_t request, char *json, size_t length);
// void kvgoLoad(void *context, uint64_t request, char *json, size_t length);
// void kvgoSave(void *context, uint64_t request, char *json, size_t length);
// void kvgoRelationship(void *context, uint64_t request, char *json, size_t length);
// void kvgoObtainIDs(void *context, uint64_t request, char *json, size_t length);
// void kvgoCancel(void *context, uint64_t request);
// void kvgoFree(void *context);
//
// static inline kv_status kvgo_store_type_register(const char *name, const char *json, size_t length,
//                                                  int has_relationship, int has_ids, void *context,
//                                                  kv_error **error) {
//   kv_store_type functions = {
//       .size = sizeof functions,
//       .load = (kv_backend_fn)kvgoLoad,
//       .fetch = (kv_backend_fn)kvgoFetch,
//       .values = (kv_backend_fn)kvgoFetchIDs,
//       .save = (kv_backend_fn)kvgoSave,
//       .relationship = has_relationship ? (kv_backend_fn)kvgoRelationship : NULL,
//       .obtain_ids = has_ids ? (kv_backend_fn)kvgoObtainIDs : NULL,
//       .cancel = kvgoCancel,
//   };
//   return kv_store_type_register(name, json, length, &functions, context, kvgoFree, error);
// }
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"unsafe"
)

// A CustomStore keeps records itself, in place of the library's local database: in a file, a database or a service. Clients
// are opened with Options.Store, and nothing else of their code changes. The library keeps nothing of its data.
//
// Goroutines, contexts and errors are those of a [BackendService], but no write waits: if Save fails, so does the call that
// saves. docs/stores.md describes the requests and the answers of each method.
type CustomStore interface {
	// Load opens the data of the store and returns what identifies it.
	Load(ctx context.Context, location StoreLocation) (StoreMetadata, error)
	// Fetch returns one page of a collection.
	Fetch(ctx context.Context, fetch Fetch) (FetchedPage, error)
	// Values returns the records with these ids that exist, in any order.
	Values(ctx context.Context, collection string, ids []json.RawMessage) ([]json.RawMessage, error)
	// Save makes changes all at once, or not at all.
	Save(ctx context.Context, save Save) (Saved, error)
}

// A RelationshipTeller is a [CustomStore] that finds the targets of relationships itself. Of other stores, the targets are
// fetched whose Keys have the ids.
type RelationshipTeller interface {
	// Relationship returns, for each of the ids, the ids that the relationship leads to.
	Relationship(ctx context.Context, asked AskedRelationship) ([][]json.RawMessage, error)
}

// An IDChooser is a [CustomStore] that chooses the ids of new records. For other stores, the library makes them.
type IDChooser interface {
	// ObtainIDs returns an id for each of the objects, in the same order.
	ObtainIDs(ctx context.Context, objects []NewRecord) ([]any, error)
}

// A StoreLocation says where a store is to look for its data: what the client was opened with.
type StoreLocation struct {
	AppKey        string `json:"appKey"`
	DataDirectory string `json:"dataDirectory"`
	Tag           string `json:"tag"`
	// Options are Options.StoreOptions.
	Options json.RawMessage `json:"options"`
}

// A StoreMetadata identifies a store.
type StoreMetadata struct {
	// Type is the name that the store is registered by.
	Type string `json:"type"`
	// UUID has 1 to 64 letters, digits and hyphens. It is the same each time that the same data is opened.
	UUID string `json:"uuid"`
}

// A Change is one change of a [Save].
type Change struct {
	Collection string          `json:"collection"`
	ID         json.RawMessage `json:"id"`
	// Record is the whole record. It is nil for a deletion.
	Record json.RawMessage `json:"record"`
	// Condition is the version that the stored record must have. "null" means that no record may exist, and nil means that
	// there is no condition.
	Condition json.RawMessage `json:"if"`
}

// MayReplace reports whether the condition allows a record with this version, as JSON. A nil version means no record.
func (c Change) MayReplace(version json.RawMessage) bool {
	switch {
	case c.Condition == nil:
		return true
	case string(c.Condition) == "null":
		return version == nil
	}
	return bytes.Equal(c.Condition, version)
}

// A Save has changes that are made all at once, or not at all.
type Save struct {
	Inserted []Change `json:"inserted"`
	Updated  []Change `json:"updated"`
	Deleted  []Change `json:"deleted"`
}

// Saved is the answer to a [Save].
type Saved struct {
	// Records are the inserted and then the updated records as they are now, each nil if it is as sent. If Records is nil, all
	// are as sent.
	Records []json.RawMessage
	// Deleted says of each record to be deleted whether it existed. If it is nil, all did.
	Deleted []bool
	// Conflicts are the changes whose condition does not hold. If there is one, nothing was written.
	Conflicts []SaveConflict
}

// A SaveConflict is a change whose condition does not hold.
type SaveConflict struct {
	Collection string          `json:"collection"`
	ID         json.RawMessage `json:"id"`
	// Record is the stored record. It is nil if there is none.
	Record json.RawMessage `json:"record"`
}

// MarshalJSON writes the answer in the form that the library reads.
func (s Saved) MarshalJSON() ([]byte, error) {
	answer := M{}
	if s.Conflicts != nil {
		answer["conflicts"] = s.Conflicts
	}
	if s.Records != nil {
		answer["saved"] = s.Records
	}
	if s.Deleted != nil {
		answer["deleted"] = s.Deleted
	}
	return json.Marshal(answer)
}

// An AskedRelationship is a relationship whose targets hold the keys of the objects that it starts from.
type AskedRelationship struct {
	Name       string            `json:"relationship"`
	Collection string            `json:"collection"`
	Target     string            `json:"target"`
	Keys       []string          `json:"keys"`
	IDs        []json.RawMessage `json:"ids"`
}

// A NewRecord is a record that has no id yet.
type NewRecord struct {
	Collection string          `json:"collection"`
	Record     json.RawMessage `json:"record"`
}

// RegisterStore registers a store under a name of this process, for Options.Store. It shares the names with RegisterBackend.
// A name can be registered once, until UnregisterStore removes it; "local" is the library's own database.
func RegisterStore(name string, store CustomStore, options BackendOptions) error {
	description, err := marshal(options)
	if err != nil {
		return err
	}
	text, err := terminated(name, "the name")
	if err != nil {
		return err
	}
	hasRelationship, hasIDs := C.int(0), C.int(0)
	if _, ok := store.(RelationshipTeller); ok {
		hasRelationship = 1
	}
	if _, ok := store.(IDChooser); ok {
		hasIDs = 1
	}
	var left *C.kv_error
	// The library releases the number through kvgoFree, also when it returns an error.
	host := remember(&backendHost{service: storeReader{store}, store: store})
	status := C.kvgo_store_type_register(characters(text), characters(description), C.size_t(len(description)),
		hasRelationship, hasIDs, host, &left)
	return check(status, left)
}

// UnregisterStore removes a name. No further client can open with it; clients that are open keep their store.
func UnregisterStore(name string) error {
	text, err := terminated(name, "the name")
	if err != nil {
		return err
	}
	var left *C.kv_error
	return check(C.kv_store_type_unregister(characters(text), &left), left)
}

// StoreChanges are records of a store that were changed otherwise than by the library.
type StoreChanges struct {
	Collection string `json:"collection"`
	// IDs are those of the records: strings, integers, or arrays of them where an id has several members. If it is nil, any
	// records of the collection may have been changed.
	IDs []any `json:"ids,omitempty"`
}

// AnnounceChanges tells that records of a registered store were changed otherwise than by the library. Lists of contexts that
// are observed fetch again, and objects without unsaved changes are read anew if their version is another one. Without changes any
// record may have been changed. It does not wait, and may be called by the methods of the store.
func AnnounceChanges(name string, changes ...StoreChanges) error {
	text, err := terminated(name, "the name")
	if err != nil {
		return err
	}
	var list []byte
	if len(changes) > 0 {
		if list, err = marshal(changes); err != nil {
			return err
		}
	}
	var left *C.kv_error
	return check(C.kv_store_type_announce(characters(text), characters(list), C.size_t(len(list)), &left), left)
}

// A storeReader reads a store as a backend is read: the requests are the same.
type storeReader struct{ CustomStore }

func (r storeReader) FetchIDs(
	ctx context.Context, collection string, ids []json.RawMessage,
) ([]json.RawMessage, error) {
	return r.Values(ctx, collection, ids)
}

func (r storeReader) Write(context.Context, string, []Write) ([]WriteResult, error) {
	return nil, ErrUnsupported
}

//export kvgoLoad
func kvgoLoad(context unsafe.Pointer, request C.uint64_t, text *C.char, length C.size_t) {
	begin(context, request, text, length, (*backendHost).load)
}

//export kvgoSave
func kvgoSave(context unsafe.Pointer, request C.uint64_t, text *C.char, length C.size_t) {
	begin(context, request, text, length, (*backendHost).save)
}

//export kvgoRelationship
func kvgoRelationship(context unsafe.Pointer, request C.uint64_t, text *C.char, length C.size_t) {
	begin(context, request, text, length, (*backendHost).relationship)
}

//export kvgoObtainIDs
func kvgoObtainIDs(context unsafe.Pointer, request C.uint64_t, text *C.char, length C.size_t) {
	begin(context, request, text, length, (*backendHost).obtainIDs)
}

func (h *backendHost) load(ctx context.Context, text []byte) (any, error) {
	var location StoreLocation
	if err := json.Unmarshal(text, &location); err != nil {
		return nil, err
	}
	return h.store.Load(ctx, location)
}

func (h *backendHost) save(ctx context.Context, text []byte) (any, error) {
	var save Save
	if err := json.Unmarshal(text, &save); err != nil {
		return nil, err
	}
	return h.store.Save(ctx, save)
}

func (h *backendHost) relationship(ctx context.Context, text []byte) (any, error) {
	var asked AskedRelationship
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	teller, ok := h.store.(RelationshipTeller)
	if !ok {
		return nil, ErrUnsupported
	}
	related, err := teller.Relationship(ctx, asked)
	for index := range related {
		if related[index] == nil {
			related[index] = []json.RawMessage{}
		}
	}
	return M{"related": related}, err
}

func (h *backendHost) obtainIDs(ctx context.Context, text []byte) (any, error) {
	var asked struct{ Objects []NewRecord }
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	chooser, ok := h.store.(IDChooser)
	if !ok {
		return nil, ErrUnsupported
	}
	ids, err := chooser.ObtainIDs(ctx, asked.Objects)
	return M{"ids": ids}, err
}
