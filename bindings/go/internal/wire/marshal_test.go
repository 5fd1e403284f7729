package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"
)

var (
	moment  = time.Date(2026, 2, 3, 9, 35, 6, 789_999_999, time.FixedZone("east", 5*3600+1800))
	written = `"2026-02-03T04:05:06.789Z"`
)

type Base struct {
	At     time.Time
	hidden time.Time
}

type inner struct{ Seen *time.Time }

type Stamp struct{ time.Time }

type named struct {
	Stamp
	Name string
}

type own struct{ time.Time }

func (o own) MarshalJSON() ([]byte, error) { return []byte(`"own"`), nil }

type byPointer struct{ At time.Time }

func (b *byPointer) MarshalJSON() ([]byte, error) { return []byte(`"by pointer"`), nil }

type everything struct {
	Base
	*inner
	Plain   time.Time            `json:"plain"`
	Pointer *time.Time           `json:"pointer,omitempty"`
	None    *time.Time           `json:"none"`
	Left    *time.Time           `json:"left,omitempty"`
	Slice   []time.Time          `json:"slice"`
	Array   [1]time.Time         `json:"array"`
	Map     map[string]time.Time `json:"map"`
	Keys    map[time.Time]int    `json:"keys"`
	Any     any                  `json:"any"`
	Stamp   Stamp                `json:"stamp"`
	Named   named                `json:"named"`
	Own     own                  `json:"own"`
	Raw     json.RawMessage      `json:"raw"`
	Skipped time.Time            `json:"-"`
	Number  int                  `json:"number,string"`
}

func TestMomentsAreWrittenInOneWayAtAnyDepth(t *testing.T) {
	value := everything{
		Base: Base{At: moment, hidden: moment}, inner: &inner{&moment}, Plain: moment, Pointer: &moment,
		Slice: []time.Time{moment}, Array: [1]time.Time{moment}, Map: map[string]time.Time{"a": moment},
		Keys: map[time.Time]int{moment: 1}, Any: []any{map[string]any{"deep": &moment}},
		Stamp: Stamp{moment}, Named: named{Stamp{moment}, "x"}, Own: own{moment},
		Raw: json.RawMessage(`"2026-02-03T09:35:06.789999999+05:30"`), Number: 7,
	}
	want := strings.ReplaceAll(`{"At":@,"Seen":@,"plain":@,"pointer":@,"none":null,"slice":[@],"array":[@],`+
		`"map":{"a":@},"keys":{@:1},"any":[{"deep":@}],"stamp":@,"named":@,"own":"own",`+
		`"raw":"2026-02-03T09:35:06.789999999+05:30","number":"7"}`, "@", written)
	for _, it := range []any{value, &value, []any{value}[0]} {
		text, err := Marshal(it)
		if err != nil || string(text) != want {
			t.Errorf("%v\n%s\n%s", err, text, want)
		}
	}
	if text, err := Marshal(moment); err != nil || string(text) != written {
		t.Errorf("%s, %v", text, err)
	}
}

func TestFinerFractionsAreCutOff(t *testing.T) {
	for nanoseconds, want := range map[int]string{0: ".000Z", 999_999: ".000Z", 1_999_999: ".001Z", 999_999_999: ".999Z"} {
		for _, year := range []int{1, 1969, 2026, 9999} {
			text, err := Marshal(time.Date(year, 12, 31, 23, 59, 59, nanoseconds, time.UTC))
			if err != nil || string(text) != fmt.Sprintf(`"%04d-12-31T23:59:59%s"`, year, want) {
				t.Errorf("%s, %v", text, err)
			}
		}
	}
}

func TestWhatCanNotBeWrittenIsNamed(t *testing.T) {
	round := map[string]any{}
	round["a"] = round
	for want, value := range map[string]any{
		"at: the year 10000 of a time is not":                    map[string]any{"at": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"list[1].deep: unsupported value: NaN":                   map[string]any{"list": []any{1, map[string]any{"deep": math.NaN()}}},
		"Deep.Ratio: unsupported value: +Inf":                    struct{ Deep struct{ Ratio float64 } }{struct{ Ratio float64 }{math.Inf(1)}},
		"call: unsupported type: func()":                         map[string]any{"call": func() {}},
		"a map has keys of type float64, which JSON cannot have": map[float64]any{1: 2},
		"a value is nested too deeply, or contains itself":       round,
		"n: invalid number literal":                              map[string]any{"n": json.Number("x")},
		"at: the year 10000 of a time is not between 0 and 9999": map[string]time.Time{"at": time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200))},
	} {
		_, err := Marshal(value)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, wanted %s", err, want)
		}
	}
}

