package kvstore_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

const (
	formerPeople = "type Person @model { id: ID! first: String! last: String! }"
	newPeople    = "type Person @model { id: ID! name: String! }"
)

var peopleRules = kvstore.M{"migrate": kvstore.M{"Person": kvstore.M{"drop": []string{"first", "last"}}}}

type person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// peopleDirectory returns a directory with local data of the former schema.
func peopleDirectory(t *testing.T) string {
	directory := t.TempDir()
	client := must(openSchema(directory, formerPeople))(t)
	defer client.Close()
	people := must(kvstore.OpenCollection[kvstore.M](client, "Person", kvstore.Sync))(t)
	for _, id := range []string{"a", "b"} {
		must(people.Save(ctx, kvstore.M{"id": id, "first": "F" + id, "last": "L"}))(t)
	}
	return directory
}

func migratePeople(
	directory string, change any, migrate func(kvstore.MigratingRecord) (any, error),
) (*kvstore.Client, error) {
	return kvstore.Open(kvstore.Options{
		AppKey: "kid", Schema: newPeople, DataDirectory: directory, OnSchemaChange: change, Migrate: migrate,
	})
}

func TestAFunctionMigratesRecords(t *testing.T) {
	directory := peopleDirectory(t)
	var asked []kvstore.MigratingRecord
	migrate := func(record kvstore.MigratingRecord) (any, error) {
		asked = append(asked, record)
		var former struct{ First, Last string }
		if err := json.Unmarshal(record.Former, &former); err != nil {
			return nil, err
		}
		return person{record.ID, former.First + " " + former.Last}, nil
	}
	client := must(migratePeople(directory, peopleRules, migrate))(t)
	people := must(kvstore.OpenCollection[person](client, "Person", kvstore.Sync))(t)
	equal(t, must(people.Get(ctx, "b"))(t), person{"b", "Fb L"})
	equal(t, len(asked), 2)
	equal(t, asked[0].FormerModel+asked[0].Model+asked[0].ID, "PersonPersona")
	equal(t, string(asked[0].Record), `{"id":"a"}`)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	must(migratePeople(directory, peopleRules, migrate))(t).Close()
	equal(t, len(asked), 2)
}

func TestWhatAMigrationReturnsOrRefuses(t *testing.T) {
	directory := peopleDirectory(t)
	failure := errors.New("nobody knows")
	_, err := migratePeople(directory, peopleRules, func(kvstore.MigratingRecord) (any, error) { return nil, failure })
	if !errors.Is(err, kvstore.ErrConflict) || !errors.Is(err, failure) || !strings.Contains(err.Error(), `"a" of Person`) {
		t.Error(err)
	}
	_, err = migratePeople(directory, peopleRules, func(kvstore.MigratingRecord) (any, error) { return make(chan int), nil })
	if !errors.Is(err, kvstore.ErrConflict) || !strings.Contains(err.Error(), "not JSON") {
		t.Error(err)
	}
	_, err = migratePeople(directory, "resync", func(kvstore.MigratingRecord) (any, error) { return nil, nil })
	if !errors.Is(err, kvstore.ErrInvalid) || !strings.Contains(err.Error(), "OnSchemaChange") {
		t.Error(err)
	}
	_, err = migratePeople(directory, peopleRules, func(record kvstore.MigratingRecord) (any, error) {
		_, err := openSchema(directory, formerPeople)
		return nil, err
	})
	if !errors.Is(err, kvstore.ErrMisuse) {
		t.Error(err)
	}
	// Nil: as the rules change it.
	rules := kvstore.M{"migrate": kvstore.M{"Person": kvstore.M{
		"drop": []string{"last"}, "rename": kvstore.M{"first": "name"}}}}
	client := must(migratePeople(directory, rules, func(kvstore.MigratingRecord) (any, error) { return nil, nil }))(t)
	defer client.Close()
	people := must(kvstore.OpenCollection[person](client, "Person", kvstore.Sync))(t)
	equal(t, must(people.Get(ctx, "a"))(t), person{"a", "Fa"})
}

func TestTheRulesBesideAFunctionAreKeptAsTheyAre(t *testing.T) {
	keep := func(kvstore.MigratingRecord) (any, error) { return nil, nil }
	open := func(directory, fields string, change any) *kvstore.Client {
		return must(kvstore.Open(kvstore.Options{
			AppKey: "kid", Schema: "type Person @model { id: ID! first: String! last: String! " + fields + " }",
			DataDirectory: directory, OnSchemaChange: change, Migrate: keep,
		}))(t)
	}
	directory := peopleDirectory(t)
	// Null is no rules.
	open(directory, "note: String", json.RawMessage("null")).Close()
	client := open(directory, "note: String since: AWSTimestamp!", kvstore.M{"migrate": kvstore.M{
		"Person": kvstore.M{"default": kvstore.M{"since": int64(9007199254740993)}}}})
	defer client.Close()
	people := must(kvstore.OpenCollection[struct{ Since int64 }](client, "Person", kvstore.Sync))(t)
	equal(t, must(people.Get(ctx, "a"))(t).Since, int64(9007199254740993))
}
