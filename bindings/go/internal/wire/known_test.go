package wire

import (
	"encoding/json"
	"math/big"
	"reflect"
	"testing"
	"time"
)

type node struct {
	Name string `json:"name"`
	Next *node  `json:"next"`
}

func TestTheMembersOfAStructAreKnown(t *testing.T) {
	type address struct {
		City string `json:"città"`
		Zip  *int   `json:"zip,omitempty"`
	}
	type base struct {
		ID string `json:"_id,omitempty"`
	}
	type person struct {
		base
		DueAt   string
		Home    address   `json:"home"`
		Work    *address  `json:"work"`
		Others  []address `json:"others"`
		Born    time.Time `json:"born"`
		Wealth  *big.Int  `json:"wealth"`
		Secret  string    `json:"-"`
		More    json.Number
		private int
	}
	const inner = `{"città":true,"Città":true,"CITTÀ":true,"zip":true,"Zip":true,"ZIP":true}`
	var want map[string]any
	if err := json.Unmarshal([]byte(`{"_id":true,"_ID":true,
		"DueAt":true,"dueAt":true,"dueat":true,"DUEAT":true,
		"home":`+inner+`,"Home":true,"HOME":true,"work":`+inner+`,"Work":true,"WORK":true,
		"others":true,"Others":true,"OTHERS":true,"born":true,"Born":true,"BORN":true,
		"wealth":true,"Wealth":true,"WEALTH":true,"More":true,"more":true,"MORE":true}`), &want); err != nil {
		t.Fatal(err)
	}
	for _, value := range []any{person{}, &person{}} {
		if got := Known(reflect.TypeOf(value)); !reflect.DeepEqual(got, want) {
			t.Errorf("%v", got)
		}
	}
	chain := map[string]any{"name": true, "Name": true, "NAME": true, "next": true, "Next": true, "NEXT": true}
	if got := Known(reflect.TypeOf(node{})); !reflect.DeepEqual(got, chain) {
		t.Errorf("%v", got)
	}
}

func TestAFieldOfItsOwnNameGoesBeforeAnotherSpelling(t *testing.T) {
	type inner struct {
		X int `json:"x"`
	}
	for _, value := range []any{
		struct {
			A int   `json:"A"`
			B inner `json:"a"`
		}{}, struct {
			B inner `json:"a"`
			A int   `json:"A"`
		}{},
	} {
		known := Known(reflect.TypeOf(value))
		if _, ok := known["a"].(map[string]any); !ok || known["A"] != true {
			t.Errorf("%v", known)
		}
	}
}

func TestOfTheseAllMembersAreKnown(t *testing.T) {
	for _, value := range []any{map[string]any{}, json.RawMessage{}, time.Time{}, own{}, byPointer{}, []any{}, 5} {
		if got := Known(reflect.TypeOf(value)); got != nil {
			t.Errorf("%T: %v", value, got)
		}
	}
}

func TestFieldsAreThoseOfEncodingJSON(t *testing.T) {
	type deepest struct{ A, B, C, D int }
	type left struct {
		deepest
		A int
		B int `json:"B"`
		E int
	}
	type right struct {
		A int
		B int
		E int `json:"e"`
	}
	type value struct {
		left
		*right
		C int `json:"c,omitempty"`
		D int `json:"bad\"name"`
	}
	for _, it := range []any{value{}, value{right: &right{}}, left{}, struct {
		left
		Other struct{ left }
	}{}} {
		theirs, err := json.Marshal(it)
		e := encoder{looksAtAll: true}
		if wrong := e.value(reflect.ValueOf(it), 0); wrong != nil || err != nil || string(e.out) != string(theirs) {
			t.Errorf("%v\n%s\n%s", wrong, e.out, theirs)
		}
	}
}
