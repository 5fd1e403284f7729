package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"sync"

	kvstore "github.com/libkvstore/libkvstore/bindings/go"
)

// fileOptions say what the records of a BugsFile are like.
var fileOptions = kvstore.BackendOptions{Version: kvstore.VersionMember{Path: []string{"revision"}, Integer: true}}

// A record is what a BugsFile keeps: the library's JSON, as members.
type record = map[string]json.RawMessage

// A BugsFile keeps the records of all collections in one JSON file, read once and written by each save.
type BugsFile struct {
	lock        sync.Mutex
	path        string
	collections map[string]map[string]record
}

// Load reads the file.
func (f *BugsFile) Load(_ context.Context, location kvstore.StoreLocation) (kvstore.StoreMetadata, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	directory, err := filepath.Abs(location.DataDirectory)
	if err == nil {
		err = os.MkdirAll(directory, 0o700)
	}
	if err != nil {
		return kvstore.StoreMetadata{}, err
	}
	f.path, f.collections = filepath.Join(directory, "bugs.json"), map[string]map[string]record{}
	text, err := os.ReadFile(f.path)
	if err == nil {
		err = json.Unmarshal(text, &f.collections)
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	// The same for each program that opens the same file.
	digest := sha256.Sum256([]byte(f.path))
	return kvstore.StoreMetadata{Type: "bugs-file", UUID: hex.EncodeToString(digest[:16])}, err
}

// Fetch returns the records after an id.
func (f *BugsFile) Fetch(_ context.Context, fetch kvstore.Fetch) (kvstore.FetchedPage, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	after := name(fetch.After)
	ids := []string{}
	for id := range f.collections[fetch.Collection] {
		if id > after {
			ids = append(ids, id)
		}
	}
	sort.Strings(ids)
	page := kvstore.FetchedPage{}
	if len(ids) > fetch.PageSize {
		ids = ids[:fetch.PageSize]
		page.Next = ids[len(ids)-1]
	}
	for _, id := range ids {
		page.Records = append(page.Records, text(f.collections[fetch.Collection][id]))
	}
	return page, nil
}

// Values returns the records with these ids.
func (f *BugsFile) Values(_ context.Context, collection string, ids []json.RawMessage) ([]json.RawMessage, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	var records []json.RawMessage
	for _, id := range ids {
		if stored, ok := f.collections[collection][name(id)]; ok {
			records = append(records, text(stored))
		}
	}
	return records, nil
}

// Save makes the changes in a copy, which then replaces the file.
func (f *BugsFile) Save(_ context.Context, save kvstore.Save) (kvstore.Saved, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	written := append(append([]kvstore.Change{}, save.Inserted...), save.Updated...)
	var saved kvstore.Saved
	for _, change := range append(append([]kvstore.Change{}, written...), save.Deleted...) {
		if stored := f.collections[change.Collection][name(change.ID)]; !change.MayReplace(stored["revision"]) {
			conflict := kvstore.SaveConflict{Collection: change.Collection, ID: change.ID, Record: text(stored)}
			saved.Conflicts = append(saved.Conflicts, conflict)
		}
	}
	if saved.Conflicts != nil {
		return saved, nil
	}
	changed := map[string]map[string]record{}
	for collection, records := range f.collections {
		changed[collection] = map[string]record{}
		for id, stored := range records {
			changed[collection][id] = stored
		}
	}
	for _, change := range written {
		stored, err := withRevision(change, changed[change.Collection][name(change.ID)])
		if err != nil {
			return kvstore.Saved{}, err
		}
		if changed[change.Collection] == nil {
			changed[change.Collection] = map[string]record{}
		}
		changed[change.Collection][name(change.ID)] = stored
		saved.Records = append(saved.Records, text(stored))
	}
	for _, change := range save.Deleted {
		_, existed := changed[change.Collection][name(change.ID)]
		saved.Deleted = append(saved.Deleted, existed)
		delete(changed[change.Collection], name(change.ID))
	}
	return saved, f.write(changed)
}

// write replaces the file as a whole, and then what is in memory.
func (f *BugsFile) write(changed map[string]map[string]record) error {
	content, err := json.Marshal(changed)
	if err != nil {
		return err
	}
	draft, err := os.Create(f.path + ".new")
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if err == nil {
		err = draft.Sync()
	}
	if closed := draft.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(draft.Name(), f.path)
	}
	if err == nil {
		f.collections = changed
	}
	return err
}

func withRevision(change kvstore.Change, stored record) (record, error) {
	var members record
	if err := json.Unmarshal(change.Record, &members); err != nil {
		return nil, err
	}
	var revision int
	if stored != nil {
		if err := json.Unmarshal(stored["revision"], &revision); err != nil {
			return nil, err
		}
	}
	members["revision"], _ = json.Marshal(revision + 1)
	return members, nil
}

// text returns a record as JSON, and null for none.
func text(stored record) json.RawMessage {
	written, _ := json.Marshal(stored)
	return written
}

// name returns a JSON text as a string; "" for null.
func name(id json.RawMessage) string {
	var name string
	_ = json.Unmarshal(id, &name)
	return name
}
