package kvstore_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func TestNumbersBeyondFloatingPointAreRefusedByName(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	notes := collection[kvstore.M](t, client, "notes", kvstore.Sync)
	const beyond = "the number is outside the range of 64-bit floating point"
	for _, number := range []json.Number{"1e400", json.Number(strings.Repeat("7", 400))} {
		_, err := notes.Save(ctx, kvstore.M{"a": kvstore.M{"b": []any{1, number}}})
		if !errors.Is(err, kvstore.ErrInvalid) || !strings.Contains(err.Error(), "a.b[1]: "+beyond) {
			t.Error(err)
		}
		_, err = notes.Count(ctx, &kvstore.Query{Filter: kvstore.M{"n": number}})
		if !errors.Is(err, kvstore.ErrInvalid) || !strings.Contains(err.Error(), "n: "+beyond) {
			t.Error(err)
		}
	}
}

func TestIntegersBeyond64BitsStayAsTheyAreAndCanBeAskedFor(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	notes := collection[kvstore.M](t, client, "notes", kvstore.Sync)
	for _, number := range []json.Number{"18446744073709551616", json.Number("1" + strings.Repeat("0", 300))} {
		saved := must(notes.Save(ctx, kvstore.M{"n": number}))(t)
		for _, query := range []*kvstore.Query{
			{Filter: kvstore.M{"n": number}}, kvstore.Field("n").Equals(number), {Format: "n = %@", Arguments: []any{number}},
		} {
			found := must(notes.All(ctx, query))(t)
			if len(found) != 1 || found[0]["_id"] != saved["_id"] || found[0]["n"] != number {
				t.Error(number, found)
			}
		}
	}
}

func TestAPageOfABackendIsReadWhateverItsNumbers(t *testing.T) {
	digits := strings.Repeat("9", 5000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = w.Write([]byte(`{"_id":"ana","_kmd":{"authtoken":"token"}}`))
			return
		}
		_, _ = w.Write([]byte(`[{"_id":"a","n":1e400},{"_id":"b","n":` + digits + `},{"_id":"c","n":7}]`))
	}))
	defer server.Close()
	client := open(t, kvstore.Options{AppSecret: "s", Host: server.URL})
	must(client.Login(ctx, "ana", "pw"))(t)
	for _, kind := range []kvstore.StoreType{kvstore.Network, kvstore.Sync} {
		notes := collection[kvstore.M](t, client, "notes", kind)
		if kind == kvstore.Sync {
			must(notes.Pull(ctx, nil))(t)
		}
		numbers := map[any]any{}
		for _, entity := range must(notes.All(ctx, nil))(t) {
			numbers[entity["_id"]] = entity["n"]
		}
		want := map[any]any{"a": json.Number("1e400"), "b": json.Number(digits), "c": int64(7)}
		if !reflect.DeepEqual(numbers, want) {
			t.Error(len(numbers), numbers["a"], numbers["c"])
		}
	}
}
