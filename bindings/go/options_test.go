package kvstore_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func TestTheOptionsOfAClientAreWrittenAsTheLibraryReadsThem(t *testing.T) {
	for expected, options := range map[string]kvstore.Options{
		`{"appKey":"kid"}`:                              {AppKey: "kid"},
		`{"appKey":"kid","host":null}`:                  {AppKey: "kid", LocalOnly: true, Host: "https://x.test"},
		`{"appKey":"kid","host":"https://x.test/?a&b"}`: {AppKey: "kid", Host: "https://x.test/?a&b"},
		`{"appKey":"kid","retries":0,"timeout":1.5}`:    {AppKey: "kid", Retries: -1, Timeout: 1500 * time.Millisecond},
		`{"appKey":"kid","connections":2,"customRequestProperties":{"a":1},"durability":"normal","retries":5}`: {
			AppKey: "kid", Connections: 2, Durability: kvstore.DurabilityNormal, Retries: 5,
			CustomRequestProperties: map[string]any{"a": 1},
		},
	} {
		text, err := json.Marshal(options)
		if err != nil {
			t.Fatal(err)
		}
		var written, wanted map[string]any
		if json.Unmarshal(text, &written) != nil || json.Unmarshal([]byte(expected), &wanted) != nil {
			t.Fatalf("%s is no object", text)
		}
		if !reflect.DeepEqual(written, wanted) {
			t.Errorf("%s is not %s", text, expected)
		}
	}
}
