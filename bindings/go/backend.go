package kvstore

// #include <stdint.h>
// #include <stdlib.h>
// #include <kvstore.h>
//
// void kvgoFetch(void *context, uint64_t request, char *json, size_t length);
// void kvgoFetchIDs(void *context, uint64_t request, char *json, size_t length);
// void kvgoChanges(void *context, uint64_t request, char *json, size_t length);
// void kvgoWrite(void *context, uint64_t request, char *json, size_t length);
// void kvgoLive(void *context, uint64_t request, char *json, size_t length);
// void kvgoCancel(void *context, uint64_t request);
// void kvgoFree(void *context);
//
// static inline kv_status kvgo_backend_register(const char *name, const char *json, size_t length, int has_changes,
//                                               int has_live, void *context, kv_error **error) {
//   kv_backend functions = {
//       .size = sizeof functions,
//       .fetch = (kv_backend_fn)kvgoFetch,
//       .fetch_ids = (kv_backend_fn)kvgoFetchIDs,
//       .changes = has_changes ? (kv_backend_fn)kvgoChanges : NULL,
//       .write = (kv_backend_fn)kvgoWrite,
//       .live = has_live ? (kv_backend_fn)kvgoLive : NULL,
//       .cancel = kvgoCancel,
//   };
//   return kv_backend_register(name, json, length, &functions, context, kvgoFree, error);
// }
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"
	"unsafe"
)

// A BackendService is what clients synchronise with: a program's own, in place of a host. Its methods run in goroutines
// of their own, many at the same time. Their contexts end when nobody waits for them any more.
//
// An error is how a request fails: an [Error] or a [Status] is itself, context.DeadlineExceeded and
// os.ErrDeadlineExceeded are ErrTimeout, os.ErrPermission is ErrForbidden, everything else is ErrNetwork: no answer. A
// panic is ErrServer. No write is lost by any of them. docs/backends.md describes what each method is asked and answers.
type BackendService interface {
	// Fetch gives a page of a collection.
	Fetch(ctx context.Context, fetch Fetch) (FetchedPage, error)
	// FetchIDs gives the records of these ids that there are, in any order.
	FetchIDs(ctx context.Context, collection string, ids []json.RawMessage) ([]json.RawMessage, error)
	// Write carries out writes; one result for each, in their order.
	Write(ctx context.Context, collection string, writes []Write) ([]WriteResult, error)
}

// A ChangeTeller is a [BackendService] that can tell what has changed. From others everything is read each time.
type ChangeTeller interface {
	// ChangedSince gives what has happened since a token; ErrUnknownToken if that is too old or of other data.
	ChangedSince(ctx context.Context, collection, token string) (ChangedPage, error)
}

// A LiveTeller is a [BackendService] that can tell of changes when they happen. With others live data is ErrUnsupported.
type LiveTeller interface {
	// Live waits until something happens to a collection. after is what the last page had as Next; nil asks for the
	// present place, at once and without changes. After some minutes without a change give an empty page.
	Live(ctx context.Context, collections []string, after json.RawMessage) (LivePage, error)
}

// ErrUnknownToken says that everything has to be read.
var ErrUnknownToken = errors.New("kvstore: unknown token")

// Fetch is a page that is asked for.
type Fetch struct {
	Collection string `json:"collection"`
	PageSize   int    `json:"pageSize"`
	// After is what the page before gave as Next; nil for the first page.
	After json.RawMessage `json:"after"`
	// Filter: what does not match may be left out; a backend with Queries must leave it out.
	Filter json.RawMessage `json:"filter"`
	// Sort, Skip and Limit are for backends with Queries.
	Sort  json.RawMessage `json:"sort"`
	Skip  int             `json:"skip"`
	Limit *int            `json:"limit"`
}

// A FetchedPage is some records of a collection.
type FetchedPage struct {
	Records []json.RawMessage `json:"records"`
	// Next asks for the page behind this one; nil: this is the last one.
	Next any `json:"next"`
	// Token, of a first page, is the state of the collection before it was read, for a [ChangeTeller].
	Token string `json:"token,omitempty"`
}

