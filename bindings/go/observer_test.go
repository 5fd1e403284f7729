package kvstore_test

import (
	"context"
	"fmt"
	"testing"

	"kvstore"
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
		t.Fatal("nothing comes behind the end")
	}
}
