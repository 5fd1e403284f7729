package kvstore_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// The type of an older version of the program. A newer version has added members on every level.
type address struct {
	City string `json:"city"`
}

type stamped struct {
	At time.Time `json:"at"`
}

type olderCard struct {
	ID   string `json:"_id,omitempty"`
	ACL  *acl   `json:"_acl,omitempty"`
	Name string `json:"name,omitempty"`
	stamped
	Home   address  `json:"home"`
	Work   *address `json:"work,omitempty"`
	Hidden string   `json:"-"`
}

type acl struct {
	Creator string `json:"creator"`
}

const newerCard = `{"_id":"a","name":"Ada","at":"2026-02-03T04:05:06.789Z","home":{"city":"Reno","zip":"89501"},
	"work":{"city":"Elko","floor":7},"hidden":1,"Hidden":2,"addedByNewerApp":{"deep":[1,2]}}`

// isWhole fails the test unless an entity has the members that only the newer program knows.
func isWhole(t *testing.T, entity kvstore.M) {
	t.Helper()
	text := string(must(json.Marshal(entity))(t))
	for _, part := range []string{
		`"addedByNewerApp":{"deep":[1,2]}`, `"home":{"city":"Ely","zip":"89501"}`, `"hidden":1`, `"Hidden":2`,
		`"work":{"city":"Elko","floor":7}`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	if _, ok := entity["name"]; ok {
		t.Errorf("a member that was taken out is still in %s", text)
	}
}

func move(card olderCard) olderCard {
	card.Name, card.Home.City = "", "Ely"
	return card
}

func TestASaveOfAStructKeepsWhatANewerProgramHasAdded(t *testing.T) {
	for _, kind := range []kvstore.StoreType{kvstore.Sync, kvstore.Auto, kvstore.Cache, kvstore.Network} {
		for _, isOneOfMany := range []bool{false, true} {
			client, name := online(t, host), unique()
			backend := collection[kvstore.M](t, client, name, kvstore.Network)
			var added kvstore.M
			must(0, json.Unmarshal([]byte(newerCard), &added))(t)
			must(backend.Save(ctx, added))(t)
			cards := collection[olderCard](t, client, name, kind)
			if kind != kvstore.Network {
				must(cards.Pull(ctx, nil))(t)
			}
			card := must(cards.Get(ctx, "a"))(t)
			if isOneOfMany {
				result := must(cards.SaveMany(ctx, []olderCard{{ID: "b"}, move(card)}))(t)
				if kind == kvstore.Network {
					// A network collection only inserts.
					equal(t, len(result.Errors), 1)
					continue
				}
				equal(t, len(result.Errors), 0)
			} else {
				must(cards.Save(ctx, move(card)))(t)
			}
			if kind == kvstore.Sync {
				isWhole(t, must(collection[kvstore.M](t, client, name, kvstore.Sync).Get(ctx, "a"))(t))
				equal(t, len(must(cards.Push(ctx))(t).Errors), 0)
			}
			isWhole(t, must(backend.Get(ctx, "a"))(t))
		}
	}
}

func TestATransactionAndAnEditOfAStructKeepWhatANewerProgramHasAdded(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	raw := collection[json.RawMessage](t, client, "cards", kvstore.Sync)
	must(raw.Save(ctx, json.RawMessage(newerCard)))(t)
	cards := collection[olderCard](t, client, "cards", kvstore.Sync)
	must(0, client.Transaction(ctx, func(tx *kvstore.Tx) error {
		card, err := cards.In(tx).Get("a")
		if err != nil {
			return err
		}
		_, err = cards.In(tx).Save(move(card))
		return err
	}))(t)
	all := collection[kvstore.M](t, client, "cards", kvstore.Sync)
	isWhole(t, must(all.Get(ctx, "a"))(t))
	must(0, cards.Pending().Edit("a", move(must(cards.Get(ctx, "a"))(t))))(t)
	isWhole(t, must(all.Get(ctx, "a"))(t))
}

func TestMapsAndTypesThatWriteThemselvesReplaceTheWholeEntity(t *testing.T) {
	client := open(t, kvstore.Options{LocalOnly: true})
	raw := collection[json.RawMessage](t, client, "cards", kvstore.Sync)
	replace := func(save func() error) {
		t.Helper()
		must(raw.Save(ctx, json.RawMessage(newerCard)))(t)
		must(0, save())(t)
		equal(t, string(must(raw.Get(ctx, "a"))(t)), `{"_id":"a"}`)
	}
	replace(func() error {
		_, err := collection[kvstore.M](t, client, "cards", kvstore.Sync).Save(ctx, kvstore.M{"_id": "a"})
		return err
	})
	replace(func() error {
		_, err := collection[ownJSON](t, client, "cards", kvstore.Sync).Save(ctx, ownJSON{})
		return err
	})
	replace(func() error {
		all := collection[note](t, client, "cards", kvstore.Sync, kvstore.WithKnownMembers(nil))
		_, err := all.Save(ctx, note{ID: "a"})
		return err
	})
	must(raw.Save(ctx, json.RawMessage(`{"_id":"a","x":1,"y":2}`)))(t)
	some := collection[ownJSON](t, client, "cards", kvstore.Sync, kvstore.WithKnownMembers(kvstore.M{"_id": true, "x": true}))
	must(some.Save(ctx, ownJSON{}))(t)
	equal(t, string(must(raw.Get(ctx, "a"))(t)), `{"_id":"a","y":2}`)
}

type ownJSON struct{ N int }

func (ownJSON) MarshalJSON() ([]byte, error) { return []byte(`{"_id":"a"}`), nil }

func TestAMemberOfAnotherCaseIsReplacedAndNotKeptBesides(t *testing.T) {
	type plain struct {
		ID    string `json:"_id"`
		DueAt string
	}
	client := open(t, kvstore.Options{LocalOnly: true})
	raw := collection[json.RawMessage](t, client, "cards", kvstore.Sync)
	must(raw.Save(ctx, json.RawMessage(`{"_id":"a","dueAt":"now"}`)))(t)
	plains := collection[plain](t, client, "cards", kvstore.Sync)
	one := must(plains.Get(ctx, "a"))(t)
	equal(t, one.DueAt, "now")
	one.DueAt = "later"
	equal(t, must(plains.Save(ctx, one))(t).DueAt, "later")
	equal(t, must(plains.Get(ctx, "a"))(t).DueAt, "later")
}
