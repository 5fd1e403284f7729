package wire

import (
	"encoding/json"
	"reflect"
	"testing"
)

type holder struct {
	Any    any
	Map    map[string]any
	Maps   map[string][]any
	List   []any
	Float  float64
	Number json.Number
	Inside *holder
	hidden any
}

func TestNumbersInInterfacesStayExact(t *testing.T) {
	for text, want := range map[string]any{
		"0": int64(0), "-1": int64(-1), "9007199254740993": int64(9007199254740993),
		"-9223372036854775808": int64(-9223372036854775808), "9223372036854775808": json.Number("9223372036854775808"),
		"1.0": 1.0, "1.5": 1.5, "-0.1": -0.1, "1e3": 1000.0, "1E-7": 1e-7, "2.50e+2": 250.0,
		"0.30000000000000004": 0.30000000000000004, "0.1234567890123456789": json.Number("0.1234567890123456789"),
		"9007199254740993.0": json.Number("9007199254740993.0"), "1e400": json.Number("1e400"),
		"1e-400": json.Number("1e-400"), "1e99999999999999999999": json.Number("1e99999999999999999999"),
		"5e-324": 5e-324, "0.0": 0.0, "0e5": 0.0, "100000000000000000000000.0": 1e23,
	} {
		var value any
		if err := Unmarshal([]byte(text), &value); err != nil || value != want {
			t.Errorf("%s became %T %v, %v", text, value, value, err)
		}
		again, err := Marshal(value)
		if _, isFloat := want.(float64); err != nil || !isFloat && string(again) != text {
			t.Errorf("%s became %s", text, again)
		}
		var back any
		if err := Unmarshal(again, &back); err != nil || decimal(string(again)) != decimal(text) {
			t.Errorf("%s became %v", text, back)
		}
	}
	var minus any
	if err := Unmarshal([]byte("-0"), &minus); err != nil {
		t.Error(err)
	}
	if text, _ := Marshal(minus); string(text) != "-0" {
		t.Errorf("%s", text)
	}
}

func TestNumbersStayExactWhereverAnInterfaceIs(t *testing.T) {
	text := `{"Any":{"a":[9007199254740993]},"Map":{"a":9007199254740993},"Maps":{"a":[9007199254740993]},` +
		`"List":[[9007199254740993]],"Float":1.5,"Number":1.50,"Inside":{"Any":9007199254740993}}`
	var value holder
	if err := Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	big := int64(9007199254740993)
	want := holder{
		Any: map[string]any{"a": []any{big}}, Map: map[string]any{"a": big}, Maps: map[string][]any{"a": {big}},
		List: []any{[]any{big}}, Float: 1.5, Number: "1.50", Inside: &holder{Any: big},
	}
	if !reflect.DeepEqual(value, want) {
		t.Errorf("%#v", value)
	}
}

func TestWhatIsNoJSONIsAnError(t *testing.T) {
	var value any
	var typed struct{ N int }
	for _, text := range []string{"", "{", "nul"} {
		if Unmarshal([]byte(text), &value) == nil || Unmarshal([]byte(text), &typed) == nil {
			t.Error(text)
		}
	}
	if Unmarshal([]byte(`{"N":"text"}`), &typed) == nil {
		t.Error("a text became a number")
	}
}
