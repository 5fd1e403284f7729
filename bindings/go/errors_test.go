package kvstore_test

import (
	"encoding/json"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func TestAnErrorSaysWhatItIsAboutAndWhatTheBackendSaid(t *testing.T) {
	for text, want := range map[string]string{
		`{"status":23,"message":"refused","http":500,"description":"words","debug":"more","index":3,"id":"i","position":9}`: `kvstore: refused (KV_SERVER, HTTP 500, id "i", index 3, at byte 9): words: more`,

		`{"status":23,"message":"refused: words","description":"words"}`: "kvstore: refused: words (KV_SERVER)",
		`{"status":12}`: "kvstore: KV_NOT_FOUND",
	} {
		var err kvstore.Error
		if wrong := json.Unmarshal([]byte(text), &err); wrong != nil {
			t.Fatal(wrong)
		}
		equal(t, err.Error(), want)
	}
}
