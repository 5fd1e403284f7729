package kvstore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func localAccounts(t *testing.T) (*Client, *Collection[M]) {
	t.Helper()
	client, err := Open(Options{AppKey: "kid_test", LocalOnly: true, DataDirectory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	accounts, err := OpenCollection[M](client, "accounts", Sync)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.SaveMany(context.Background(), []M{{"_id": "a", "n": 10}, {"_id": "b", "n": 0}}); err != nil {
		t.Fatal(err)
	}
	return client, accounts
}

func TestATransactionWritesEverythingAtOnce(t *testing.T) {
	client, accounts := localAccounts(t)
	ctx := context.Background()
	err := client.Transaction(ctx, func(tx *Tx) error {
		view := accounts.In(tx)
		if _, err := view.Update(&Query{Filter: M{"_id": "a"}}, M{"$inc": M{"n": -3}}); err != nil {
			return err
		}
		if _, err := view.Save(M{"_id": "b", "n": 3}); err != nil {
			return err
		}
		if removed, err := view.RemoveByID("c"); err != nil || removed != 0 {
			t.Errorf("removed %d: %v", removed, err)
		}
		entity, err := view.Get("a")
		if err != nil {
			return err
		}
		if n, _ := view.Count(&Query{Filter: M{"n": M{"$lt": 5}}}); n != 1 {
			t.Errorf("%d are below 5", n)
		}
		found, err := view.Find(nil)
		if err != nil {
			return err
		}
		all, err := found.All()
		if len(all) != 2 || err != nil {
			t.Errorf("found %v: %v", all, err)
		}
		if before, _ := accounts.Get(ctx, "b"); before["n"] == entity["n"] {
			t.Error("a write was seen before the commit")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := accounts.Count(ctx, &Query{Filter: M{"$or": []M{{"_id": "a", "n": 7}, {"_id": "b", "n": 3}}}}); n != 2 {
		t.Errorf("%d of 2 are as they should be", n)
	}
}

func TestWhatTheFunctionReturnsComesOutAndNothingIsWritten(t *testing.T) {
	client, accounts := localAccounts(t)
	mine := errors.New("mine")
	err := client.Transaction(context.Background(), func(tx *Tx) error {
		if _, err := accounts.In(tx).Remove(&Query{}); err != nil {
			return err
		}
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("gave %v", err)
	}
	func() {
		defer func() {
			if recover() != "mine too" {
				t.Error("the panic was lost")
			}
		}()
		client.Transaction(context.Background(), func(tx *Tx) error {
			accounts.In(tx).Remove(&Query{})
			panic("mine too")
		})
	}()
	if n, _ := accounts.Count(context.Background(), nil); n != 2 {
		t.Errorf("%d are left", n)
	}
}

func TestATransactionThatIsAlwaysTooLateIsAConflict(t *testing.T) {
	client, accounts := localAccounts(t)
	ctx := context.Background()
	runs := 0
	err := client.Transaction(ctx, func(tx *Tx) error {
		runs++
		if _, err := accounts.In(tx).Get("a"); err != nil {
			return err
		}
		if _, err := accounts.Update(ctx, &Query{Filter: M{"_id": "a"}}, M{"$inc": M{"n": 1}}); err != nil {
			return err
		}
		_, err := accounts.In(tx).Save(M{"_id": "c"})
		return err
	}, WithRetries(3))
	if !errors.Is(err, ErrConflict) || runs != 4 {
		t.Errorf("gave %v after %d runs", err, runs)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := client.Transaction(cancelled, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended gave %v", err)
	}
}

func TestFourGoroutinesThatEachAddOne200TimesMake800(t *testing.T) {
	client, accounts := localAccounts(t)
	ctx := context.Background()
	type account struct {
		ID string `json:"_id"`
		N  int    `json:"n"`
	}
	typed, err := OpenCollection[account](client, "typed", Sync)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := typed.Save(ctx, account{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 200; j++ {
				err := client.Transaction(ctx, func(tx *Tx) error {
					entity, err := typed.In(tx).Get("a")
					if err != nil {
						return err
					}
					entity.N++
					_, err = typed.In(tx).Save(entity)
					return err
				}, WithRetries(100_000))
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
	if entity, err := typed.Get(ctx, "a"); err != nil || entity.N != 800 {
		t.Errorf("made %d: %v", entity.N, err)
	}
	_ = accounts
}

func TestUpdatesRaiseVersions(t *testing.T) {
	_, accounts := localAccounts(t)
	ctx := context.Background()
	before, err := accounts.Version("a")
	if err != nil {
		t.Fatal(err)
	}
	result, err := accounts.Update(ctx, nil, M{"$max": M{"n": 5}})
	if err != nil || result != (UpdateResult{Matched: 2, Modified: 1}) {
		t.Errorf("gave %v: %v", result, err)
	}
	if _, err := accounts.Update(ctx, &Query{Filter: M{"_id": "a"}}, M{"$inc": M{"n": 1}}); err != nil {
		t.Error(err)
	}
	if after, err := accounts.Version("a"); err != nil || after != before+1 {
		t.Errorf("the version went from %d to %d: %v", before, after, err)
	}
	if _, err := accounts.Version("nobody"); !errors.Is(err, ErrNotFound) {
		t.Errorf("gave %v", err)
	}
	if _, err := accounts.Update(ctx, nil, M{"$foo": M{"x": 1}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("gave %v", err)
	}
}

func TestADamagedEntityIsAnErrorAndTheOthersCanBeRead(t *testing.T) {
	directory := t.TempDir()
	options := Options{AppKey: "kid", LocalOnly: true, DataDirectory: directory}
	begin := func() (*Client, *Collection[M]) {
		client, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		notes, err := OpenCollection[M](client, "notes", Sync)
		if err != nil {
			t.Fatal(err)
		}
		return client, notes
	}
	client, notes := begin()
	for _, id := range []string{"a", "b", "c"} {
		if _, err := notes.Save(context.Background(), M{"_id": id, "text": "milk " + id}); err != nil {
			t.Fatal(err)
		}
	}
	client.Close()
	path := filepath.Join(directory, "kid", "kinvey.kvs")
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stored = bytes.ReplaceAll(stored, []byte("milk b"), []byte("silk b"))
	if err := os.WriteFile(path, stored, 0o600); err != nil {
		t.Fatal(err)
	}
	client, notes = begin()
	defer client.Close()
	_, err = notes.Get(context.Background(), "b")
	var corrupt *Error
	if !errors.Is(err, ErrCorrupt) || !errors.As(err, &corrupt) || corrupt.ID != "b" {
		t.Errorf("gave %v", err)
	}
	if _, err := notes.Get(context.Background(), "c"); err != nil {
		t.Errorf("gave %v", err)
	}
	report, err := client.Repair()
	if err != nil || report.Damaged != 1 || len(report.Quarantined) != 1 || report.Quarantined[0].ID != "b" {
		t.Errorf("gave %v: %v", report, err)
	}
}

func TestADataFileIsSalvaged(t *testing.T) {
	if os.Getenv("KVSTORE_TEST_KEY") != "" {
		return // The copy is encrypted then: see TestSalvagedDataIsEncrypted.
	}
	directory := t.TempDir()
	options := Options{AppKey: "kid_test", LocalOnly: true, DataDirectory: filepath.Join(directory, "data")}
	client, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := OpenCollection[M](client, "notes", Sync)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := notes.Save(context.Background(), M{"_id": "a"}); err != nil {
		t.Fatal(err)
	}
	client.Close()
	report, err := Salvage(options, filepath.Join(directory, "saved"))
	if err != nil || report.Collections["notes"].Lines != 1 || report.Pending.Lines != 1 {
		t.Errorf("gave %v: %v", report, err)
	}
	text, err := os.ReadFile(filepath.Join(directory, "saved", "pending.ndjson"))
	if err != nil || !strings.Contains(string(text), `"entity":{"_id":"a"}`) {
		t.Errorf("gave %s: %v", text, err)
	}
	if _, err := Salvage(Options{AppKey: "other", LocalOnly: true, DataDirectory: directory}, directory+"/again"); !errors.Is(err, ErrNotFound) {
		t.Errorf("gave %v", err)
	}
}

func TestSpaceIsGivenBackWhenNobodyReadsAnOlderState(t *testing.T) {
	ctx := context.Background()
	client, err := Open(Options{AppKey: "kid", LocalOnly: true, DataDirectory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	notes, err := OpenCollection[M](client, "notes", Sync)
	if err != nil {
		t.Fatal(err)
	}
	var many []M
	for n := 0; n < 500; n++ {
		many = append(many, M{"n": n, "text": strings.Repeat("x", 2000)})
	}
	if _, err := notes.SaveMany(ctx, many); err != nil {
		t.Fatal(err)
	}
	found, err := notes.Find(ctx, nil)
	if err != nil || !found.Next() {
		t.Fatal(err)
	}
	if _, err := notes.Clear(nil); err != nil {
		t.Fatal(err)
	}
	// Writing the file anew has to be over before that.
	if _, err := client.Compact(ctx, WithTimeout(2*time.Second)); !errors.Is(err, ErrBusy) {
		t.Errorf("gave %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := client.Compact(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("gave %v", err)
	}
	if err := found.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := client.Compact(ctx)
	if err != nil || report.After <= 0 || report.After > 300_000 || report.Before < report.After {
		t.Errorf("gave %v: %v", report, err)
	}
}

func TestLocalDataIsCopiedWhileItIsUsed(t *testing.T) {
	ctx := context.Background()
	directory := t.TempDir()
	options := Options{AppKey: "kid_test", LocalOnly: true, DataDirectory: filepath.Join(directory, "data")}
	client, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	notes, err := OpenCollection[M](client, "notes", Sync)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := notes.Save(ctx, M{"_id": "a"}); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(directory, "copy")
	report, err := client.Backup(ctx, copied)
	if err != nil || len(report.Tags) != 1 || report.Bytes <= 0 {
		t.Errorf("gave %v: %v", report, err)
	}
	if _, err := client.Backup(ctx, copied); !errors.Is(err, ErrConflict) {
		t.Errorf("gave %v", err)
	}
	options.DataDirectory = copied
	other, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	there, err := OpenCollection[M](other, "notes", Sync)
	if err != nil {
		t.Fatal(err)
	}
	if count, err := there.Count(ctx, nil); err != nil || count != 1 {
		t.Errorf("gave %v: %v", count, err)
	}
}
