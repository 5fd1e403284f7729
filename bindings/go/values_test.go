package kvstore_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

type visit struct {
	ID    string      `json:"_id,omitempty"`
	At    time.Time   `json:"at"`
	Until *time.Time  `json:"until,omitempty"`
	Seen  []time.Time `json:"seen,omitempty"`
}

var (
	east   = time.FixedZone("east", 5*3600+1800)
	moment = time.Date(2026, 2, 3, 9, 35, 6, 789_999_999, east)
)

const written = "2026-02-03T04:05:06.789Z"

func TestAMomentIsFoundByTheMomentThatWasSaved(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	visits := collection[visit](t, client, "visits", kvstore.Sync)
	saved := must(visits.Save(ctx, visit{ID: "v", At: moment, Until: &moment, Seen: []time.Time{moment}}))(t)
	if want := moment.Truncate(time.Millisecond); !saved.At.Equal(want) || !saved.Seen[0].Equal(want) {
		t.Error(saved)
	}
	raw := collection[kvstore.M](t, client, "visits", kvstore.Sync)
	stored := must(raw.Get(ctx, "v"))(t)
	if stored["at"] != written || stored["until"] != written || stored["seen"].([]any)[0] != written {
		t.Error(stored)
	}
	at := kvstore.Field("at")
	format := func(arguments ...any) *kvstore.Query {
		return &kvstore.Query{Format: "at == %@ AND until == $it", Arguments: arguments, Variables: kvstore.M{"it": &moment}}
	}
	for name, query := range map[string]*kvstore.Query{
		"equals": at.Equals(moment), "at most": at.AtMost(moment), "at least": at.AtLeast(moment.UTC()),
		"in": at.In(1, moment), "between": at.Between(moment, &moment), "element": kvstore.Field("seen").Contains(moment),
		"filter": {Filter: kvstore.M{"at": moment, "seen": kvstore.M{"$in": []time.Time{moment}}}},
		"a struct": {Filter: struct {
			At any `json:"at"`
		}{kvstore.M{"$gte": moment}}},
		"format":     format(moment),
		"not before": at.LessThan(moment).Or(at.GreaterThan(moment), at.NotEquals(moment), kvstore.Not(at.Equals(moment))),
	} {
		want := 1
		if name == "not before" {
			want = 0
		}
		if count := must(visits.Count(ctx, query))(t); count != want {
			t.Errorf("%s: %d of %v", name, count, query)
		}
	}
}

func TestMomentsAreInOrderWhateverTheirZones(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	visits := collection[visit](t, client, "visits", kvstore.Sync)
	for i, zone := range []*time.Location{time.UTC, east, time.FixedZone("west", -11*3600), time.UTC} {
		at := moment.Add(time.Duration(i) * (-time.Hour + time.Microsecond)).In(zone)
		must(visits.Save(ctx, visit{ID: string(rune('a' + i)), At: at}))(t)
	}
	after := kvstore.Field("at").GreaterThan(moment.Add(-150 * time.Minute)).OrderBy(kvstore.Ascending("at"))
	for round := 0; round < 2; round++ {
		var ids []string
		for _, found := range must(visits.All(ctx, after))(t) {
			ids = append(ids, found.ID)
		}
		equal(t, strings.Join(ids, ""), "cba")
		if err := visits.CreateIndex(kvstore.Index{Keys: []kvstore.SortKey{kvstore.Ascending("at")}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestIntegersStayExactWhenAMapIsReadTouchedAndSaved(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	raw := collection[json.RawMessage](t, client, "numbers", kvstore.Sync)
	text := `{"_id":"n","big":9007199254740993,"deep":{"list":[-9007199254740993,1.5,0.1]},"small":7,"whole":2.0}`
	must(raw.Save(ctx, json.RawMessage(text)))(t)
	notes := collection[kvstore.M](t, client, "numbers", kvstore.Sync)
	note := must(notes.Get(ctx, "n"))(t)
	if note["big"] != int64(9007199254740993) || note["small"] != int64(7) || note["whole"] != 2.0 {
		t.Errorf("%#v", note)
	}
	note["touched"] = true
	must(notes.Save(ctx, note))(t)
	want := `{"_id":"n","big":9007199254740993,"deep":{"list":[-9007199254740993,1.5,0.1]},"small":7,"touched":true,"whole":2}`
	equal(t, string(must(raw.Get(ctx, "n"))(t)), want)
	for _, found := range must(notes.All(ctx, nil))(t) {
		equal(t, found["big"].(int64), 9007199254740993)
	}
	values := must(kvstore.Distinct[any](ctx, notes, "big", nil))(t)
	equal(t, values[0].(int64), 9007199254740993)
}

func TestWhatIsNoJSONIsNamed(t *testing.T) {
	notes := collection[kvstore.M](t, open(t, kvstore.Options{LocalOnly: true}), "notes", kvstore.Sync)
	bad := kvstore.M{"a": []any{1, kvstore.M{"b": math.NaN()}}}
	_, saving := notes.Save(ctx, bad)
	_, counting := notes.Count(ctx, &kvstore.Query{Filter: bad})
	_, many := notes.SaveMany(ctx, []kvstore.M{bad})
	for _, err := range []error{saving, counting, many} {
		if !errors.Is(err, kvstore.ErrInvalid) || !strings.Contains(err.Error(), "a[1].b: unsupported value: NaN") {
			t.Error(err)
		}
	}
}

func TestAnEntityThatIsNotWhatItsTypeSaysIsAnErrorThatNamesTheMember(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	must(collection[kvstore.M](t, client, "notes", kvstore.Sync).Save(ctx, kvstore.M{"_id": "n", "number": "seven"}))(t)
	_, err := collection[note](t, client, "notes", kvstore.Sync).Get(ctx, "n")
	var cause *json.UnmarshalTypeError
	if !errors.Is(err, kvstore.ErrInvalid) || !errors.As(err, &cause) || !strings.Contains(err.Error(), "number") {
		t.Error(err)
	}
}
