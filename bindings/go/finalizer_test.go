package kvstore_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// collected waits until the garbage collector has closed the objects that a test has dropped.
func collected(t *testing.T, kind string, left int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); kvstore.LiveObjects(kind) > left; runtime.GC() {
		if time.Now().After(end) {
			t.Fatalf("%d of kind %q are left", kvstore.LiveObjects(kind), kind)
		}
	}
}

func TestAnIteratorThatIsDroppedGivesItsSnapshotBack(t *testing.T) {
	notes := local(t)
	numbers(t, notes, 100)
	func() {
		it := must(notes.Find(ctx, nil))(t)
		equal(t, it.Next(), true)
		equal(t, kvstore.LiveObjects("cursor"), 1)
	}()
	collected(t, "cursor", 0)
}

func TestAnIteratorKeepsItsCollectionAndItsClientAlive(t *testing.T) {
	directory := t.TempDir()
	find := func() *kvstore.Iterator[note] {
		client := must(kvstore.Open(kvstore.Options{AppKey: appKey, LocalOnly: true, DataDirectory: directory}))(t)
		notes := must(kvstore.OpenCollection[note](client, "notes", kvstore.Sync))(t)
		numbers(t, notes, 1000)
		return must(notes.Find(ctx, nil))(t)
	}
	it, count := find(), 0
	for it.Next() {
		if count%100 == 0 {
			runtime.GC()
		}
		count++
	}
	if it.Err() != nil {
		t.Error(it.Err())
	}
	equal(t, count, 1000)
	collected(t, "client", 0)
}
