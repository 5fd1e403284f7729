package kvstore_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func numbered(t *testing.T, count int) *kvstore.Collection[city] {
	t.Helper()
	cities := collection[city](t, open(t, kvstore.Options{LocalOnly: true}), "cities", kvstore.Sync)
	many := []city{}
	for number := 0; number < count; number++ {
		many = append(many, city{
			ID: fmt.Sprint(number), Name: "c", State: fmt.Sprint(number % 3), People: number,
		})
	}
	must(cities.SaveMany(ctx, many))(t)
	return cities
}

var byPeople = &kvstore.Query{Sort: []kvstore.SortKey{kvstore.Ascending("people")}}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestResultsAreReadByPositionABatchAtATime(t *testing.T) {
	cities := numbered(t, 1200)
	results := must(cities.Results(ctx, byPeople, kvstore.ResultsRequest{BatchSize: 50}))(t)
	defer results.Close()
	equal(t, results.Len(), 1200)
	last, changed, err := results.At(1199)
	ok(t, err)
	equal(t, last.People, 1199)
	equal(t, changed, false)
	equal(t, must(results.Reads())(t), 1)
	some := must(results.Slice(100, 103))(t)
	equal(t, len(some), 3)
	equal(t, some[2].People, 102)
	seen := 0
	ok(t, results.Each(func(position int, entity city) bool {
		equal(t, entity.People, position)
		seen++
		return position < 999
	}))
	equal(t, seen, 1000)
	for _, position := range []int{-1, 1200} {
		if _, _, err := results.At(position); !errors.Is(err, kvstore.ErrInvalid) {
			t.Error(err)
		}
	}
	ok(t, results.Close())
	ok(t, results.Close())
	if _, _, err := results.At(0); !errors.Is(err, kvstore.ErrMisuse) {
		t.Error(err)
	}
}

func TestResultsTellWhatWasChangedAndDeletedMeanwhile(t *testing.T) {
	cities := numbered(t, 4)
	results := must(cities.Results(ctx, byPeople, kvstore.ResultsRequest{BatchSize: 1}))(t)
	defer results.Close()
	must(cities.Save(ctx, city{ID: "1", Name: "new", People: 90}))(t)
	must(cities.RemoveByID(ctx, "2"))(t)
	entity, changed, err := results.At(1)
	ok(t, err)
	equal(t, entity.Name, "new")
	equal(t, changed, true)
	if _, _, err := results.At(2); !errors.Is(err, kvstore.ErrNotFound) {
		t.Error(err)
	}
	equal(t, results.IsDeleted(2), true)
	equal(t, results.IsDeleted(0), false)
	equal(t, len(must(results.Slice(0, 4))(t)), 3)
	must(cities.Save(ctx, city{ID: "0", Name: "newer"}))(t)
	ok(t, results.Refresh())
	entity, _, err = results.At(0)
	ok(t, err)
	equal(t, entity.Name, "newer")
}

func TestResultsAreIDsAndRows(t *testing.T) {
	cities := numbered(t, 10)
	ids := must(cities.IDs(ctx, byPeople))(t)
	defer ids.Close()
	equal(t, must(ids.Slice(8, 10))(t)[1], "9")
	type row struct {
		State string
		N     int
	}
	rows := must(kvstore.FetchRows[row](ctx, cities, nil, kvstore.ResultsRequest{
		GroupBy: []string{"state"}, Aggregates: map[string]kvstore.Aggregate{"n": kvstore.Count},
		Having: kvstore.M{"n": kvstore.M{"$gt": 3}},
	}))(t)
	defer rows.Close()
	equal(t, rows.Len(), 1)
	first, _, err := rows.At(0)
	ok(t, err)
	equal(t, first, row{"0", 4})
	_, err = kvstore.FetchRows[row](ctx, cities, nil, kvstore.ResultsRequest{Distinct: true})
	if !errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
}

func TestObservedResultsFollowTheirQuery(t *testing.T) {
	cities := numbered(t, 10)
	results := must(cities.Results(ctx, byPeople, kvstore.ResultsRequest{BatchSize: 3}))(t)
	defer results.Close()
	events := make(chan kvstore.ListChanges, 10)
	subscription := must(results.Observe(func(changes kvstore.ListChanges, err error) {
		if err == nil && changes.Count == results.Len() {
			events <- changes
		}
	}))(t)
	defer subscription.Close()
	must(cities.Save(ctx, city{ID: "0", Name: "c", State: "0", People: 100}))(t)
	changes := <-events
	equal(t, fmt.Sprint(changes.Moves), "[{0 9}]")
	equal(t, fmt.Sprint(changes.Modifications), "[9]")
	last, _, err := results.At(9)
	ok(t, err)
	equal(t, last.People, 100)
	must(cities.RemoveAll(ctx))(t)
	for changes.Count > 0 {
		changes = <-events
	}
	if _, _, err := results.At(0); !errors.Is(err, kvstore.ErrInvalid) {
		t.Fatal(err)
	}
}

func TestAListOfTheBackendAsksForABatchWhenItIsTouched(t *testing.T) {
	own := must(startServer(t.TempDir()))(t)
	defer own.kill()
	cities := collection[city](t, online(t, own.host()), "cities", kvstore.Network)
	for number := 0; number < 10; number++ {
		must(cities.Save(ctx, city{ID: fmt.Sprint(number), Name: "c", People: number}))(t)
	}
	faults := must(cities.Results(ctx, byPeople, kvstore.ResultsRequest{BatchSize: 4}))(t)
	defer faults.Close()
	no := false
	whole := must(cities.Results(ctx, byPeople, kvstore.ResultsRequest{BatchSize: 4, ReturnsFaults: &no}))(t)
	defer whole.Close()
	must(cities.Save(ctx, city{ID: "1", Name: "changed", People: 1}))(t)
	equal(t, faults.Len(), 10)
	second, changed, err := faults.At(1)
	ok(t, err)
	equal(t, second.Name, "changed")
	equal(t, changed, true)
	own.kill()
	first, changed, err := faults.At(0)
	ok(t, err)
	equal(t, first.People, 0)
	equal(t, changed, false)
	if _, _, err := faults.At(9); !errors.Is(err, kvstore.ErrNetwork) {
		t.Error(err)
	}
	last, _, err := whole.At(9)
	ok(t, err)
	equal(t, last.People, 9)
}
