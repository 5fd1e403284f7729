package kvstore

// #include <kvstore.h>
import "C"

import (
	"context"
	"runtime"
)

// A SalvageReport says what could be read of a damaged file.
type SalvageReport struct {
	Pending     SalvagedFile            `json:"pending"`
	Collections map[string]SalvagedFile `json:"collections"`
}

// A SalvagedFile is one file of a salvage.
type SalvagedFile struct {
	// File is its name; empty for the pending writes, which are in "pending.ndjson".
	File string `json:"file"`
	// Lines is how many lines of JSON it has.
	Lines int `json:"lines"`
	// Damaged is in how many places something could not be read.
	Damaged int `json:"damaged"`
	// DamagedIDs are the first 1,000 entities that were left out because their body is not what was stored.
	DamagedIDs []string `json:"damagedIds"`
}

// Salvage copies what can be read of a client's data file, however damaged, into a new directory, as
// lines of JSON: pending writes first. The options are those with which the client would be opened. The
// damaged file stays as it is.
func Salvage(options Options, directory string) (SalvageReport, error) {
	text, err := marshal(options)
	if err != nil {
		return SalvageReport{}, err
	}
	path, err := terminated(directory, "the directory")
	if err != nil {
		return SalvageReport{}, err
	}
	var report *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_salvage(characters(text), C.size_t(len(text)), characters(path), &report, &length, &left)
	return decode[SalvageReport](taken(report, length), check(status, left))
}

// A RepairReport says what was damaged in the local data, and what became of it.
type RepairReport struct {
	// Entities is how many were looked at.
	Entities int
	// Damaged is how many of them were, and how many versions that changes started from.
	Damaged int
	// Removed are entities that the next pull brings again.
	Removed []DamagedEntity
	// Quarantined are entities with a pending write, which is now quarantined: save them again, or remove them.
	Quarantined []DamagedEntity
}

// A DamagedEntity is one that [Client.Repair] has found.
type DamagedEntity struct {
	Collection string `json:"collection"`
	ID         string `json:"_id"`
	Tag        string `json:"tag"`
}

// Repair takes what is damaged in the local data, which is [ErrCorrupt] with an entity's ID, out of the way: damaged
// entities are removed, those with a pending write quarantined, and indexes rebuilt.
func (c *Client) Repair() (RepairReport, error) {
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_client_repair(c.handle, &text, &length, &left)
	runtime.KeepAlive(c)
	return decode[RepairReport](taken(text, length), check(status, left))
}

// A CompactReport says how many bytes the files of the local data had, with their logs.
type CompactReport struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// Compact gives back the disk space that local data no longer needs. The files are written anew, which needs room for a copy;
// reading goes on meanwhile. While an iterator, a transaction or another process reads an older state it waits, and is [ErrBusy]
// after the time of [WithTimeout].
func (c *Client) Compact(ctx context.Context, options ...Option) (CompactReport, error) {
	text, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_client_compact_async(c.handle, text, r.done, r.context, r.free, q, e)
	})
	return decode[CompactReport](text, err)
}
