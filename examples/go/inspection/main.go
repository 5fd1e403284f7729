// Inspection is a program for technicians in the field: it works offline, and shows what others do as it happens.
//
//	go run ./inspection ana http://127.0.0.1:8080 data-ana
//
// It reads commands, one a line. ../../README.md has a story for two terminals.
package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/libkvstore/libkvstore/bindings/go"
)

const usage = `order ID TITLE            crew ID USER              show ID USER
status ID STATUS          contact ID NAME           orders
inspect ID ORDER ASSET    judge ID VERDICT COMMENT  read ID QUANTITY VALUE LONGITUDE LATITUDE
part ID ORDER COUNT       take ID COUNT             report
refused                   place ID LONGITUDE LATITUDE    retry ID
sent                      quit`

// password is one that a real program asks for.
const password = "a password"

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: inspection USER HOST DIRECTORY")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

// run opens the device and serves its user until the user has had enough.
func run(username, host, directory string) error {
	client, err := kvstore.Open(kvstore.Options{
		AppKey: "kid_demo", AppSecret: "secret", Host: host, DataDirectory: directory,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, stop := context.WithCancel(context.Background())
	if err := signIn(ctx, client, username); err != nil {
		stop()
		return err
	}
	device, err := openDevice(client)
	if err != nil {
		stop()
		return err
	}
	var watchers sync.WaitGroup
	// All that watches ends with the context.
	defer watchers.Wait()
	defer stop()
	if err := watch(ctx, device, &watchers); err != nil {
		return err
	}
	return readCommands(ctx, device)
}

// signIn logs in, or signs up the first time. A device that knows its user needs no network.
func signIn(ctx context.Context, client *kvstore.Client, username string) error {
	_, err := client.ActiveUser()
	if errors.Is(err, kvstore.ErrNoUser) {
		_, err = client.Login(ctx, username, password)
	}
	if errors.Is(err, kvstore.ErrUnauthorized) {
		_, err = client.Signup(ctx, kvstore.M{"username": username, "password": password})
	}
	return err
}

// What is shown while it happens

// watch keeps all collections in step with the server, and shows what happens by itself.
func watch(ctx context.Context, device *Device, watchers *sync.WaitGroup) error {
	if err := watchRefusals(ctx, device.client, watchers); err != nil {
		return err
	}
	if err := watchCollection(ctx, device.orders, watchers); err != nil {
		return err
	}
	if err := watchCollection(ctx, device.inspections, watchers); err != nil {
		return err
	}
	if err := watchCollection(ctx, device.readings, watchers); err != nil {
		return err
	}
	return watchCollection(ctx, device.parts, watchers)
}

// watchCollection follows a collection, and shows how it stands with the server and each change of the local data,
// on whichever device it was made.
func watchCollection[T fmt.Stringer](ctx context.Context, c *kvstore.Collection[T], watchers *sync.WaitGroup) error {
	changes, err := c.Observe(ctx, nil)
	if err != nil {
		return err
	}
	states, err := c.Follow(ctx, nil)
	if err != nil {
		return err
	}
	watchers.Add(2)
	go func() {
		defer watchers.Done()
		for change := range changes {
			for _, placed := range append(change.Insertions, change.Modifications...) {
				fmt.Printf("%s: %s\n", placed.Source, placed.Entity)
			}
		}
	}()
	go func() {
		defer watchers.Done()
		var shown kvstore.FollowState
		for status := range states {
			if status.State != shown {
				shown = status.State
				fmt.Println(status.Collection, "is", shown)
			}
		}
	}()
	return nil
}

// watchRefusals shows each write that the server has refused. Conflicts are set aside too, until the collection's rule
// has decided them.
func watchRefusals(ctx context.Context, client *kvstore.Client, watchers *sync.WaitGroup) error {
	events, err := client.SyncEvents(ctx)
	if err != nil {
		return err
	}
	watchers.Add(1)
	go func() {
		defer watchers.Done()
		for event := range events {
			if event.Event == "quarantined" && !errors.Is(event.Error, kvstore.ErrConflict) {
				fmt.Printf("refused %s: %v\n", event.ID, event.Error)
			}
		}
	}()
	return nil
}

// What the user types

// readCommands carries out one line after the other. An error ends a command, not the program.
func readCommands(ctx context.Context, device *Device) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words, err := split(lines.Text())
		if err == nil && words[0] == "quit" {
			return nil
		}
		if err == nil {
			err = carryOut(ctx, device, words)
		}
		if err != nil {
			fmt.Println("error:", err)
		} else {
			fmt.Println("done:", lines.Text())
		}
	}
	return lines.Err()
}

// split splits a line at its blanks, but not within quotes, as a table does whose columns are separated by blanks.
func split(line string) ([]string, error) {
	reader := csv.NewReader(strings.NewReader(line))
	reader.Comma = ' '
	return reader.Read()
}

// carryOut carries out one command. The words that are missing are empty.
func carryOut(ctx context.Context, device *Device, words []string) error {
	words = append(words, "", "", "", "", "")
	id := words[1]
	switch words[0] {
	case "order":
		return device.addOrder(ctx, id, words[2])
	case "crew":
		return device.shareWithCrew(ctx, id, words[2])
	case "show":
		return device.shareForReading(ctx, id, words[2])
	case "status":
		return device.editOrder(ctx, id, func(order *WorkOrder) { order.Status = words[2] })
	case "contact":
		return device.editOrder(ctx, id, func(order *WorkOrder) { order.Contact = words[2] })
	case "orders":
		return show(device.openOrders(ctx))
	case "inspect":
		return device.addInspection(ctx, id, words[2], words[3])
	case "judge":
		return device.judge(ctx, id, words[2], words[3])
	case "read":
		numbers, err := parse(words[3:6])
		if err != nil {
			return err
		}
		return device.addReading(ctx, id, words[2], numbers[0], numbers[1:])
	case "part":
		count, err := strconv.Atoi(words[3])
		if err != nil {
			return err
		}
		return device.addPart(ctx, id, words[2], count)
	case "take":
		count, err := strconv.Atoi(words[2])
		if err != nil {
			return err
		}
		return device.take(ctx, id, count)
	case "report":
		return showReport(device.report(ctx))
	case "refused":
		return showRefused(device.refused())
	case "place":
		place, err := parse(words[2:4])
		if err != nil {
			return err
		}
		return device.correctPlace(id, place)
	case "retry":
		return device.retryOrder(ctx, id)
	case "sent":
		return device.allSent(ctx)
	}
	fmt.Println(usage)
	return nil
}

// parse reads numbers.
func parse(words []string) ([]float64, error) {
	var numbers []float64
	for _, word := range words {
		number, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

func show(orders []WorkOrder, err error) error {
	for _, order := range orders {
		fmt.Println(order)
	}
	return err
}

func showRefused(writes []kvstore.PendingWrite, err error) error {
	for _, write := range writes {
		fmt.Printf("%s %s is %s: %v\n", write.Operation, write.ID, write.State, write.LastError)
	}
	return err
}

func showReport(summaries []Summary, err error) error {
	for _, each := range summaries {
		fmt.Printf("%s %-12s %5d %8g %8g\n", each.Inspection, each.Quantity, each.Count, each.Min, each.Max)
	}
	return err
}
