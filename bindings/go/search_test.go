package kvstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func texts(t *testing.T) *kvstore.Collection[kvstore.M] {
	t.Helper()
	all := collection[kvstore.M](t, open(t, kvstore.Options{LocalOnly: true}), "texts", kvstore.Sync)
	must(all.SaveMany(ctx, []kvstore.M{
		{"_id": "1", "title": "The quick red fox", "at": []float64{0, 2}},
		{"_id": "2", "title": "Foxes", "body": "They run.", "at": []float64{0, 1}},
		{"_id": "3", "title": "Running", "body": "A dog runs", "at": []float64{0, 0}},
	}))(t)
	if err := all.CreateIndex(kvstore.Index{Text: []string{"$**"}, Language: "english"}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestASearchFindsWords(t *testing.T) {
	all := texts(t)
	english := kvstore.SearchOptions{Language: "english"}
	for _, one := range []struct {
		query  *kvstore.Query
		wanted string
	}{
		{kvstore.Field("title").Search("fox*"), "1 2"},
		{kvstore.Field("title").Search(`"red fox" foxes`), "1"},
		{kvstore.Search("fox* -foxes"), "1"},
		{kvstore.Search("run", english), "2 3"},
		{kvstore.Search("dog run", english, kvstore.SearchOptions{AllWords: true}), "3"},
		{kvstore.Search("FOXES", kvstore.SearchOptions{CaseSensitive: true}), ""},
		{kvstore.Search("FÖXES", kvstore.SearchOptions{DiacriticSensitive: true}), ""},
		{kvstore.Search("fox*").OrderBy(kvstore.ByScore()), "2 1"},
		{kvstore.Field("at").Near(0, 0, 0).OrderBy(kvstore.ByDistance(), kvstore.Ascending("_id")), "3 2 1"},
	} {
		var found []string
		for _, entity := range must(all.All(ctx, one.query))(t) {
			found = append(found, entity["_id"].(string))
		}
		if got := strings.Join(found, " "); got != one.wanted {
			t.Errorf("%s found %q, not %q", one.query, got, one.wanted)
		}
	}
	if language := must(all.Indexes())(t)[0].Language; language != "english" {
		t.Errorf("the index is of %q", language)
	}
}

func TestResultsHaveWhatIsComputed(t *testing.T) {
	all := texts(t)
	query := kvstore.Search("fox*").OrderBy(kvstore.ByScore()).
		Computing("score", kvstore.TextScore).Computing("why", kvstore.Snippet{Words: 2})
	found := must(all.All(ctx, query))(t)
	if found[0]["score"] != 1.1 || found[0]["why"] != "<b>Foxes</b>" || found[1]["why"] != "…red <b>fox</b>" {
		t.Errorf("%v", found)
	}
	marked := kvstore.Search("dog").Computing("why", kvstore.Snippet{Start: "[", End: "]", Path: "body"})
	if got := must(all.All(ctx, marked))(t)[0]["why"]; got != "A [dog] runs" {
		t.Errorf("%v", got)
	}
	near := kvstore.Field("at").Near(0, 0, 0).Computing("metres", kvstore.Distance)
	metres := must(all.All(ctx, near))(t)[1]["metres"].(float64)
	if metres < 111_194 || metres > 111_195 {
		t.Errorf("%v metres", metres)
	}
	_, err := all.All(ctx, kvstore.Field("title").Equals("x").OrderBy(kvstore.ByScore()))
	if !errors.Is(err, kvstore.ErrInvalid) {
		t.Errorf("a score of no search: %v", err)
	}
	if _, err := all.All(ctx, kvstore.Search("x").Computing("why", nil)); !errors.Is(err, kvstore.ErrInvalid) {
		t.Errorf("nothing computed: %v", err)
	}
}
