package kvstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func signup(t *testing.T, client *kvstore.Client, name string) (kvstore.User, error) {
	t.Helper()
	return client.Signup(ctx, kvstore.M{"username": name, "password": "a password"})
}

func TestNobodySignsUpOverUnsentWork(t *testing.T) {
	client := open(t, kvstore.Options{AppSecret: appSecret, Host: host})
	ana := must(signup(t, client, unique()))(t)
	notes := collection[kvstore.M](t, client, unique(), kvstore.Sync)
	must(notes.Save(ctx, kvstore.M{"_id": "n1", "_acl": kvstore.M{"gr": false}}))(t)
	other := unique()
	if _, err := signup(t, client, other); !errors.Is(err, kvstore.ErrPending) {
		t.Fatalf("got %v", err)
	}
	equal(t, must(client.ActiveUser())(t).ID, ana.ID)
	must(notes.Push(ctx))(t)
	sent := must(notes.Get(ctx, "n1"))(t)
	equal(t, fmt.Sprint(sent["_acl"].(map[string]any)["creator"]), ana.ID)
	must(signup(t, client, other))(t)
	equal(t, must(notes.Count(ctx, nil))(t), 0)
}

// ask asks the server itself, as an app or with a session.
func ask(t *testing.T, method, path, body string, authorize func(*http.Request), into any) {
	t.Helper()
	request := must(http.NewRequest(method, host+path, strings.NewReader(body)))(t)
	request.Header.Set("Content-Type", "application/json")
	authorize(request)
	answer := must(http.DefaultClient.Do(request))(t)
	defer answer.Body.Close()
	equal(t, answer.StatusCode, http.StatusOK)
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

func TestADeviceHasTheNameThatTheProgramGivesIt(t *testing.T) {
	device := "Anaïs’ 🖥 " + strings.Repeat("é", 40)
	client := open(t, kvstore.Options{AppSecret: appSecret, Host: host, DeviceName: device})
	user := unique()
	must(signup(t, client, user))(t)
	var login struct {
		Kmd struct {
			Authtoken string `json:"authtoken"`
		} `json:"_kmd"`
	}
	body := fmt.Sprintf(`{"username":%q,"password":"a password"}`, user)
	ask(t, "POST", "/user/"+appKey+"/login", body, func(request *http.Request) {
		request.SetBasicAuth(appKey, appSecret)
	}, &login)
	var sessions []struct {
		Device string `json:"device"`
	}
	ask(t, "GET", "/user/"+appKey+"/_sessions", "", func(request *http.Request) {
		request.Header.Set("Authorization", "Kinvey "+login.Kmd.Authtoken)
	}, &sessions)
	named := 0
	for _, session := range sessions {
		if strings.HasPrefix(session.Device, device+", ") {
			named++
		}
	}
	equal(t, named, 1)
}

func TestANameThatNoDeviceCanHaveIsRefused(t *testing.T) {
	for _, name := range []string{strings.Repeat("é", 50) + "x", "a\nb", "a\x00b", "a\x7fb", "a\u009bb", "a\xffb"} {
		client, err := kvstore.Open(kvstore.Options{
			AppKey: appKey, AppSecret: appSecret, Host: host, DataDirectory: t.TempDir(), DeviceName: name,
		})
		if err == nil {
			_ = client.Close()
		}
		if !errors.Is(err, kvstore.ErrInvalid) || !strings.Contains(err.Error(), "deviceName") {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

func TestTagsHaveSessionsOfTheirOwn(t *testing.T) {
	directory := t.TempDir()
	options := kvstore.Options{AppSecret: appSecret, Host: host, DataDirectory: directory, Tag: "a"}
	a := open(t, options)
	options.Tag = "b"
	b := open(t, options)
	ana := must(signup(t, a, unique()))(t)
	if _, err := b.ActiveUser(); !errors.Is(err, kvstore.ErrNoUser) {
		t.Fatalf("got %v", err)
	}
	must(signup(t, b, unique()))(t)
	equal(t, must(a.ActiveUser())(t).ID, ana.ID)
}

func TestASharedDeviceKeepsItsData(t *testing.T) {
	client := open(t, kvstore.Options{AppSecret: appSecret, Host: host, SharedDevice: true})
	must(signup(t, client, unique()))(t)
	notes := collection[kvstore.M](t, client, unique(), kvstore.Sync)
	must(notes.Save(ctx, kvstore.M{"_id": "n1"}))(t)
	must(notes.Push(ctx))(t)
	must(signup(t, client, unique()))(t)
	equal(t, must(notes.Count(ctx, nil))(t), 1)
}

func TestAClientNoticesAnotherOneThatLogsInSomebodyElse(t *testing.T) {
	options := kvstore.Options{AppSecret: appSecret, Host: host, DataDirectory: t.TempDir()}
	first, second := open(t, options), open(t, options)
	must(signup(t, first, unique()))(t)
	notes := collection[kvstore.M](t, first, unique(), kvstore.Sync)
	must(notes.Save(ctx, kvstore.M{"_id": "n1"}))(t)
	must(notes.Push(ctx))(t)
	must(signup(t, second, unique()))(t)
	if _, err := notes.Get(ctx, "n1"); !errors.Is(err, kvstore.ErrNoUser) {
		t.Fatalf("got %v", err)
	}
	if _, err := notes.Save(ctx, kvstore.M{"_id": "n2"}); !errors.Is(err, kvstore.ErrNoUser) {
		t.Fatalf("got %v", err)
	}
	if _, err := first.ActiveUser(); !errors.Is(err, kvstore.ErrNoUser) {
		t.Fatalf("got %v", err)
	}
}