func TestWhoWritesItselfByPointerIsAskedWhereEncodingJSONDoes(t *testing.T) {
	value := struct {
		One  byPointer
		Many []byPointer
	}{Many: make([]byPointer, 1)}
	for _, it := range []any{value, &value} {
		theirs, err := json.Marshal(it)
		ours, wrong := Marshal(it)
		at := `{"At":"0001-01-01T00:00:00.000Z"}`
		if want := strings.ReplaceAll(string(theirs), `{"At":"0001-01-01T00:00:00Z"}`, at); string(ours) != want {
			t.Errorf("%s, %v; wanted %s, %v", ours, wrong, want, err)
		}
	}
}

// random makes a value of no moments, for both encoders.
func random(r *rand.Rand, depth int) any {
	texts := []string{"", "a", "<&>", "é\u2028", "\x00\"\\", "\xff"}
	switch r.Intn(14 - depth) {
	case 0, 1:
		return nil
	case 2:
		return texts[r.Intn(len(texts))]
	case 3:
		return r.NormFloat64() * math.Pow(10, float64(r.Intn(60)-30))
	case 4:
		return r.Int63() - r.Int63()
	case 5:
		return r.Intn(2) == 0
	case 6:
		return map[string]any{texts[r.Intn(len(texts)-1)]: random(r, depth+1), "b": random(r, depth+1)}
	case 7:
		return []any{random(r, depth+1), random(r, depth+1)}
	case 8:
		return &mixed{A: random(r, depth+1), B: r.Intn(2), C: []byte(texts[r.Intn(len(texts))])}
	case 9:
		return map[int]any{r.Intn(9): random(r, depth+1), -1: nil}
	case 10:
		return json.Number("1.50")
	case 11:
		return []mixed{{Inner: &nested{X: random(r, depth+1)}, nested: nested{Y: 3}}}
	case 12:
		return [2]any{random(r, depth+1), float32(r.NormFloat64())}
	}
	return uint8(r.Intn(256))
}

type nested struct {
	X any
	Y int `json:"y,omitempty,string"`
}

type mixed struct {
	nested
	Inner *nested `json:"inner,omitempty"`
	A     any
	B     int    `json:",omitempty"`
	C     []byte `json:"c"`
	D     string `json:"d,string"`
	E     *bool  `json:"e,string"`
	Y     int    `json:"bad\"name"`
	F     any    `json:"f,omitempty"`
}

func TestWithoutMomentsItIsWhatEncodingJSONWrites(t *testing.T) {
	seed := time.Now().UnixNano()
	r := rand.New(rand.NewSource(seed))
	for round := 0; round < 5000; round++ {
		value := random(r, 0)
		theirs, wrong := plain(value)
		ours, err := Marshal(value)
		if err != nil || wrong != nil || string(ours) != string(theirs) {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, ours, theirs)
		}
		looking := encoder{looksAtAll: true}
		if err := looking.value(reflect.ValueOf(value), 0); err != nil || string(looking.out) != string(theirs) {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, looking.out, theirs)
		}
	}
}

func BenchmarkMarshalMap(b *testing.B) {
	value := map[string]any{"_id": "5f1e", "text": "milk and bread", "n": 5, "price": 1.5, "tags": []any{"a", "b"}, "done": false}
	for i := 0; i < b.N; i++ {
		if _, err := Marshal(value); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodingJSONMap(b *testing.B) {
	value := map[string]any{"_id": "5f1e", "text": "milk and bread", "n": 5, "price": 1.5, "tags": []any{"a", "b"}, "done": false}
	for i := 0; i < b.N; i++ {
		if _, err := plain(value); err != nil {
			b.Fatal(err)
		}
	}
}

// A status is a text, a count a number; both write their own JSON.
type status string

func (s status) MarshalJSON() ([]byte, error) { return json.Marshal("is " + string(s)) }

type count int

func (c count) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d times", int(c)), nil }

type flag bool

func (f *flag) MarshalJSON() ([]byte, error) { return []byte(`"flag"`), nil }

func TestScalarsThatWriteThemselvesDoSoBesideMoments(t *testing.T) {
	value := struct {
		At     time.Time
		Status status
		Any    any
		Count  count
		Counts map[string]count
		Flag   flag
		Quoted flag   `json:",string"`
		Text   status `json:",string"`
	}{moment, "new", status("old"), 3, map[string]count{"a": 1}, true, true, "set"}
	text, err := Marshal(&value)
	if err != nil {
		t.Fatal(err)
	}
	expected := `{"At":` + written + `,"Status":"is new","Any":"is old","Count":"3 times",` +
		`"Counts":{"a":"1 times"},"Flag":"flag","Quoted":"flag","Text":"is set"}`
	if string(text) != expected {
		t.Errorf("wrote %s", text)
	}
	// The same as encoding/json writes, except for the moment.
	plain, err := json.Marshal(&value)
	if err != nil {
		t.Fatal(err)
	}
	if theirs := strings.Replace(string(plain), "2026-02-03T09:35:06.789999999+05:30", "2026-02-03T04:05:06.789Z", 1); theirs != expected {
		t.Errorf("encoding/json wrote %s", theirs)
	}
}
