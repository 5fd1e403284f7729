package kvstore_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

type city struct {
	ID     string   `json:"_id,omitempty"`
	Name   string   `json:"name"`
	State  string   `json:"state"`
	People int      `json:"people"`
	Tags   []string `json:"tags,omitempty"`
}

func cities(t *testing.T) *kvstore.Collection[city] {
	t.Helper()
	cities := collection[city](t, open(t, kvstore.Options{LocalOnly: true}), "cities", kvstore.Sync)
	must(cities.SaveMany(ctx, []city{
		{Name: "Boston", State: "MA", People: 650, Tags: []string{"port", "old"}},
		{Name: "Salem", State: "MA", People: 44, Tags: []string{"old"}},
		{Name: "Reno", State: "NV", People: 264},
	}))(t)
	return cities
}

func TestGroupsHaveTheNumbersThatWereAskedFor(t *testing.T) {
	type row struct {
		State   string
		N, Most int
		Mean    *float64
		Nothing *float64
	}
	rows := must(kvstore.Group[row](ctx, cities(t), kvstore.Grouping{
		Keys: []string{"state"},
		Aggregates: map[string]kvstore.Aggregate{
			"n": kvstore.Count, "most": kvstore.Maximum("people"), "mean": kvstore.Average("people"),
			"nothing": kvstore.Minimum("nothing"),
		},
	}, nil))(t)
	equal(t, len(rows), 2)
	equal(t, rows[0].State, "MA")
	equal(t, rows[0].N, 2)
	equal(t, rows[0].Most, 650)
	equal(t, *rows[0].Mean, 347)
	equal(t, rows[1].Nothing, nil)
}

func TestAGroupingThatIsNoneIsRefused(t *testing.T) {
	_, err := kvstore.Group[kvstore.M](ctx, cities(t), kvstore.Grouping{}, nil)
	if !errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
	script := kvstore.Grouping{Reduce: "function(doc,out){ out.n++; }", Initial: kvstore.M{"n": 0}}
	_, err = kvstore.Group[kvstore.M](ctx, cities(t), script, nil)
	if !errors.Is(err, kvstore.ErrUnsupported) {
		t.Error(err)
	}
}

func TestAFunctionFoldsEachGroup(t *testing.T) {
	all := cities(t)
	sum := func(people int, c city) (int, error) { return people + c.People, nil }
	byPeople := &kvstore.Query{Sort: []kvstore.SortKey{kvstore.Ascending("people")}}
	folded := must(kvstore.Fold(ctx, all, []string{"state"}, byPeople, sum))(t)
	equal(t, len(folded), 2)
	equal(t, string(folded[0].Keys), `{"state":"MA"}`)
	equal(t, folded[0].Value, 694)

	full := errors.New("full")
	_, err := kvstore.Fold(ctx, all, nil, nil, func(n int, c city) (int, error) { return n, full })
	if err != full {
		t.Error(err)
	}
}

func TestDistinctValuesAreInOrder(t *testing.T) {
	tags := must(kvstore.Distinct[string](ctx, cities(t), "tags", nil))(t)
	equal(t, fmt.Sprint(tags), "[old port]")
}

func TestQueriesAreCombined(t *testing.T) {
	all := cities(t)
	old := &kvstore.Query{Filter: kvstore.M{"tags": "old"}, Limit: 1}
	big := &kvstore.Query{Format: "people > %d", Arguments: []any{200}}
	equal(t, must(all.Count(ctx, kvstore.And(old, big)))(t), 1)
	equal(t, must(all.Count(ctx, kvstore.Or(old, kvstore.Not(old))))(t), 3)
	equal(t, must(all.Count(ctx, kvstore.And(nil, kvstore.Not(old))))(t), 1)
	either := kvstore.Or(old, big)
	either.Limit = 2
	equal(t, len(must(all.All(ctx, either))(t)), 2)
	_, err := all.Count(ctx, kvstore.And())
	if !errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
}
