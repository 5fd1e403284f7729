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

// A BackendService is a backend that the program implements itself, in place of a server. Clients synchronise with it.
// The library calls its methods in goroutines of their own, several at the same time. The context of a call ends as
// soon as the answer has no waiter any more.
//
// A method fails by returning an error. An [Error] or a [Status] keeps its kind. context.DeadlineExceeded and
// os.ErrDeadlineExceeded become ErrTimeout, and os.ErrPermission becomes ErrForbidden. Every other error becomes
// ErrNetwork, which means that there was no answer. A panic becomes ErrServer. No write is lost by any of these errors.
// docs/backends.md describes the requests and the answers of each method.
type BackendService interface {
	// Fetch returns one page of a collection.
	Fetch(ctx context.Context, fetch Fetch) (FetchedPage, error)
	// FetchIDs returns the records with these ids that exist, in any order.
	FetchIDs(ctx context.Context, collection string, ids []json.RawMessage) ([]json.RawMessage, error)
	// Write carries out the writes and returns one result for each of them, in the same order.
	Write(ctx context.Context, collection string, writes []Write) ([]WriteResult, error)
}

// A ChangeTeller is a [BackendService] that can report changes. From other backends, every pull reads everything.
type ChangeTeller interface {
	// ChangedSince returns the changes since a token. It returns ErrUnknownToken if the token is too old or not one of its
	// own.
	ChangedSince(ctx context.Context, collection, token string) (ChangedPage, error)
}

// A LiveTeller is a [BackendService] that reports changes as they happen. With other backends, live data is
// ErrUnsupported.
type LiveTeller interface {
	// Live waits until a collection changes. The parameter after is the Next of the last page. If it is nil, Live returns
	// the current position at once, without changes. If nothing changes for some minutes, it should return an empty page.
	Live(ctx context.Context, collections []string, after json.RawMessage) (LivePage, error)
}

// ErrUnknownToken means that the changes since a token are not known, so the client reads everything.
var ErrUnknownToken = errors.New("kvstore: unknown token")

// Fetch is a request for one page.
type Fetch struct {
	Collection string `json:"collection"`
	PageSize   int    `json:"pageSize"`
	// After is the Next of the page before. It is nil for the first page.
	After json.RawMessage `json:"after"`
	// Filter selects records. A backend without Queries may ignore it; a backend with Queries must apply it.
	Filter json.RawMessage `json:"filter"`
	// Sort, Skip and Limit are for backends with Queries.
	Sort  json.RawMessage `json:"sort"`
	Skip  int             `json:"skip"`
	Limit *int            `json:"limit"`
}

// A FetchedPage is one page of records of a collection.
type FetchedPage struct {
	Records []json.RawMessage `json:"records"`
	// Next identifies the page after this one. It is nil on the last page.
	Next any `json:"next"`
	// Token, on a first page, is the state of the collection before it was read. It is for a [ChangeTeller].
	Token string `json:"token,omitempty"`
}

// A RecordChange has a record that was created or changed. If it has an ID and no record, that record was deleted.
type RecordChange struct {
	Record json.RawMessage `json:"upsert,omitempty"`
	ID     any             `json:"delete,omitempty"`
	// Version is the version of a deletion, if the backend has versions for deletions.
	Version any `json:"version,omitempty"`
}

// A CollectionChange is a change of a record and the name of its collection.
type CollectionChange struct {
	Collection string `json:"collection"`
	RecordChange
}

// A LivePage has the changes of some collections since the last page, in the order in which they happened.
type LivePage struct {
	Changes []CollectionChange `json:"changes"`
	// Next is the position after this page: any JSON value except null.
	Next any `json:"next"`
	// Incomplete means that earlier changes are missing from this page.
	Incomplete bool `json:"incomplete"`
}

// A ChangedPage has the changes of one collection, in the order in which they happened.
type ChangedPage struct {
	Changes []RecordChange `json:"changes"`
	// Token is the position after this page. More means that further changes follow.
	Token string `json:"token"`
	More  bool   `json:"more"`
}

// A Write is one write of a batch.
type Write struct {
	// Operation is "create", "update" or "delete".
	Operation string          `json:"op"`
	ID        json.RawMessage `json:"id"`
	// Record is nil for a deletion.
	Record json.RawMessage `json:"record"`
	// Condition is the version that the stored record must have. "null" means that no record may exist, and nil means that
	// there is no condition. A create requires that no record exists in any case.
	Condition json.RawMessage `json:"if"`
}

// MayReplace reports whether the condition allows a record with this version, as JSON. A nil version means no record.
func (w Write) MayReplace(version json.RawMessage) bool {
	switch {
	case w.Operation == "create" || string(w.Condition) == "null":
		return version == nil
	case w.Condition == nil:
		return true
	}
	return bytes.Equal(w.Condition, version)
}

