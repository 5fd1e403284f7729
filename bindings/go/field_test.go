package kvstore_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func places(t *testing.T) *kvstore.Collection[kvstore.M] {
	t.Helper()
	all := collection[kvstore.M](t, open(t, kvstore.Options{LocalOnly: true}), "places", kvstore.Sync)
	must(all.SaveMany(ctx, []kvstore.M{
		{
			"_id": "boston", "name": "Boston", "population": 650000, "tags": []string{"port", "old"},
			"address": kvstore.M{"state": "MA"}, "founded": "1630-09-17T00:00:00.000Z",
			"mayors":  []kvstore.M{{"name": "Wu", "since": 2021}, {"name": "Walsh", "since": 2014}},
			"_geoloc": []float64{-71.06, 42.36},
		},
		{
			"_id": "reno", "name": "Reno (a.k.a. 100%*?)", "population": 264000, "tags": []string{},
			"mayor": nil, "_geoloc": []float64{-119.81, 39.53},
		},
		{"_id": "suva", "name": "suva", "_geoloc": []float64{178.44, -18.14}},
	}))(t)
	return all
}

func TestAFieldSelects(t *testing.T) {
	all, f := places(t), kvstore.Field
	wu := f("name").Equals("Wu")
	for i, one := range []struct {
		query  *kvstore.Query
		wanted string
	}{
		{f("population").GreaterThan(264000), "boston"},
		{f("population").AtLeast(264000), "boston reno"},
		{f("population").LessThan(264000), ""},
		{f("population").AtMost(264000), "reno"},
		{f("population").Between(1, 264000), "reno"},
		{f("population").NotEquals(264000), "boston suva"},
		{f("address.state").Equals("MA"), "boston"},
		{f("tags.1").Equals("old"), "boston"},
		{f("mayor").Equals(nil), "boston reno suva"},
		{f("mayor").Exists(), "reno"},
		{f("mayor").Missing(), "boston suva"},
		{f("name").In("suva", "Boston"), "boston suva"},
		{f("name").NotIn("suva", "Boston"), "reno"},
		{f("name").In(), ""},
		{f("name").HasPrefix("B"), "boston"},
		{f("name").HasSuffix("*?)"), "reno"},
		{f("name").HasText("(a.k.a. "), "reno"},
		{f("name").Like("*o*n"), "boston"},
		{f("name").Matches("[a-z]+"), "suva"},
		{f("tags").Contains("old", "port"), "boston"},
		{f("tags").Size(0), "reno"},
		{f("mayors").Any(wu.And(f("since").LessThan(2020))), ""},
		{f("mayors").Any(wu.And(f("since").GreaterThan(2020))), "boston"},
		{f("founded").LessThan(time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC)), "boston"},
		{f("_geoloc").Near(-119, 39, 150000), "reno"},
		{f("_geoloc").WithinCircle(-71, 42, 100000), "boston"},
		{f("_geoloc").WithinBox([2]float64{170, -20}, [2]float64{-110, 40}), "reno suva"},
		{f("_geoloc").WithinPolygon([2]float64{-80, 40}, [2]float64{-60, 40}, [2]float64{-70, 50}), "boston"},
		{f("name").Equals("suva").Or(f("tags").Contains("old")), "boston suva"},
		{kvstore.Not(f("name").Equals("suva")), "boston reno"},
	} {
		found, err := all.All(ctx, one.query.OrderBy(kvstore.Ascending("_id")))
		if err != nil {
			t.Fatal(i, err)
		}
		var ids []string
		for _, entity := range found {
			ids = append(ids, entity["_id"].(string))
		}
		if strings.Join(ids, " ") != one.wanted {
			t.Errorf("%d: %v selects %v, not %s", i, one.query, ids, one.wanted)
		}
	}
}

func TestABuiltQueryIsSortedPagedAndPrinted(t *testing.T) {
	query := kvstore.Field("population").GreaterThan(1)
	paged := query.OrderBy(kvstore.Descending("population"), kvstore.Ascending("name")).Page(1, 5).Only("name")
	equal(t, paged.String(), `{"filter":{"population":{"$gt":1}},"sort":{"population":-1,"name":1},`+
		`"skip":1,"limit":5,"fields":["name"]}`)
	equal(t, query.String(), `{"filter":{"population":{"$gt":1}}}`)
	format, arguments, err := query.AsFormat()
	if err != nil {
		t.Fatal(err)
	}
	again := &kvstore.Query{Format: format, Arguments: arguments}
	equal(t, again.String(), query.String())
}

func TestAQueryComparesAndSortsAsALanguageDoes(t *testing.T) {
	query := &kvstore.Query{
		Filter:    kvstore.M{"name": kvstore.M{"$gt": "b"}},
		Sort:      []kvstore.SortKey{kvstore.Ascending("name")},
		Collation: &kvstore.Collation{Locale: "de", IgnoreCase: true},
	}
	equal(t, query.String(), `{"filter":{"name":{"$gt":"b","$collation":{"locale":"de","ignoreCase":true}}},`+
		`"sort":{"name":{"$order":1,"$collation":{"locale":"de","ignoreCase":true}}}}`)
}

func TestWhatIsWrongWithABuiltQueryIsInvalid(t *testing.T) {
	all := places(t)
	for i, query := range []*kvstore.Query{
		kvstore.Field("").Equals(1),
		kvstore.Field("").Like("x"),
		kvstore.Field("a").Equals(math.NaN()),
		kvstore.Field("a").Equals(func() {}),
		kvstore.Field("a").Matches("["),
		kvstore.Field("a").Size(-1),
		kvstore.Field("a").Any(kvstore.Field("").Equals(1)),
		kvstore.Field("a").Equals(1).And(kvstore.Field("").Exists()),
		kvstore.Field("p").WithinCircle(0, 95, 10),
		kvstore.Field("p").WithinCircle(0, 0, -1),
		kvstore.Field("$or").Equals([]int{1}),
	} {
		if _, err := all.Count(ctx, query); !errors.Is(err, kvstore.ErrInvalid) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestProgressIsToldWhileACallWaits(t *testing.T) {
	client, name := online(t, host), unique()
	all := collection[kvstore.M](t, client, name, kvstore.Network)
	many := make([]kvstore.M, 120)
	for i := range many {
		many[i] = kvstore.M{"n": i}
	}
	must(all.SaveMany(ctx, many))(t)
	var last kvstore.Progress
	local := collection[kvstore.M](t, client, name, kvstore.Sync)
	must(local.Pull(ctx, nil, kvstore.OnProgress(func(progress kvstore.Progress) {
		if progress.EntitiesDone < last.EntitiesDone {
			t.Error("backwards")
		}
		last = progress
	})))(t)
	equal(t, last.EntitiesDone, 120)
}
