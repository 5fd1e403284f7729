// Bugs is a tracker of bugs, whose list loads little by little. Where the bugs are kept is only a name.
//
//	bugs local DIRECTORY add "It crashes" 3
//	bugs bugs-file DIRECTORY list
//
// Commands: add TITLE SEVERITY, retitle ID TITLE, fix ID, remove ID, refresh COUNT, list, show POSITION.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"

	kvstore "github.com/libkvstore/libkvstore/bindings/go"
)

// A Bug is a record of the collection.
type Bug struct {
	ID       string `json:"_id,omitempty"`
	Title    string `json:"title"`
	Severity int    `json:"severity"`
	Fixed    bool   `json:"fixed"`
	// Revision is the store's, if it has one.
	Revision int `json:"revision,omitempty"`
}

var ctx = context.Background()

// order has the worst bugs first.
var order = &kvstore.Query{Sort: []kvstore.SortKey{kvstore.Descending("severity"), kvstore.Ascending("title")}}

func main() {
	if len(os.Args) < 4 {
		log.Fatal("usage: bugs STORE DIRECTORY COMMAND [ARGUMENT…]")
	}
	check(kvstore.RegisterStore("bugs-file", &BugsFile{}, fileOptions))
	client, err := kvstore.Open(kvstore.Options{AppKey: "bugs", Store: os.Args[1], DataDirectory: os.Args[2]})
	check(err)
	defer client.Close()
	bugs, err := kvstore.OpenCollection[Bug](client, "bugs", kvstore.Sync)
	check(err)
	defer bugs.Close()
	carryOut(bugs, os.Args[3], append(os.Args[4:], "", ""))
}

func carryOut(bugs *kvstore.Collection[Bug], command string, arguments []string) {
	switch command {
	case "add":
		saved, err := bugs.Save(ctx, Bug{Title: arguments[0], Severity: number(arguments[1])})
		check(err)
		fmt.Println("added", saved.ID)
	case "refresh":
		many := make([]Bug, number(arguments[0]))
		for index := range many {
			many[index] = Bug{Title: fmt.Sprintf("Terrible bug %d", index), Severity: 9}
		}
		_, err := bugs.SaveMany(ctx, many)
		check(err)
		fmt.Println("added", len(many))
	case "retitle":
		change(bugs, arguments[0], func(bug *Bug) { bug.Title = arguments[1] })
		fmt.Println("retitled", arguments[0])
	case "fix":
		change(bugs, arguments[0], func(bug *Bug) { bug.Fixed = true })
		fmt.Println("fixed", arguments[0])
	case "remove":
		count, err := bugs.RemoveByID(ctx, arguments[0])
		check(err)
		fmt.Println("removed", count)
	case "list":
		list(bugs)
	case "show":
		found, err := bugs.Results(ctx, order, kvstore.ResultsRequest{})
		check(err)
		defer found.Close()
		bug, _, err := found.At(number(arguments[0]))
		check(err)
		fmt.Println(bug.Title)
	default:
		log.Fatalf("unknown command %s", command)
	}
}

func change(bugs *kvstore.Collection[Bug], id string, edit func(bug *Bug)) {
	bug, err := bugs.Get(ctx, id)
	check(err)
	edit(&bug)
	_, err = bugs.Save(ctx, bug)
	check(err)
}

// list prints the bugs. A batch of them is in memory at a time.
func list(bugs *kvstore.Collection[Bug]) {
	found, err := bugs.Results(ctx, order, kvstore.ResultsRequest{BatchSize: 20})
	check(err)
	defer found.Close()
	fmt.Println(found.Len(), "bugs")
	check(found.Each(func(_ int, bug Bug) bool {
		state := "open"
		if bug.Fixed {
			state = "fixed"
		}
		fmt.Println(bug.ID, bug.Severity, state, bug.Title)
		return true
	}))
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
