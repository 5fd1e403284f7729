package kvstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// changedOnBothSides returns a collection with an entity that was changed here and on the backend, and
// the backend's.
func changedOnBothSides(t *testing.T) (notes, theirs *kvstore.Collection[kvstore.M]) {
	t.Helper()
	client, name := online(t, host), unique()
	notes = collection[kvstore.M](t, client, name, kvstore.Sync)
	theirs = collection[kvstore.M](t, client, name, kvstore.Network)
	must(theirs.Save(ctx, kvstore.M{"_id": "n1", "text": "old", "number": 1}))(t)
	must(notes.Pull(ctx, nil))(t)
	must(theirs.Save(ctx, kvstore.M{"_id": "n1", "text": "theirs", "number": 1}))(t)
	must(notes.Save(ctx, kvstore.M{"_id": "n1", "text": "ours", "number": 2}))(t)
	return notes, theirs
}

func TestAHandlerDecidesConflicts(t *testing.T) {
	decisions := []struct {
		decision kvstore.Decision
		text     string
	}{
		{kvstore.KeepLocal(), "ours"},
		{kvstore.TakeRemote(), "theirs"},
		{kvstore.Merged(kvstore.M{"text": "both"}), "both"},
	}
	for _, one := range decisions {
		notes, theirs := changedOnBothSides(t)
		var seen kvstore.Conflict
		err := notes.SetConflictHandler(func(conflict kvstore.Conflict) kvstore.Decision {
			seen = conflict
			return one.decision
		})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, len(must(notes.Push(ctx))(t).Errors), 0)
		equal(t, seen.ID, "n1")
		if seen.Base == nil || seen.Local == nil || seen.Remote == nil {
			t.Error(seen)
		}
		equal(t, must(notes.Get(ctx, "n1"))(t)["text"].(string), one.text)
		equal(t, must(theirs.Get(ctx, "n1"))(t)["text"].(string), one.text)
	}
}

func TestAHandlerMayDelete(t *testing.T) {
	notes, theirs := changedOnBothSides(t)
	err := notes.SetConflictHandler(func(kvstore.Conflict) kvstore.Decision {
		return kvstore.DeleteBoth()
	})
	if err != nil {
		t.Fatal(err)
	}
	must(notes.Push(ctx))(t)
	if _, err := theirs.Get(ctx, "n1"); !errors.Is(err, kvstore.ErrNotFound) {
		t.Error(err)
	}
	if err := notes.SetConflictHandler(nil); err != nil {
		t.Error(err)
	}
}

func TestRulesMergeLists(t *testing.T) {
	client, name := online(t, host), unique()
	notes := collection[kvstore.M](t, client, name, kvstore.Sync)
	theirs := collection[kvstore.M](t, client, name, kvstore.Network)
	must(theirs.Save(ctx, kvstore.M{"_id": "n1", "tags": []string{}, "log": []string{}}))(t)
	must(notes.Pull(ctx, nil))(t)
	must(theirs.Save(ctx, kvstore.M{"_id": "n1", "tags": []string{"a"}, "log": []string{"a"}}))(t)
	must(notes.Save(ctx, kvstore.M{"_id": "n1", "tags": []string{"a", "b"}, "log": []string{"a"}}))(t)
	rules := map[string]string{"tags": "union", "log": "append"}
	result := must(notes.Push(ctx, kvstore.WithConflicts(kvstore.Merge), kvstore.WithMergeRules(rules)))(t)
	equal(t, len(result.Errors), 0)
	merged := must(theirs.Get(ctx, "n1"))(t)
	equal(t, fmt.Sprint(merged["tags"], merged["log"]), "[a b] [a a]")
}

func TestAConflictThatIsLeftOpenIsReverted(t *testing.T) {
	notes, _ := changedOnBothSides(t)
	result := must(notes.Push(ctx, kvstore.WithConflicts(kvstore.Optimistic)))(t)
	if len(result.Errors) != 1 || !errors.Is(result.Errors[0], kvstore.ErrConflict) {
		t.Fatal(result.Errors)
	}
	detail := must(notes.Pending().Get("n1"))(t)
	equal(t, detail.State, kvstore.InConflict)
	var remote kvstore.M
	if err := json.Unmarshal(detail.Remote, &remote); err != nil {
		t.Fatal(err)
	}
	equal(t, remote["text"].(string), "theirs")
	must(notes.Pull(ctx, nil))(t)
	equal(t, must(notes.Get(ctx, "n1"))(t)["text"].(string), "ours")
	if err := notes.Pending().Revert("n1"); err != nil {
		t.Error(err)
	}
	equal(t, must(notes.Get(ctx, "n1"))(t)["text"].(string), "theirs")
	if err := notes.Pending().Revert("n1"); !errors.Is(err, kvstore.ErrNotFound) {
		t.Error(err)
	}
}
