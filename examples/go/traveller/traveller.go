// Gustav, who writes Go: one of the three programs of the demo. README.md describes the
// steps.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/libkvstore/libkvstore/bindings/go"
)

const (
	name    = "gustav"
	country = "GR"
)

// A collection of maps, so that no member of a city is lost when it is saved again.
type cities = *kvstore.Collection[kvstore.M]

var ctx = context.Background()

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: traveller STEP HOST DIRECTORY")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
	fmt.Println("open:", kvstore.LiveObjects(""))
}

func run(step, host, directory string) error {
	client, err := kvstore.Open(kvstore.Options{
		AppKey: "kid_demo", AppSecret: "secret", Host: host, DataDirectory: directory,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	// A backend returns at most 10,000 entities at once, and there are more cities.
	paged := kvstore.WithAutoPagination(0)
	all, err := kvstore.OpenCollection[kvstore.M](client, "cities", kvstore.Sync, paged)
	if err != nil {
		return err
	}
	switch step {
	case "pull":
		user := kvstore.M{"username": name, "password": "a password"}
		if _, err := client.Signup(ctx, user); err != nil {
			return err
		}
		return pull(all)
	case "offline":
		return workOffline(all)
	case "push":
		return push(all)
	case "look":
		return look(all)
	case "logout":
		if err := client.Logout(ctx); err != nil {
			return err
		}
		return count(all, "left", nil)
	}
	return fmt.Errorf("there is no step %q", step)
}

func pull(all cities) error {
	result, err := all.Pull(ctx, nil)
	fmt.Println("pulled:", result.Pulled)
	return err
}

func count(all cities, what string, query *kvstore.Query) error {
	found, err := all.Count(ctx, query)
	fmt.Printf("%s: %d\n", what, found)
	return err
}

func where(filter kvstore.M) *kvstore.Query { return &kvstore.Query{Filter: filter} }

func workOffline(all cities) error {
	if err := count(all, "cities", nil); err != nil {
		return err
	}
	large := where(kvstore.M{"population": kvstore.M{"$gte": 1_000_000}})
	if err := count(all, "large", large); err != nil {
		return err
	}
	if err := visit(all); err != nil {
		return err
	}
	city, err := guestBook(all)
	if err != nil {
		return err
	}
	city["guests"] = []string{name}
	if _, err := all.Save(ctx, city); err != nil {
		return err
	}
	places := []kvstore.M{
		{"name": "Camp of Gustav", "visitedBy": name},
		{"name": "Another impossible place", "_geoloc": []int{0, -200}},
	}
	if _, err := all.SaveMany(ctx, places); err != nil {
		return err
	}
	if err := pending(all); err != nil {
		return err
	}
	_, err = all.Push(ctx)
	if !errors.Is(err, kvstore.ErrNetwork) {
		return fmt.Errorf("the push failed in an unexpected way: %w", err)
	}
	fmt.Println("push:", kvstore.ErrNetwork)
	return nil
}

// visit marks the three largest cities of a country as visited.
func visit(all cities) error {
	largest, err := all.All(ctx, &kvstore.Query{
		Filter: kvstore.M{"countrycode": country},
		Sort:   []kvstore.SortKey{kvstore.Descending("population")},
		Limit:  3,
	})
	if err != nil {
		return err
	}
	for _, city := range largest {
		city["visitedBy"] = name
		if _, err := all.Save(ctx, city); err != nil {
			return err
		}
	}
	return nil
}

// guestBook returns Reykjavik, whose guest book everybody signs.
func guestBook(all cities) (kvstore.M, error) {
	found, err := all.All(ctx, where(kvstore.M{"geonameid": 3413829}))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("there are %d cities with the guest book", len(found))
	}
	return found[0], nil
}

// push pushes. A refused write is printed and dropped.
func push(all cities) error {
	conflicts := 0
	if err := all.SetConflictHandler(func(conflict kvstore.Conflict) kvstore.Decision {
		conflicts++
		return merge(conflict)
	}); err != nil {
		return err
	}
	result, err := all.Push(ctx)
	if err != nil {
		return err
	}
	fmt.Println("pushed:", result.Pushed)
	fmt.Println("conflicts:", conflicts)
	for _, refused := range result.Errors {
		fmt.Println("refused:", refused.Code)
		if err := all.Pending().Drop(refused.ID); err != nil {
			return err
		}
	}
	return pending(all)
}

// merge signs the guest book after those who have signed it in the meantime.
func merge(conflict kvstore.Conflict) kvstore.Decision {
	var city kvstore.M
	if conflict.Remote == nil {
		return kvstore.KeepLocal()
	}
	if err := json.Unmarshal(conflict.Remote, &city); err != nil {
		return kvstore.LeaveOpen()
	}
	guests, _ := city["guests"].([]any)
	city["guests"] = append(guests, name)
	return kvstore.Merged(city)
}

// pending counts the pending writes.
func pending(all cities) error {
	writes, err := all.Pending().List("", 0)
	waiting := map[string]int{}
	for _, write := range writes {
		waiting[write.Operation]++
	}
	fmt.Printf("pending: %d create, %d update\n", waiting["create"], waiting["update"])
	return err
}

func look(all cities) error {
	if err := pull(all); err != nil {
		return err
	}
	visited := where(kvstore.M{"visitedBy": kvstore.M{"$exists": true}})
	if err := count(all, "visited", visited); err != nil {
		return err
	}
	if err := count(all, "mine", where(kvstore.M{"visitedBy": name})); err != nil {
		return err
	}
	city, err := guestBook(all)
	if err != nil {
		return err
	}
	guests, _ := city["guests"].([]any)
	fmt.Println("guests:", len(guests))
	return nil
}
