package kvstore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func TestACopyFollowsWritesUntilTheContextEnds(t *testing.T) {
	notes := collection[kvstore.M](t, open(t, kvstore.Options{LocalOnly: true}), "observed", kvstore.Sync)
	watching, stop := context.WithCancel(ctx)
	changes, err := notes.Observe(watching, &kvstore.Query{Sort: []kvstore.SortKey{kvstore.Ascending("name")}})
	if err != nil {
		t.Fatal(err)
	}
	result := (<-changes).Apply(nil)
	equal(t, len(result), 0)
	for _, name := range []string{"b", "a", "c"} {
		must(notes.Save(ctx, kvstore.M{"_id": name, "name": name}))(t)
		result = (<-changes).Apply(result)
	}
	equal(t, fmt.Sprint(result[0]["name"]), "a")
	must(notes.Save(ctx, kvstore.M{"_id": "a", "name": "z"}))(t)
	result = (<-changes).Apply(result)
	equal(t, fmt.Sprint(result[0]["name"]), "b")
	equal(t, fmt.Sprint(result[2]["name"]), "z")
	stop()
	for range changes {
		t.Fatal("nothing comes after the end")
	}
}

func TestAReaderMayWaitForAnswersAndASlowOneGetsTheWholeResultAgain(t *testing.T) {
	notes := collection[kvstore.M](t, online(t, host), unique(), kvstore.Sync)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changes := must(notes.Observe(watching, nil))(t)
	result := (<-changes).Apply(nil)
	// A second observer reports each change, so that no two of them are merged.
	seen := must(notes.Observe(watching, nil))(t)
	<-seen
	for number := 0; number < 120; number++ {
		must(notes.Save(ctx, kvstore.M{"_id": fmt.Sprint(number)}))(t)
		<-seen
	}
	pushed := must(notes.Push(ctx))(t)
	equal(t, pushed.Pushed, 120)
	whole := 0
	for len(result) < 120 || whole == 0 {
		received := <-changes
		if received.Initial {
			whole++
		}
		result = received.Apply(result)
	}
	equal(t, whole, 1)
	equal(t, len(result), 120)
}
