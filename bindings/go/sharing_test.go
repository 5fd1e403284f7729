package kvstore_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func TestUsersAreFoundByWhatTheBackendAllows(t *testing.T) {
	client, other := online(t, host), online(t, host)
	them := must(other.ActiveUser())(t)
	found := must(client.LookupUsers(ctx, kvstore.M{"username": them.Username}))(t)
	equal(t, len(found), 1)
	equal(t, found[0].ID, them.ID)
	equal(t, len(must(client.LookupUsers(ctx, kvstore.M{"_id": "nobody"}))(t)), 0)
	for _, members := range []kvstore.M{nil, {}, {"shoe_size": "43"}} {
		if _, err := client.LookupUsers(ctx, members); !errors.Is(err, kvstore.ErrInvalid) {
			t.Errorf("%v: got %v", members, err)
		}
	}
}

func TestAGroupIsMadeReadChangedAndDeleted(t *testing.T) {
	client := online(t, host)
	groups := client.Groups()
	made := must(groups.Create(ctx, "team", []string{"ada"}))(t)
	equal(t, fmt.Sprint(made.Name, made.Members), "team[ada]")
	change := kvstore.UserGroupChange{
		Add: []string{"ben", "cleo"}, Remove: []string{"ada"}, Set: kvstore.M{"name": "crew"},
	}
	changed := must(groups.Update(ctx, made.ID, change))(t)
	equal(t, fmt.Sprint(changed.Name, changed.Members), "crew[ben cleo]")
	equal(t, string(must(groups.Get(ctx, made.ID))(t).JSON), string(changed.JSON))
	all := must(groups.All(ctx))(t)
	equal(t, len(all), 1)
	equal(t, all[0].ID, made.ID)
	if err := groups.Delete(ctx, made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := groups.Get(ctx, made.ID); !errors.Is(err, kvstore.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestChangesOfAGroupAtOnceAreNotLost(t *testing.T) {
	groups := online(t, host).Groups()
	id := must(groups.Create(ctx, "team", nil))(t).ID
	var changes sync.WaitGroup
	var lock sync.Mutex
	added := 0
	for i := 0; i < 8; i++ {
		changes.Add(1)
		go func(i int) {
			defer changes.Done()
			change := kvstore.UserGroupChange{Add: []string{fmt.Sprint("user", i)}}
			_, err := groups.Update(ctx, id, change)
			if errors.Is(err, kvstore.ErrConflict) {
				return
			}
			if err != nil {
				t.Error(err)
			}
			lock.Lock()
			defer lock.Unlock()
			added++
		}(i)
	}
	changes.Wait()
	equal(t, len(must(groups.Get(ctx, id))(t).Members), added)
}

func TestAnEntityIsSharedAndUnshared(t *testing.T) {
	client, other := online(t, host), online(t, host)
	them := must(other.ActiveUser())(t).ID
	name := unique()
	mine := collection[kvstore.M](t, client, name, kvstore.Sync)
	theirs := collection[kvstore.M](t, other, name, kvstore.Network)
	must(mine.Save(ctx, kvstore.M{"_id": "n1", "_acl": kvstore.M{"gr": false}}))(t)
	group := must(client.Groups().Create(ctx, "team", []string{them}))(t).ID
	for _, with := range []kvstore.Sharing{
		{Readers: []string{them}}, {ReaderGroups: []string{group}}, {EverybodyReads: true},
		{Writers: []string{them}}, {WriterGroups: []string{group}}, {EverybodyWrites: true},
	} {
		if err := mine.Share(ctx, "n1", with); err != nil {
			t.Fatal(err)
		}
		must(mine.Push(ctx))(t)
		if _, err := theirs.Get(ctx, "n1"); err != nil {
			t.Errorf("%+v: %v", with, err)
		}
		if err := mine.Unshare(ctx, "n1", with); err != nil {
			t.Fatal(err)
		}
		must(mine.Push(ctx))(t)
		if _, err := theirs.Get(ctx, "n1"); !errors.Is(err, kvstore.ErrForbidden) {
			t.Errorf("%+v: got %v", with, err)
		}
	}
	if err := mine.Share(ctx, "n1", kvstore.Sharing{}); !errors.Is(err, kvstore.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if err := mine.Share(ctx, "n2", kvstore.Sharing{EverybodyReads: true}); !errors.Is(err, kvstore.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
