package kvstore

// #include <kvstore.h>
// #include <stdlib.h>
import "C"

import (
	"runtime"
	"unsafe"
)

// SyncOptions say how stores of the type [Synced] are kept in step with the backend. A zero value means the default.
type SyncOptions struct {
	// PageSize is how many records a page is asked for. The default is 100.
	PageSize int `json:"pageSize,omitempty"`
	// MaxRecords is how many records of each collection are read. The default is all.
	MaxRecords int `json:"maxRecords,omitempty"`
	// Interval is how often a collection without a subscription is read, in seconds. The default is 60.
	Interval float64 `json:"interval,omitempty"`
	// Expressions are filters that say which entities of a collection are synchronised.
	Expressions map[string]any `json:"expressions,omitempty"`
}

// A SyncChange is an entity that came from the backend.
type SyncChange struct {
	ID string `json:"id"`
	// Change is "create", "update" or "delete".
	Change string `json:"change"`
}

// StartSync starts to synchronise in the background. Opening a store of the type [Synced] does this too. With a schema all
// models are synchronised, else the collections of such stores. The events are those of [Client.ObserveSync].
func (c *Client) StartSync() error {
	var left *C.kv_error
	status := C.kv_client_start_sync(c.handle, &left)
	runtime.KeepAlive(c)
	return check(status, left)
}

// StopSync stops synchronising in the background. Local data and pending writes stay.
func (c *Client) StopSync() error {
	var left *C.kv_error
	status := C.kv_client_stop_sync(c.handle, &left)
	runtime.KeepAlive(c)
	return check(status, left)
}

// Clear stops synchronising and deletes all local data, so that the next start reads everything. The error is [ErrPending],
// and nothing is stopped or deleted, if there are pending writes, unless discardPending is set.
func (c *Client) Clear(discardPending bool) error {
	discard := C.int32_t(0)
	if discardPending {
		discard = 1
	}
	var left *C.kv_error
	status := C.kv_client_clear(c.handle, discard, &left)
	runtime.KeepAlive(c)
	return check(status, left)
}

// SetSyncExpression sets which entities of a collection are synchronised; nil: all. Others leave the local store, except for
// pending writes.
func (c *Client) SetSyncExpression(collection string, filter any) error {
	var text *C.char
	if filter != nil {
		encoded, err := marshal(filter)
		if err != nil {
			return err
		}
		text = C.CString(string(encoded))
		defer C.free(unsafe.Pointer(text))
	}
	name := C.CString(collection)
	defer C.free(unsafe.Pointer(name))
	var left *C.kv_error
	status := C.kv_client_set_sync_expression(c.handle, name, text, &left)
	runtime.KeepAlive(c)
	return check(status, left)
}