// A RecordChange is a record that was made or changed, or, with an ID and no record, one that has gone.
type RecordChange struct {
	Record json.RawMessage `json:"upsert,omitempty"`
	ID     any             `json:"delete,omitempty"`
	// Version is what the record is that has gone, where the backend has versions of these.
	Version any `json:"version,omitempty"`
}

// A CollectionChange is a change of a record, and where.
type CollectionChange struct {
	Collection string `json:"collection"`
	RecordChange
}

// A LivePage is what has happened to some collections since they were asked for last, in its order.
type LivePage struct {
	Changes []CollectionChange `json:"changes"`
	// Next is where to go on from; any JSON value but null.
	Next any `json:"next"`
	// Incomplete: something that happened before is not among the changes.
	Incomplete bool `json:"incomplete"`
}

// A ChangedPage is what has happened to a collection, in its order.
type ChangedPage struct {
	Changes []RecordChange `json:"changes"`
	// Token is what to ask from the next time; More says that there is more behind it.
	Token string `json:"token"`
	More  bool   `json:"more"`
}

// Write is one write of a batch.
type Write struct {
	// Operation is "create", "update" or "delete".
	Operation string          `json:"op"`
	ID        json.RawMessage `json:"id"`
	// Record is nil for a deletion.
	Record json.RawMessage `json:"record"`
	// Condition is the version that must be there, "null" if no such record may be there, nil if there is no
	// condition. A record that is to be created must not be there in any case.
	Condition json.RawMessage `json:"if"`
}

// MayReplace tells whether the write may be carried out where this version is, as JSON; nil: no such record.
func (w Write) MayReplace(version json.RawMessage) bool {
	switch {
	case w.Operation == "create" || string(w.Condition) == "null":
		return version == nil
	case w.Condition == nil:
		return true
	}
	return bytes.Equal(w.Condition, version)
}

// A WriteResult is what came of one write; see [WriteStored], [WriteDeleted], [WriteConflict], [WriteRefused] and [WriteLater].
type WriteResult struct{ members M }

// MarshalJSON writes it as the library reads it.
func (r WriteResult) MarshalJSON() ([]byte, error) { return json.Marshal(r.members) }

// WriteStored: the write was carried out; the record as it is now.
func WriteStored(record json.RawMessage) WriteResult { return WriteResult{M{"stored": record}} }

// WriteDeleted: the record is gone; whether there was one.
func WriteDeleted(existed bool) WriteResult { return WriteResult{M{"deleted": existed}} }

// WriteConflict: what is there, nil for nothing, does not meet the condition, or is there although it was to be created.
func WriteConflict(record json.RawMessage) WriteResult { return WriteResult{M{"conflict": record}} }

// WriteRefused: the write is refused for good, as ErrInvalid, ErrNotFound, ErrForbidden or ErrTooLarge.
func WriteRefused(status Status, message string) WriteResult {
	return WriteResult{M{"refused": M{"message": message, "status": int(status)}}}
}

// WriteLater: not now; perhaps after some time, 0 for unknown.
func WriteLater(message string, after time.Duration) WriteResult {
	later := M{"message": message}
	if after > 0 {
		later["after"] = after.Seconds()
	}
	return WriteResult{M{"later": later}}
}

// An IDMember is a member that records are known by.
type IDMember struct {
	Name string
	// Integer: it holds integers; else texts.
	Integer bool
}

// A VersionMember is where a record has its version: what is another one after each change.
type VersionMember struct {
	// Path is the member, inside of others if there are several names. Empty: there are no versions, and what others have
	// changed in the meantime is overwritten.
	Path []string
	// Integer: it is an integer that grows. Ordered: it is a text, of which the greater is the later one. Neither: nothing
	// is known of it but whether it is another one.
	Integer, Ordered bool
}

// BackendOptions say what a backend's records look like and what it can do. A zero value means the default.
type BackendOptions struct {
	// ID is the member that records are known by, or several of which only all together tell one record from another;
	// default: "_id".
	ID      []IDMember
	Version VersionMember
	// BackendMembers are members that are the backend's, and no content.
	BackendMembers []string
	// Queries: Fetch evaluates filter, order, skip and limit; else the library does.
	Queries bool
	// IgnoresConditions: Write does not keep conditions, so that the library looks first.
	IgnoresConditions bool
	// PageSize (1,000), IDsPerRequest (100) and WritesPerRequest (100) bound requests, MaxAnswerBytes (100 MiB) answers.
	PageSize, IDsPerRequest, WritesPerRequest, MaxAnswerBytes int
	// RequestsAtOnce is how many requests are under way at the same time; default: 4.
	RequestsAtOnce int
}

