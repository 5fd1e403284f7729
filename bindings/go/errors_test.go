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

		`{"status":23,"message":"It failed."}`:                                          "kvstore: It failed (KV_SERVER).",
		`{"status":23,"message":"It failed.","description":"No.","debug":"the reason"}`: "kvstore: It failed (KV_SERVER). No: the reason",
		`{"status":23,"message":"It failed.","description":"No.","debug":"A reason."}`:  "kvstore: It failed (KV_SERVER). No. A reason.",
		`{"status":23,"message":"It failed.","description":"the reason"}`:               "kvstore: It failed (KV_SERVER): the reason",
		`{"status":23,"message":"refused","description":"No.","debug":"5 of 6"}`:        "kvstore: refused (KV_SERVER): No. 5 of 6",
	} {
		var err kvstore.Error
		if wrong := json.Unmarshal([]byte(text), &err); wrong != nil {
			t.Fatal(wrong)
		}
		equal(t, err.Error(), want)
	}
}
