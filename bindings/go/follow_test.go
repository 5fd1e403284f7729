package kvstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// await receives until a state is as wanted.
func await[E any](t *testing.T, states <-chan E, wanted func(E) bool) E {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case state, isOpen := <-states:
			if !isOpen {
				t.Fatal("the channel was closed")
			}
			if wanted(state) {
				return state
			}
		case <-deadline:
			t.Fatal("no such state came")
		}
	}
}

func TestWhatIsFollowedIsPulledKeptLiveAndPushed(t *testing.T) {
	name := unique()
	client, other := online(t, host), online(t, host)
	notes := collection[kvstore.M](t, client, name, kvstore.Sync)
	theirs := collection[kvstore.M](t, other, name, kvstore.Network)
	must(theirs.Save(ctx, kvstore.M{"_id": "a", "n": 1}))(t)
	following, stop := context.WithCancel(ctx)
	defer stop()
	statuses := must(client.Statuses(following))(t)
	states := must(notes.Follow(following, &kvstore.Query{Filter: kvstore.M{"n": kvstore.M{"$lt": 10}}}))(t)
	current := await(t, states, func(s kvstore.FollowStatus) bool { return s.State == kvstore.FollowCurrent && s.Live })
	equal(t, current.Collection, name)
	equal(t, current.LastSynced.IsZero(), false)
	must(notes.Get(ctx, "a"))(t)
	changes := must(notes.Observe(following, nil))(t)
	must(theirs.Save(ctx, kvstore.M{"_id": "b", "n": 2}))(t)
	await(t, changes, func(c kvstore.Changes[kvstore.M]) bool { return c.Count == 2 })
	must(notes.Save(ctx, kvstore.M{"_id": "c", "n": 3}))(t)
	for must(notes.Pending().Len())(t) > 0 {
		await(t, statuses, func(kvstore.ClientStatus) bool { return true })
	}
	must(theirs.Get(ctx, "c"))(t)
	status := must(client.Status())(t)
	equal(t, status.Online != nil && *status.Online && status.SignedIn, true)
	equal(t, len(status.Follows), 1)
	stop()
	for range states {
	}
}

func TestAFollowSaysWhyItIsBehindAndGoesOn(t *testing.T) {
	own := must(startServer(t.TempDir()))(t)
	defer own.kill()
	client := open(t, kvstore.Options{AppSecret: appSecret, Host: own.host()})
	notes := collection[kvstore.M](t, client, "notes", kvstore.Sync)
	following, stop := context.WithCancel(ctx)
	defer stop()
	states := must(notes.Follow(following, nil, kvstore.WithInterval(5*time.Second)))(t)
	behind := await(t, states, func(s kvstore.FollowStatus) bool { return s.Error != nil })
	equal(t, behind.State, kvstore.FollowBehind)
	equal(t, errors.Is(behind.Error, kvstore.ErrNoUser), true)
	must(client.Signup(ctx, nil))(t)
	await(t, states, func(s kvstore.FollowStatus) bool { return s.State == kvstore.FollowCurrent })
	_, err := notes.Follow(following, &kvstore.Query{Limit: 1})
	equal(t, errors.Is(err, kvstore.ErrInvalid), true)
}