// A WriteResult is the result of one write: see [WriteStored], [WriteDeleted], [WriteConflict], [WriteRefused] and
// [WriteLater].
type WriteResult struct{ members M }

// MarshalJSON writes the result in the form that the library reads.
func (r WriteResult) MarshalJSON() ([]byte, error) { return json.Marshal(r.members) }

// WriteStored is the result of a save that was carried out. It has the record as it is now.
func WriteStored(record json.RawMessage) WriteResult { return WriteResult{M{"stored": record}} }

// WriteDeleted is the result of a deletion that was carried out. It says whether there was a record.
func WriteDeleted(existed bool) WriteResult { return WriteResult{M{"deleted": existed}} }

// WriteConflict means that the stored record does not meet the condition, or exists already. A nil record means none.
func WriteConflict(record json.RawMessage) WriteResult { return WriteResult{M{"conflict": record}} }

// WriteRefused means that the backend refuses the write for good: ErrInvalid, ErrNotFound, ErrForbidden or ErrTooLarge.
func WriteRefused(status Status, message string) WriteResult {
	return WriteResult{M{"refused": M{"message": message, "status": int(status)}}}
}

// WriteLater means that the backend cannot write now. It may say after which time to try again; 0 means unknown.
func WriteLater(message string, after time.Duration) WriteResult {
	later := M{"message": message}
	if after > 0 {
		later["after"] = after.Seconds()
	}
	return WriteResult{M{"later": later}}
}

// An IDMember is a member of a record that is its id, or a part of it.
type IDMember struct {
	Name string
	// Integer says that the member holds integers. Otherwise it holds strings.
	Integer bool
}

// A VersionMember is the member of a record that holds its version, which differs after each change.
type VersionMember struct {
	// Path is the name of the member, or the names that lead to a nested one. If it is empty, records have no versions,
	// and a push overwrites what others have changed in the meantime.
	Path []string
	// Integer means an integer that grows. Ordered means a string, where a later version is greater. If both are false,
	// versions can only be compared for equality.
	Integer, Ordered bool
}

// BackendOptions describe a backend's records and abilities. A zero value means the default.
type BackendOptions struct {
	// ID is the member that identifies a record, or several members that do so together. The default is "_id".
	ID      []IDMember
	Version VersionMember
	// BackendMembers are members that belong to the backend and are not content.
	BackendMembers []string
	// Queries says that Fetch applies filter, sort, skip and limit. Otherwise the library does.
	Queries bool
	// IgnoresConditions says that Write does not check conditions. The library then reads the record before it writes.
	IgnoresConditions bool
	// PageSize (1,000), IDsPerRequest (100), WritesPerRequest (100) and MaxAnswerBytes (100 MiB) are limits with their
	// defaults.
	PageSize, IDsPerRequest, WritesPerRequest, MaxAnswerBytes int
	// RequestsAtOnce is the largest number of requests at the same time. The default is 4.
	RequestsAtOnce int
}

// MarshalJSON writes the options in the form that the library reads.
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

// RegisterBackend registers a backend under a name of this process, for Options.Backend. A name can be registered once,
// until UnregisterBackend removes it.
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
	// The library releases the number through kvgoFree, also when it returns an error.
	status := C.kvgo_backend_register(characters(text), characters(description), C.size_t(len(description)),
		hasChanges, hasLive, remember(&backendHost{service: service}), &left)
	return check(status, left)
}

// UnregisterBackend removes a name. No further client can open with it; clients that are open keep their backend.
func UnregisterBackend(name string) error {
	text, err := terminated(name, "the name")
	if err != nil {
		return err
	}
	var left *C.kv_error
	return check(C.kv_backend_unregister(characters(text), &left), left)
}

// A backendHost receives the library's calls, with requests as numbers and JSON, and calls the BackendService.
type backendHost struct {
	service BackendService
	// store is nil unless the service is one.
	store CustomStore
	// running has the cancel functions of the current requests, by request number.
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

// kvgoCancel needs this name, because its parameter hides the package context.
type cancelFunc = context.CancelFunc

// begin starts a goroutine that carries out a request.
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
	// A cancellation that came before found no function to call.
	if C.kv_backend_is_waiting(request) == 0 {
		cancel()
	}
	go func() {
		defer cancel()
		defer host.running.Delete(uint64(request))
		given, err := host.attempt(ctx, asked, operation)
		complete(request, given, err)
	}()
}

// attempt runs an operation and turns a panic into an error.
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

// complete answers a request. The library ignores the answer if it has no waiter any more.
func complete(request C.uint64_t, text []byte, err error) {
	status := C.kv_status(C.KV_OK)
	if err != nil {
		status = C.kv_status(statusOf(err))
		text, _ = json.Marshal(M{"message": err.Error()})
	}
	C.kv_backend_complete(request, status, characters(text), C.size_t(len(text)), nil)
}

// statusOf returns the status of an error that a backend returned.
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