// MarshalJSON writes the options as the library reads them.
func (o BackendOptions) MarshalJSON() ([]byte, error) {
	members := map[string]any{"queries": o.Queries, "conditions": !o.IgnoresConditions}
	var id []M
	for _, member := range o.ID {
		id = append(id, M{"name": member.Name, "kind": kindOf(member.Integer)})
	}
	if id != nil {
		members["id"] = id
	}
	if o.Version.Path != nil {
		version := M{"path": o.Version.Path, "kind": kindOf(o.Version.Integer)}
		version["ordered"] = o.Version.Integer || o.Version.Ordered
		members["version"] = version
	}
	if o.BackendMembers != nil {
		members["backendMembers"] = o.BackendMembers
	}
	put(members, "pageSize", o.PageSize)
	put(members, "idsPerRequest", o.IDsPerRequest)
	put(members, "writesPerRequest", o.WritesPerRequest)
	put(members, "requestsAtOnce", o.RequestsAtOnce)
	put(members, "maxAnswerBytes", o.MaxAnswerBytes)
	return json.Marshal(members)
}

func kindOf(isInteger bool) string {
	if isInteger {
		return "integer"
	}
	return "text"
}

// RegisterBackend gives a backend a name, for Options.Backend, in this process. A name is given once; UnregisterBackend
// takes it back.
func RegisterBackend(name string, service BackendService, options BackendOptions) error {
	description, err := marshal(options)
	if err != nil {
		return err
	}
	text, err := terminated(name, "the name")
	if err != nil {
		return err
	}
	hasChanges, hasLive := C.int(0), C.int(0)
	if _, ok := service.(ChangeTeller); ok {
		hasChanges = 1
	}
	if _, ok := service.(LiveTeller); ok {
		hasLive = 1
	}
	var left *C.kv_error
	// The library gives the number back, also when it refuses.
	status := C.kvgo_backend_register(characters(text), characters(description), C.size_t(len(description)),
		hasChanges, hasLive, remember(&backendHost{service: service}), &left)
	return check(status, left)
}

// UnregisterBackend takes a name back: no client is opened with it any more. Clients that are open go on.
func UnregisterBackend(name string) error {
	text, err := terminated(name, "the name")
	if err != nil {
		return err
	}
	var left *C.kv_error
	return check(C.kv_backend_unregister(characters(text), &left), left)
}

// A backendHost is a backend as the library calls it: requests come as numbers and JSON.
type backendHost struct {
	service BackendService
	// running has the cancel functions of the requests under way, by their numbers.
	running sync.Map
}

//export kvgoFetch
func kvgoFetch(context unsafe.Pointer, request C.uint64_t, text *C.char, length C.size_t) {
	begin(context, request, text, length, (*backendHost).fetch)
}

//export kvgoFetchIDs
func kvgoFetchIDs(context unsafe.Pointer, request C.uint64_t, text *C.char, length C.size_t) {
	begin(context, request, text, length, (*backendHost).fetchIDs)
}

//export kvgoChanges
func kvgoChanges(context unsafe.Pointer, request C.uint64_t, text *C.char, length C.size_t) {
	begin(context, request, text, length, (*backendHost).changes)
}

//export kvgoWrite
func kvgoWrite(context unsafe.Pointer, request C.uint64_t, text *C.char, length C.size_t) {
	begin(context, request, text, length, (*backendHost).write)
}

//export kvgoLive
func kvgoLive(context unsafe.Pointer, request C.uint64_t, text *C.char, length C.size_t) {
	begin(context, request, text, length, (*backendHost).live)
}

//export kvgoCancel
func kvgoCancel(context unsafe.Pointer, request C.uint64_t) {
	host, ok := recall(context).(*backendHost)
	if !ok {
		return
	}
	if cancel, ok := host.running.Load(uint64(request)); ok {
		cancel.(cancelFunc)()
	}
}

