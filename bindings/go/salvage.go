package kvstore

// #include <kvstore.h>
import "C"

import (
	"context"
	"os"
	"runtime"
)

// A SalvageReport says how much of a damaged file could be read.
type SalvageReport struct {
	Pending     SalvagedFile            `json:"pending"`
	Collections map[string]SalvagedFile `json:"collections"`
}

// A SalvagedFile is one output file of a salvage.
type SalvagedFile struct {
	// File is the name of the file. That of encrypted data ends in ".encrypted": [DecryptFile] reads it.
	File string `json:"file"`
	// Lines is the number of lines, each of which is a JSON text.
	Lines int `json:"lines"`
	// Damaged is the number of places that could not be read.
	Damaged int `json:"damaged"`
	// DamagedIDs are the ids of the first 1,000 entities that were left out because their body was damaged.
	DamagedIDs []string `json:"damagedIds"`
}

// Salvage copies everything that can be read from a client's data file into a new directory, as lines of JSON. It
// starts with the pending writes and works with any damage. The options are those of the client. The damaged file is
// not changed. Of encrypted data the files are encrypted with the same keys.
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

// DecryptFile writes the plain lines of an encrypted file of [Salvage]. The options have the key. If a part of the file is damaged or
// its end is missing, the error is [ErrCorrupt], and the lines before it were written.
func DecryptFile(options Options, path string, to *os.File) error {
	text, err := marshal(options)
	if err != nil {
		return err
	}
	name, err := terminated(path, "the path")
	if err != nil {
		return err
	}
	var left *C.kv_error
	status := C.kv_decrypt_file(characters(text), C.size_t(len(text)), characters(name), C.int32_t(to.Fd()), &left)
	runtime.KeepAlive(to)
	return check(status, left)
}

// A RepairReport lists the damage in the local data and what was done about it.
type RepairReport struct {
	// Entities is the number of entities that were checked.
	Entities int
	// Damaged is the number of damaged entities and of damaged base versions of pending writes.
	Damaged int
	// Removed are the entities that were removed; the next pull fetches them again.
	Removed []DamagedEntity
	// Quarantined are entities whose pending write is now quarantined. Save them again, or remove them.
	Quarantined []DamagedEntity
}

// A DamagedEntity is an entity that [Client.Repair] found damaged.
type DamagedEntity struct {
	Collection string `json:"collection"`
	ID         string `json:"_id"`
	Tag        string `json:"tag"`
}

// Repair deals with damage in the local data, which other calls report as [ErrCorrupt] with the ID of an entity.
// Damaged entities are removed, or quarantined if they have a pending write. Damaged indexes are rebuilt.
func (c *Client) Repair() (RepairReport, error) {
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_client_repair(c.handle, &text, &length, &left)
	runtime.KeepAlive(c)
	return decode[RepairReport](taken(text, length), check(status, left))
}

// A CompactReport has the sizes in bytes of the local data's files and logs, before and after.
type CompactReport struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// Compact returns unused disk space of the local data to the system. It rewrites the files, which needs space for a
// copy; reads continue meanwhile. It waits while an iterator, a transaction or another process reads an older state,
// and fails with [ErrBusy] after the time of [WithTimeout].
func (c *Client) Compact(ctx context.Context, options ...Option) (CompactReport, error) {
	text, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_client_compact_async(c.handle, text, r.done, r.context, r.free, q, e)
	})
	return decode[CompactReport](text, err)
}

// A BackupReport says what a backup has.
type BackupReport struct {
	// Tags are the tags whose data it has.
	Tags []string `json:"tags"`
	// Bytes is the size of their files.
	Bytes int64 `json:"bytes"`
}

// Backup copies the local data of all tags into a directory, as it is at one moment, while it is used. The copy can be opened as
// a data directory. It has no sessions: the user whose data it is logs in there. It appears when it is complete. If the directory has
// data of this application, the error is [ErrConflict].
func (c *Client) Backup(ctx context.Context, directory string, options ...Option) (BackupReport, error) {
	path, err := terminated(directory, "directory")
	if err != nil {
		return BackupReport{}, err
	}
	text, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_client_backup_async(c.handle, characters(path), text, r.done, r.context, r.free, q, e)
	})
	return decode[BackupReport](text, err)
}
