package kvstore

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func localNotes(t *testing.T) (*Client, *Collection[M]) {
	t.Helper()
	client, err := Open(Options{AppKey: "kid_test", LocalOnly: true, DataDirectory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	notes, err := OpenCollection[M](client, "notes", Sync)
	if err != nil {
		t.Fatal(err)
	}
	return client, notes
}

func isConflict(t *testing.T, err error, id string) {
	t.Helper()
	var failure *Error
	if !errors.Is(err, ErrConflict) || !errors.As(err, &failure) || failure.ID != id {
		t.Errorf("no conflict about %s: %v", id, err)
	}
}

func TestAnInsertReplacesNothing(t *testing.T) {
	_, notes := localNotes(t)
	ctx := context.Background()
	if _, err := notes.Insert(ctx, M{"_id": "a", "n": 1}); err != nil {
		t.Fatal(err)
	}
	_, err := notes.Insert(ctx, M{"_id": "a", "n": 2})
	isConflict(t, err, "a")
	_, err = notes.SaveMany(ctx, []M{{"_id": "b"}, {"_id": "a"}}, IfMissing())
	isConflict(t, err, "a")
	if count, _ := notes.Count(ctx, nil); count != 1 {
		t.Errorf("%d entities", count)
	}
}

func TestAVersionIsMetOnce(t *testing.T) {
	_, notes := localNotes(t)
	ctx := context.Background()
	if _, err := notes.Save(ctx, M{"_id": "a", "n": 1}); err != nil {
		t.Fatal(err)
	}
	version, err := notes.Version("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := notes.Save(ctx, M{"_id": "a", "n": 2}, IfVersion(version)); err != nil {
		t.Error(err)
	}
	_, err = notes.Save(ctx, M{"_id": "a", "n": 3}, IfVersion(version))
	isConflict(t, err, "a")
	_, err = notes.RemoveByID(ctx, "a", IfVersion(version))
	isConflict(t, err, "a")
	_, err = notes.RemoveByID(ctx, "a", IfMatches(M{"n": 1}))
	isConflict(t, err, "a")
	_, err = notes.RemoveByID(ctx, "a", IfMatches(Field("n").GreaterThan(2)))
	isConflict(t, err, "a")
	if _, err := notes.Save(ctx, M{"_id": "a", "n": 2}, IfMatches(Field("n").Between(1, 2))); err != nil {
		t.Error(err)
	}
	_, err = notes.RemoveByID(ctx, "a", IfMatches(Field("").Equals(2)))
	if !errors.Is(err, ErrInvalid) {
		t.Errorf("a broken query: %v", err)
	}
	if removed, err := notes.RemoveByID(ctx, "a", IfMatches(M{"n": 2})); err != nil || removed != 1 {
		t.Errorf("removed %d: %v", removed, err)
	}
}

func TestATransactionMeetsConditions(t *testing.T) {
	client, notes := localNotes(t)
	ctx := context.Background()
	if _, err := notes.Save(ctx, M{"_id": "a", "n": 1}); err != nil {
		t.Fatal(err)
	}
	err := client.Transaction(ctx, func(tx *Tx) error {
		view := notes.In(tx)
		_, err := view.Save(M{"_id": "a"}, IfMissing())
		isConflict(t, err, "a")
		if _, err := view.Save(M{"_id": "b"}, IfMissing()); err != nil {
			return err
		}
		_, err = view.RemoveByID("a", IfMatches(M{"n": 1}))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := notes.Get(ctx, "a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("not removed: %v", err)
	}
}

func TestOfManyGoroutinesThatInsertOneWins(t *testing.T) {
	_, notes := localNotes(t)
	var wait sync.WaitGroup
	won := make(chan int, 100*4)
	for worker := 0; worker < 4; worker++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for number := 0; number < 100; number++ {
				_, err := notes.Insert(context.Background(), M{"_id": string(rune('A' + number))})
				if err == nil {
					won <- number
				} else if !errors.Is(err, ErrConflict) {
					t.Error(err)
				}
			}
		}()
	}
	wait.Wait()
	if len(won) != 100 {
		t.Errorf("%d inserts, not 100", len(won))
	}
}
