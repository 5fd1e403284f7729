package kvstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func TestWorkGoesOnWhileTheServerIsGone(t *testing.T) {
	own := must(startServer(t.TempDir()))(t)
	defer own.kill()
	notes := collection[note](t, online(t, own.host()), "notes", kvstore.Sync)
	must(notes.Save(ctx, note{ID: "n1", Text: "before"}))(t)
	equal(t, must(notes.Push(ctx))(t).Pushed, 1)

	own.kill()
	must(notes.Save(ctx, note{ID: "n1", Text: "offline"}))(t)
	must(notes.Save(ctx, note{Text: "new"}))(t)
	if _, err := notes.Push(ctx); !errors.Is(err, kvstore.ErrNetwork) || !kvstore.IsOffline(err) {
		t.Error(err)
	}
	equal(t, must(notes.Get(ctx, "n1"))(t).Text, "offline")
	equal(t, must(notes.Pending().Len())(t), 2)
	if _, err := notes.Pull(ctx, nil); !errors.Is(err, kvstore.ErrPending) {
		t.Error(err)
	}

	if err := own.start(); err != nil {
		t.Fatal(err)
	}
	equal(t, must(notes.Push(ctx))(t).Pushed, 2)
	seen := collection[note](t, online(t, own.host()), "notes", kvstore.Sync)
	equal(t, must(seen.Pull(ctx, nil))(t), kvstore.PullResult{Pulled: 2})
	equal(t, must(seen.Get(ctx, "n1"))(t).Text, "offline")
}

func TestOneRefusedWriteIsReportedAndTheRestGoesThrough(t *testing.T) {
	notes := collection[kvstore.M](t, online(t, host), unique(), kvstore.Sync)
	must(notes.SaveMany(ctx, []kvstore.M{
		{"_id": "good"}, {"_id": "bad", "_geoloc": []int{500, 500}}, {"_id": "also-good"},
	}))(t)
	result := must(notes.Push(ctx))(t)
	equal(t, result.Pushed, 2)
	equal(t, len(result.Errors), 1)
	equal(t, result.Errors[0].ID, "bad")
	equal(t, result.Errors[0].Code, "ParameterValueOutOfRange")
	detail := must(notes.Pending().Get("bad"))(t)
	equal(t, detail.Attempts, 1)
	equal(t, detail.LastError.Code, "ParameterValueOutOfRange")
	if err := notes.Pending().Retry(ctx, "bad"); err == nil {
		t.Error("a bad write went through")
	}
	later := must(notes.Sync(ctx, nil))(t)
	equal(t, later.Quarantined, 1)
	equal(t, len(later.Errors), 0)
	again := must(notes.Push(ctx, kvstore.WithQuarantined()))(t)
	equal(t, again.Quarantined, 1)
	equal(t, len(again.Errors), 1)
}

func TestOneRefusedEntityOfManyHasItsPlace(t *testing.T) {
	notes := collection[kvstore.M](t, online(t, host), unique(), kvstore.Network)
	result := must(notes.SaveMany(ctx, []kvstore.M{
		{"text": "a"}, {"_geoloc": []int{500, 500}}, {"text": "c"},
	}))(t)
	equal(t, len(result.Errors), 1)
	equal(t, result.Errors[0].Index, 1)
	equal(t, result.Errors[0].Code, "ParameterValueOutOfRange")
	if result.Entities[1] != nil || (*result.Entities[2])["text"] != "c" {
		t.Error(result.Entities)
	}
}

func TestSyncPushesAndPulls(t *testing.T) {
	client, name := online(t, host), unique()
	must(collection[note](t, client, name, kvstore.Network).Save(ctx, note{ID: "theirs"}))(t)
	notes := collection[note](t, client, name, kvstore.Sync)
	must(notes.Save(ctx, note{ID: "mine"}))(t)
	result := must(notes.Sync(ctx, nil))(t)
	equal(t, result.Pushed, 1)
	equal(t, result.Pulled, 2)
}

func TestAPullAndASyncGiveTheEntities(t *testing.T) {
	client, name := online(t, host), unique()
	notes := collection[note](t, client, name, kvstore.Sync)
	must(notes.Save(ctx, note{ID: "a"}))(t)
	result, entities, err := notes.SyncEntities(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, result.Pushed, 1)
	equal(t, must(entities.All())(t)[0].ID, "a")
	equal(t, len(must(must(notes.PullEntities(ctx, nil))(t).All())(t)), 1)
	must(notes.Save(ctx, note{ID: "b"}))(t)
	if _, err := notes.PullEntities(ctx, nil); !errors.Is(err, kvstore.ErrPending) {
		t.Error(err)
	}
}

func TestAPolicyCountsForOneCall(t *testing.T) {
	notes := collection[note](t, online(t, host), unique(), kvstore.Sync)
	must(notes.Save(ctx, note{ID: "n1"}, kvstore.WithWritePolicy(kvstore.WriteNetwork)))(t)
	equal(t, must(notes.Pending().Len())(t), 0)
	network := kvstore.WithReadPolicy(kvstore.ReadNetwork)
	equal(t, must(notes.Count(ctx, nil, network))(t), 1)
	equal(t, len(must(notes.All(ctx, nil, network))(t)), 1)
	equal(t, must(notes.Get(ctx, "n1", network))(t).ID, "n1")
	equal(t, must(notes.RemoveByID(ctx, "n1", kvstore.WithWritePolicy(kvstore.WriteNetwork)))(t), 1)
}