// kvgoCancel has a parameter that hides the package context.
type cancelFunc = context.CancelFunc

// begin carries out a request in a goroutine.
func begin(
	pointer unsafe.Pointer, request C.uint64_t, text *C.char, length C.size_t,
	operation func(*backendHost, context.Context, []byte) (any, error),
) {
	host, ok := recall(pointer).(*backendHost)
	if !ok {
		return
	}
	asked := bytesOf(text, length)
	ctx, cancel := context.WithCancel(context.Background())
	host.running.Store(uint64(request), cancel)
	go func() {
		defer cancel()
		defer host.running.Delete(uint64(request))
		given, err := host.attempt(ctx, asked, operation)
		complete(request, given, err)
	}()
}

// attempt runs an operation; a panic is an error.
func (h *backendHost) attempt(
	ctx context.Context, asked []byte, operation func(*backendHost, context.Context, []byte) (any, error),
) (text []byte, err error) {
	defer func() {
		if raised := recover(); raised != nil {
			fmt.Fprintf(os.Stderr, "kvstore: a backend panicked: %v\n%s", raised, debug.Stack())
			err = &Error{Status: ErrServer, Message: fmt.Sprintf("panic: %v", raised), Index: -1, Position: -1}
		}
	}()
	given, err := operation(h, ctx, asked)
	if err != nil {
		return nil, err
	}
	return json.Marshal(given)
}

// complete answers a request. Whether somebody still waits for it does not matter.
func complete(request C.uint64_t, text []byte, err error) {
	status := C.kv_status(C.KV_OK)
	if err != nil {
		status = C.kv_status(statusOf(err))
		text, _ = json.Marshal(M{"message": err.Error()})
	}
	C.kv_backend_complete(request, status, characters(text), C.size_t(len(text)), nil)
}

// statusOf gives the status that an error of a backend stands for.
func statusOf(err error) Status {
	var described *Error
	var status Status
	switch {
	case errors.As(err, &described):
		return described.Status
	case errors.As(err, &status):
		return status
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, context.Canceled):
		return ErrTimeout
	case errors.Is(err, os.ErrPermission):
		return ErrForbidden
	}
	return ErrNetwork
}

func (h *backendHost) fetch(ctx context.Context, text []byte) (any, error) {
	var asked Fetch
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	if string(asked.After) == "null" {
		asked.After = nil
	}
	page, err := h.service.Fetch(ctx, asked)
	if page.Records == nil {
		page.Records = []json.RawMessage{}
	}
	return page, err
}

func (h *backendHost) fetchIDs(ctx context.Context, text []byte) (any, error) {
	var asked struct {
		Collection string
		IDs        []json.RawMessage
	}
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	records, err := h.service.FetchIDs(ctx, asked.Collection, asked.IDs)
	if records == nil {
		records = []json.RawMessage{}
	}
	return M{"records": records}, err
}

func (h *backendHost) changes(ctx context.Context, text []byte) (any, error) {
	var asked struct{ Collection, Since string }
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	teller, ok := h.service.(ChangeTeller)
	if !ok {
		return M{"unknown": true}, nil
	}
	page, err := teller.ChangedSince(ctx, asked.Collection, asked.Since)
	if errors.Is(err, ErrUnknownToken) {
		return M{"unknown": true}, nil
	}
	if page.Changes == nil {
		page.Changes = []RecordChange{}
	}
	return page, err
}

func (h *backendHost) live(ctx context.Context, text []byte) (any, error) {
	var asked struct {
		Collections []string
		After       json.RawMessage
	}
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	if string(asked.After) == "null" {
		asked.After = nil
	}
	teller, ok := h.service.(LiveTeller)
	if !ok {
		return nil, ErrUnsupported
	}
	page, err := teller.Live(ctx, asked.Collections, asked.After)
	if page.Changes == nil {
		page.Changes = []CollectionChange{}
	}
	return page, err
}

func (h *backendHost) write(ctx context.Context, text []byte) (any, error) {
	var asked struct {
		Collection string
		Writes     []Write
	}
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	results, err := h.service.Write(ctx, asked.Collection, asked.Writes)
	if results == nil {
		results = []WriteResult{}
	}
	return M{"results": results}, err
}
