package kvstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

type greeting struct {
	Text string `json:"text"`
}

func TestAUserHearsWhatAnotherOneSays(t *testing.T) {
	ana, ben := online(t, host), online(t, host)
	for _, client := range []*kvstore.Client{ana, ben} {
		if err := client.RegisterLive(ctx); err != nil {
			t.Fatal(err)
		}
	}
	owner, friend := must(ana.ActiveUser())(t).ID, must(ben.ActiveUser())(t).ID
	mine, theirs := ana.Stream("chat"), ben.Stream("chat")
	if err := theirs.Send(ctx, owner, greeting{"hello"}); !errors.Is(err, kvstore.ErrForbidden) {
		t.Fatal(err)
	}
	if err := mine.SetACL(ctx, "", kvstore.StreamACL{Publish: []string{friend}}); err != nil {
		t.Fatal(err)
	}
	equal(t, must(mine.ACL(ctx, ""))(t).Publish[0], friend)
	equal(t, must(theirs.Owners(ctx))(t)[0], owner)
	listening, cancel := context.WithCancel(ctx)
	defer cancel()
	said := must(kvstore.Listen[greeting](listening, mine, ""))(t)
	for event := range said {
		switch event.Kind {
		case kvstore.LiveReady:
			if err := theirs.Send(ctx, owner, greeting{"hello"}); err != nil {
				t.Fatal(err)
			}
		case kvstore.LiveMessage:
			equal(t, event.Message.Text, "hello")
			cancel()
		}
	}
	refused := must(kvstore.Listen[greeting](ctx, theirs, owner))(t)
	if event := <-refused; !errors.Is(event.Err, kvstore.ErrForbidden) {
		t.Fatal(event)
	}
}

func TestAStreamNeedsARegistration(t *testing.T) {
	ana := online(t, host)
	if err := ana.Stream("chat").Send(ctx, "", 1); !errors.Is(err, kvstore.ErrMisuse) {
		t.Fatal(err)
	}
	if _, err := kvstore.Listen[int](ctx, ana.Stream("a\x00b"), ""); !errors.Is(err, kvstore.ErrInvalid) {
		t.Fatal(err)
	}
}