func TestACacheAnswersTwice(t *testing.T) {
	client, name := online(t, host), unique()
	must(collection[note](t, client, name, kvstore.Network).Save(ctx, note{ID: "n1"}))(t)
	cached := collection[note](t, client, name, kvstore.Cache)
	var local []string
	var lock sync.Mutex
	listen := kvstore.OnLocalAnswer(func(answer json.RawMessage, err error) {
		lock.Lock()
		defer lock.Unlock()
		local = append(local, string(answer))
		if err != nil {
			t.Error(err)
		}
	})
	equal(t, must(cached.Count(ctx, nil, listen))(t), 1)
	equal(t, len(must(cached.All(ctx, nil, listen))(t)), 1)
	equal(t, len(must(cached.All(ctx, nil, listen))(t)), 1)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	lock.Lock()
	defer lock.Unlock()
	equal(t, strings.Join(local[:2], " "), "0 []")
	if len(local) != 3 || !strings.Contains(local[2], "n1") {
		t.Error(local)
	}
}

func TestUsersSignUpLogInAndLogOut(t *testing.T) {
	client := open(t, kvstore.Options{AppSecret: appSecret, Host: host})
	name := unique()
	equal(t, must(client.UserExists(ctx, name))(t), false)
	must(client.Signup(ctx, kvstore.M{"username": name, "password": "a password"}))(t)
	equal(t, must(client.UserExists(ctx, name))(t), true)
	if _, err := client.Signup(ctx, kvstore.M{"username": name, "password": "x"}); !errors.Is(err, kvstore.ErrConflict) {
		t.Error(err)
	}
	equal(t, must(client.ActiveUser())(t).Username, name)
	must(client.UpdateUser(ctx, kvstore.M{"nickname": "Ana"}))(t)
	if me := must(client.Me(ctx))(t); !strings.Contains(string(me.JSON), "Ana") {
		t.Error(string(me.JSON))
	}

	notes := collection[note](t, client, unique(), kvstore.Sync)
	must(notes.Save(ctx, note{ID: "n1"}))(t)
	if err := client.Logout(ctx); !errors.Is(err, kvstore.ErrPending) {
		t.Error(err)
	}
	if err := client.Logout(ctx, kvstore.DiscardPending()); err != nil {
		t.Error(err)
	}
	if _, err := client.ActiveUser(); !errors.Is(err, kvstore.ErrNoUser) {
		t.Error(err)
	}
	if _, err := client.Login(ctx, name, "wrong"); !errors.Is(err, kvstore.ErrUnauthorized) {
		t.Error(err)
	}
	must(client.Login(ctx, name, "a password"))(t)
	if err := client.DeleteUser(ctx, kvstore.Hard()); err != nil {
		t.Error(err)
	}
	if must(client.Ping(ctx))(t).Version == "" {
		t.Error("a ping tells no version")
	}
}

func TestTheLogComesWithoutSecrets(t *testing.T) {
	client := open(t, kvstore.Options{AppSecret: appSecret, Host: host})
	var lock sync.Mutex
	var log strings.Builder
	err := client.SetLog(kvstore.LogDebug, func(level kvstore.LogLevel, line string) {
		lock.Lock()
		defer lock.Unlock()
		log.WriteString(line + "\n")
	})
	if err != nil {
		t.Fatal(err)
	}
	must(client.Signup(ctx, kvstore.M{"username": unique(), "password": "a password"}))(t)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	lock.Lock()
	defer lock.Unlock()
	if log.Len() == 0 || strings.Contains(log.String(), "a password") {
		t.Error(log.String())
	}
}

func TestAContextReallyCancels(t *testing.T) {
	silent := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer silent.Close()
	client := open(t, kvstore.Options{AppSecret: appSecret, Host: "http://" + silent.Addr().String()})
	limited, cancel := context.WithCancel(ctx)
	closed := make(chan error)
	go func() {
		connection, err := silent.Accept()
		if err != nil {
			closed <- err
			return
		}
		defer connection.Close()
		buffer := make([]byte, 4096)
		_, err = connection.Read(buffer)
		cancel()
		for err == nil {
			_, err = connection.Read(buffer)
		}
		closed <- nil
	}()
	_, err := client.Ping(limited)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, kvstore.ErrCancelled) {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestADeadlineIsTheContextsAndATimeoutIsOurs(t *testing.T) {
	silent := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer silent.Close()
	client := open(t, kvstore.Options{AppSecret: appSecret, Host: "http://" + silent.Addr().String()})
	limited, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := client.Ping(limited); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	_, err := client.Ping(ctx, kvstore.WithTimeout(20*time.Millisecond))
	var timeout interface{ Timeout() bool }
	if !errors.Is(err, kvstore.ErrTimeout) || !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error(err)
	}
}

func TestTheLibraryTellsAboutItself(t *testing.T) {
	if !strings.HasPrefix(kvstore.Version(), "0.") || !kvstore.HasFeature("store") || kvstore.HasFeature("no such thing") {
		t.Error(kvstore.Version())
	}
}
