// A custom backend: a directory of JSON files, which several programs share. Each program has local data, works while
// the directory is missing, and sends its changes when the directory is available.
//
//	go run ./files shared mine "buy milk"
//	go run ./files shared yours
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// Files stores records by their "id", with a version "rev" that each write increments.
type Files struct{ directory string }

// A record is the content of a file: the program's members and two members of the backend.
type record = map[string]any

func (f Files) Fetch(_ context.Context, fetch kvstore.Fetch) (page kvstore.FetchedPage, err error) {
	var after string
	if fetch.After != nil {
		if err := json.Unmarshal(fetch.After, &after); err != nil {
			return page, err
		}
	}
	err = f.locked(fetch.Collection, func(folder string) error {
		ids, err := idsIn(folder)
		for i, id := range ids[sort.SearchStrings(ids, after+"\x00"):] {
			if i == fetch.PageSize {
				page.Next = after
				break
			}
			page.Records = append(page.Records, read(folder, id))
			after = id
		}
		return err
	})
	return page, err
}

func (f Files) FetchIDs(_ context.Context, collection string, ids []json.RawMessage) (found []json.RawMessage, err error) {
	err = f.locked(collection, func(folder string) error {
		for _, id := range ids {
			if text := read(folder, textOf(id)); text != nil {
				found = append(found, text)
			}
		}
		return nil
	})
	return found, err
}

func (f Files) Write(_ context.Context, collection string, writes []kvstore.Write) (results []kvstore.WriteResult, err error) {
	err = f.locked(collection, func(folder string) error {
		for _, write := range writes {
			result, err := carryOut(folder, write)
			if err != nil {
				return err
			}
			results = append(results, result)
		}
		return nil
	})
	return results, err
}

func carryOut(folder string, write kvstore.Write) (kvstore.WriteResult, error) {
	id := textOf(write.ID)
	found := read(folder, id)
	version, _ := json.Marshal(recordOf(found)["rev"])
	if found == nil {
		version = nil
	}
	if !write.MayReplace(version) {
		return kvstore.WriteConflict(found), nil
	}
	if write.Record == nil {
		err := os.Remove(fileOf(folder, id))
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return kvstore.WriteDeleted(found != nil), err
	}
	changed := recordOf(write.Record)
	revision, _ := recordOf(found)["rev"].(float64)
	changed["rev"] = int(revision) + 1
	text, err := json.Marshal(changed)
	if err != nil {
		return kvstore.WriteResult{}, err
	}
	return kvstore.WriteStored(text), replace(fileOf(folder, id), text)
}

// locked runs a function with the directory of a collection, which only one program uses at a time.
func (f Files) locked(collection string, work func(folder string) error) error {
	folder := filepath.Join(f.directory, url.PathEscape(collection))
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	return work(folder)
}

func idsIn(folder string) (ids []string, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	for _, path := range paths {
		id, err := url.PathUnescape(strings.TrimSuffix(filepath.Base(path), ".json"))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids, err
}

func fileOf(folder, id string) string { return filepath.Join(folder, url.PathEscape(id)+".json") }

func read(folder, id string) json.RawMessage {
	text, err := os.ReadFile(fileOf(folder, id))
	if err != nil {
		return nil
	}
	return text
}

// replace replaces a file atomically.
func replace(path string, text []byte) error {
	draft, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	_, err = draft.Write(text)
	if err == nil {
		err = draft.Sync()
	}
	if closed := draft.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(draft.Name(), path)
}

func recordOf(text json.RawMessage) record {
	members := record{}
	_ = json.Unmarshal(text, &members)
	return members
}

func textOf(id json.RawMessage) (text string) {
	_ = json.Unmarshal(id, &text)
	return text
}

type Note struct {
	ID       string `json:"id,omitempty"`
	Revision int    `json:"rev,omitempty"`
	Text     string `json:"text"`
}

func main() {
	shared, own, texts := os.Args[1], os.Args[2], os.Args[3:]
	check(kvstore.RegisterBackend("files", Files{shared}, kvstore.BackendOptions{
		ID:      []kvstore.IDMember{{Name: "id"}},
		Version: kvstore.VersionMember{Path: []string{"rev"}, Integer: true},
	}))
	client := must(kvstore.Open(kvstore.Options{AppKey: "files", Backend: "files", DataDirectory: own}))
	defer client.Close()
	ctx := context.Background()
	notes := must(kvstore.OpenCollection[Note](client, "notes", kvstore.Sync))
	for _, text := range texts {
		must(notes.Save(ctx, Note{Text: text}))
	}
	result, err := notes.Sync(ctx, nil)
	if err != nil && !errors.Is(err, kvstore.ErrNetwork) {
		panic(err)
	}
	fmt.Printf("%+v %v\n", result, err)
	for _, note := range must(notes.All(ctx, nil)) {
		fmt.Println(note.ID, note.Revision, note.Text)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[V any](value V, err error) V {
	check(err)
	return value
}
