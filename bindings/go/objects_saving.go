package kvstore

// #include <kvstore.h>
import "C"

import (
	"encoding/json"
	"errors"
)

// A MergePolicy says what [Context.Save] does with objects that were changed since the context read them.
type MergePolicy string

// Where both sides have changed a member, MergeStoreTrumps keeps the stored value and MergeObjectTrumps writes the context's;
// the other changes of both sides stay. MergeOverwrite writes the whole object, MergeRollback drops the context's change.
const (
	MergeError        MergePolicy = "error"
	MergeStoreTrumps  MergePolicy = "storeTrumps"
	MergeObjectTrumps MergePolicy = "objectTrumps"
	MergeOverwrite    MergePolicy = "overwrite"
	MergeRollback     MergePolicy = "rollback"
)

// A ContextSave is what a save has done.
type ContextSave struct {
	ContextChanges
	// Merged are the objects whose conflicts the merge policy decided.
	Merged []ObjectID `json:"merged"`
	// PermanentIDs are the ids that the store has chosen for new objects.
	PermanentIDs []PermanentID `json:"permanentIds"`
}

// Save writes all changes in one transaction and queues them for the backend. It is ErrConflict if an object was changed since
// it was read and the merge policy does not decide: then nothing is written, and Conflicts tells more.
func (x *Context) Save() (ContextSave, error) {
	return decode[ContextSave](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_save(x.handle, out, length, left)
	}))
}

// SaveDeciding saves, asks a function about each conflict, and tries again as long as it decides all of them. The function
// gives what [Context.Resolve] takes, or an error, which ends the save.
func (x *Context) SaveDeciding(decide func(MergeConflict) (MergeDecision, error)) (ContextSave, error) {
	for {
		saved, err := x.Save()
		if !errors.Is(err, ErrConflict) {
			return saved, err
		}
		conflicts, failure := x.Conflicts()
		if failure != nil {
			return saved, failure
		}
		if len(conflicts) == 0 {
			return saved, err
		}
		for _, conflict := range conflicts {
			decision, err := decide(conflict)
			if err != nil {
				return saved, err
			}
			if err := x.Resolve(conflict.ObjectID, decision); err != nil {
				return saved, err
			}
		}
	}
}

// A MergeConflict is an object that was changed by a context and, since that read it, by another writer.
type MergeConflict struct {
	ObjectID
	// ReadVersion is nil for an object that is new, StoredVersion for one that was deleted.
	ReadVersion   *int64 `json:"readVersion"`
	StoredVersion *int64 `json:"storedVersion"`
	// Read is the object as the context read it, Object as it wants it, Stored as it is stored; JSON null: it is not there.
	Read   json.RawMessage `json:"read"`
	Object json.RawMessage `json:"object"`
	Stored json.RawMessage `json:"stored"`
}

// A MergeDecision ends a conflict. The zero value is none.
type MergeDecision struct {
	// Use is "stored", "object" or "merged".
	Use string `json:"use"`
	// Merged is written if Use is "merged"; nil deletes the object.
	Merged any `json:"object"`
}

// UseStored drops the context's change, UseObject writes it.
var (
	UseStored = MergeDecision{Use: "stored"}
	UseObject = MergeDecision{Use: "object"}
)

// UseMerged writes an object instead of both.
func UseMerged(object any) MergeDecision { return MergeDecision{Use: "merged", Merged: object} }

// Conflicts lists the conflicts of the last save.
func (x *Context) Conflicts() ([]MergeConflict, error) {
	return decode[[]MergeConflict](x.text(func(out **C.char, length *C.size_t, left **C.kv_error) C.kv_status {
		return C.kv_context_conflicts(x.handle, out, length, left)
	}))
}

// Resolve decides a conflict of the last save: the next one writes that, unless the object has changed again.
func (x *Context) Resolve(id ObjectID, decision MergeDecision) error {
	text, err := marshal(decision)
	if err != nil {
		return err
	}
	n := named(id.Collection, id.ID)
	defer n.free()
	_, err = x.run(func(left **C.kv_error) C.kv_status {
		return C.kv_context_resolve(x.handle, n[0], n[1], characters(text), C.size_t(len(text)), left)
	})
	return err
}

// Rollback drops all unsaved changes.
func (x *Context) Rollback() error {
	_, err := x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_rollback(x.handle, left) })
	return err
}

// UndoGroup makes the edits of a function one, for Undo, also if it fails.
func (x *Context) UndoGroup(edit func() error) (err error) {
	_, err = x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_undo_begin(x.handle, left) })
	if err != nil {
		return err
	}
	defer func() {
		_, failure := x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_undo_end(x.handle, left) })
		if err == nil {
			err = failure
		}
	}()
	return edit()
}

// Undo takes the last edit, or group of edits, back; false: there is none.
func (x *Context) Undo() (bool, error) {
	return x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_undo(x.handle, left) })
}

// Redo makes the edits again that were undone last; false: there are none.
func (x *Context) Redo() (bool, error) {
	return x.run(func(left **C.kv_error) C.kv_status { return C.kv_context_redo(x.handle, left) })
}
