package kvstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func TestAnIndexIsUsedOnceItIsMade(t *testing.T) {
	notes := local(t)
	numbers(t, notes, 200)
	few := &kvstore.Query{Filter: kvstore.M{"number": kvstore.M{"$gte": 195}}}
	equal(t, must(notes.Explain(few))(t).Access, "scan")
	err := notes.CreateIndex(kvstore.Index{
		Name: "byNumber", Keys: []kvstore.SortKey{kvstore.Ascending("number")},
	})
	if err != nil {
		t.Fatal(err)
	}
	explained := must(notes.Explain(few))(t)
	equal(t, explained.Access, "index")
	equal(t, explained.Indexes[0], "byNumber")
	equal(t, explained.Examined, 5)
	equal(t, explained.Returned, 5)
	equal(t, must(notes.Count(ctx, few))(t), 5)
}

func TestIndexesAreListedAndDropped(t *testing.T) {
	notes := local(t)
	keys := []kvstore.SortKey{kvstore.Ascending("a.b"), kvstore.Descending("c")}
	if err := notes.CreateIndex(kvstore.Index{Keys: keys}); err != nil {
		t.Fatal(err)
	}
	listed := must(notes.Indexes())(t)
	equal(t, len(listed), 1)
	equal(t, listed[0].Name, "a.b_1_c_-1")
	equal(t, string(listed[0].Keys), `{"a.b":1,"c":-1}`)
	equal(t, listed[0].State, "ready")
	if err := notes.DropIndex("a.b_1_c_-1"); err != nil {
		t.Fatal(err)
	}
	equal(t, len(must(notes.Indexes())(t)), 0)
	if err := notes.DropIndex("a.b_1_c_-1"); !errors.Is(err, kvstore.ErrNotFound) {
		t.Error(err)
	}
	if err := notes.CreateIndex(kvstore.Index{}); !errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
}

func TestAnIndexWithACollationServesQueriesAndGroupsHaveOne(t *testing.T) {
	notes := collection[kvstore.M](t, open(t, kvstore.Options{LocalOnly: true}), "names", kvstore.Sync)
	for _, name := range []string{"Zoe", "Ärger", "anna", "ärger"} {
		must(notes.Save(ctx, kvstore.M{"_id": name, "name": name}))(t)
	}
	german := &kvstore.Collation{Locale: "de", IgnoreCase: true}
	keys := []kvstore.SortKey{kvstore.Ascending("name")}
	if err := notes.CreateIndex(kvstore.Index{Keys: keys, Collation: german}); err != nil {
		t.Fatal(err)
	}
	listed := must(notes.Indexes())(t)
	equal(t, listed[0].Name, "name_1_de_ignoreCase")
	equal(t, *listed[0].Collation, *german)
	explained := must(notes.Explain(&kvstore.Query{Filter: kvstore.M{"name": "ÄRGER"}, Collation: german}))(t)
	equal(t, explained.Indexes[0], "name_1_de_ignoreCase")
	equal(t, explained.Returned, 2)
	rows := must(kvstore.Group[kvstore.M](ctx, notes, kvstore.Grouping{Keys: []string{"name"}, Collation: german}, nil))(t)
	equal(t, len(rows), 3)
	equal(t, rows[1]["name"].(string), "Ärger")
}

func TestAutomaticIndexesTellWhyTheyExist(t *testing.T) {
	no := false
	for _, automatic := range []*bool{nil, &no} {
		client := open(t, kvstore.Options{LocalOnly: true, AutoIndex: automatic})
		notes := collection[note](t, client, "notes", kvstore.Sync)
		numbers(t, notes, 2000)
		few := &kvstore.Query{Filter: kvstore.M{"number": 7}}
		var listed []kvstore.StoredIndex
		deadline := time.Now().Add(time.Minute)
		for times := 1; ; times++ {
			equal(t, must(notes.Count(ctx, few))(t), 1)
			listed = must(notes.Indexes())(t)
			// One is made in the background, and measured; that none is made shows soon.
			isMeasured := len(listed) > 0 && listed[0].Automatic != nil && listed[0].Automatic.Bytes > 0
			if isMeasured || automatic != nil && times == 200 || time.Now().After(deadline) {
				break
			}
		}
		if automatic != nil {
			equal(t, len(listed), 0)
			continue
		}
		if len(listed) != 1 || listed[0].Automatic == nil {
			t.Fatalf("%+v", listed)
		}
		equal(t, listed[0].Name, "automatic: number")
		equal(t, listed[0].Automatic.Examined, 2000*listed[0].Automatic.Scans)
		equal(t, listed[0].Automatic.Returned, listed[0].Automatic.Scans)
	}
}
