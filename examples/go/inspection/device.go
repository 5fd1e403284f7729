package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// A Device has the collections of one technician, each with the rule that decides its conflicts, and methods for all
// that a technician does. They read and write local data, and work without the network. What needs the server says so.
type Device struct {
	client      *kvstore.Client
	orders      *kvstore.Collection[WorkOrder]
	inspections *kvstore.Collection[Inspection]
	readings    *kvstore.Collection[Reading]
	parts       *kvstore.Collection[Part]
}

// openDevice opens the collections.
func openDevice(client *kvstore.Client) (device *Device, err error) {
	d := &Device{client: client}
	// Two people edit different members of an order: both edits count.
	merge := kvstore.WithConflicts(kvstore.Merge)
	if d.orders, err = kvstore.OpenCollection[WorkOrder](client, "workOrders", kvstore.Sync, merge); err != nil {
		return nil, err
	}
	if d.inspections, err = kvstore.OpenCollection[Inspection](client, "inspections", kvstore.Sync); err != nil {
		return nil, err
	}
	if err = d.inspections.SetConflictHandler(decide); err != nil {
		return nil, err
	}
	if d.readings, err = kvstore.OpenCollection[Reading](client, "readings", kvstore.Sync); err != nil {
		return nil, err
	}
	d.parts, err = kvstore.OpenCollection[Part](client, "parts", kvstore.Sync)
	return d, err
}

// decide decides between two opinions on one asset: the worse verdict and all comments count. The library cannot know
// that "fail" is worse than "pass". It calls this on one of its threads.
func decide(conflict kvstore.Conflict) kvstore.Decision {
	if conflict.Local == nil || conflict.Remote == nil {
		return kvstore.LeaveOpen() // one side has deleted it: a person decides
	}
	var local, decided Inspection
	if json.Unmarshal(conflict.Local, &local) != nil || json.Unmarshal(conflict.Remote, &decided) != nil {
		return kvstore.LeaveOpen()
	}
	if decided.Verdict != "fail" {
		decided.Verdict = local.Verdict
	}
	for _, comment := range local.Comments {
		if !contains(decided.Comments, comment) {
			decided.Comments = append(decided.Comments, comment)
		}
	}
	return kvstore.Merged(decided)
}

func contains(texts []string, text string) bool {
	for _, each := range texts {
		if each == text {
			return true
		}
	}
	return false
}

// Work orders, and who may see them

// addOrder saves a work order that nobody else sees.
func (d *Device) addOrder(ctx context.Context, id, title string) error {
	_, err := d.orders.Save(ctx, WorkOrder{ID: id, Title: title, Status: "open", Access: kvstore.M{"gr": false}})
	return err
}

// shareWithCrew lets a colleague do the work too. It asks the server, for the user and the group.
func (d *Device) shareWithCrew(ctx context.Context, id, username string) error {
	colleague, err := d.findUser(ctx, username)
	if err != nil {
		return err
	}
	me, err := d.client.ActiveUser()
	if err != nil {
		return err
	}
	// We are in the group as well: what the colleague saves for the crew is for us, too.
	crew, err := d.client.Groups().Create(ctx, "crew of "+id, []string{me.ID, colleague})
	if err != nil {
		return err
	}
	return d.orders.Share(ctx, id, kvstore.Sharing{WriterGroups: []string{crew.ID}})
}

// shareForReading lets a colleague see a work order. It asks the server, for the user.
func (d *Device) shareForReading(ctx context.Context, id, username string) error {
	colleague, err := d.findUser(ctx, username)
	if err != nil {
		return err
	}
	return d.orders.Share(ctx, id, kvstore.Sharing{Readers: []string{colleague}})
}

// findUser asks the server for a user's id.
func (d *Device) findUser(ctx context.Context, username string) (string, error) {
	found, err := d.client.LookupUsers(ctx, kvstore.M{"username": username})
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("there is no user %s", username)
	}
	if err != nil {
		return "", err
	}
	return found[0].ID, nil
}

// editOrder changes an order.
func (d *Device) editOrder(ctx context.Context, id string, edit func(*WorkOrder)) error {
	order, err := d.orders.Get(ctx, id)
	if err != nil {
		return err
	}
	edit(&order)
	_, err = d.orders.Save(ctx, order)
	return err
}

// openOrders finds what is to be done.
func (d *Device) openOrders(ctx context.Context) ([]WorkOrder, error) {
	return d.orders.All(ctx, kvstore.Field("status").NotEquals("done").OrderBy(kvstore.Ascending("_id")))
}

// The work

// addInspection saves an inspection for those who may see the work order.
func (d *Device) addInspection(ctx context.Context, id, order, asset string) error {
	parent, err := d.orders.Get(ctx, order)
	if err != nil {
		return err
	}
	_, err = d.inspections.Save(ctx, Inspection{
		ID: id, Order: order, Asset: asset, Verdict: "none", Comments: []string{}, Access: forNew(parent.Access),
	})
	return err
}

// judge says what one thinks of the asset.
func (d *Device) judge(ctx context.Context, id, verdict, comment string) error {
	inspection, err := d.inspections.Get(ctx, id)
	if err != nil {
		return err
	}
	inspection.Verdict = verdict
	inspection.Comments = append(inspection.Comments, comment)
	_, err = d.inspections.Save(ctx, inspection)
	return err
}

// addReading saves a reading; its id is chosen here and stays.
func (d *Device) addReading(ctx context.Context, inspection, quantity string, value float64, place []float64) error {
	parent, err := d.inspections.Get(ctx, inspection)
	if err != nil {
		return err
	}
	_, err = d.readings.Save(ctx, Reading{
		Inspection: inspection, Quantity: quantity, Value: value, At: time.Now(), Place: place,
		Access: forNew(parent.Access),
	})
	return err
}

// addPart saves how many spare parts are on site.
func (d *Device) addPart(ctx context.Context, id, order string, count int) error {
	parent, err := d.orders.Get(ctx, order)
	if err != nil {
		return err
	}
	_, err = d.parts.Save(ctx, Part{
		ID: id, Order: order, Left: count, Taken: []string{}, Access: forNew(parent.Access),
	})
	return err
}

// take takes parts. Operators are carried out on what the server has: nothing is overwritten.
func (d *Device) take(ctx context.Context, part string, count int) error {
	me, err := d.client.ActiveUser()
	if err != nil {
		return err
	}
	_, err = d.parts.Update(ctx, kvstore.Field("_id").Equals(part), kvstore.M{
		"$inc":  kvstore.M{"left": -count},
		"$push": kvstore.M{"taken": fmt.Sprintf("%d by %s", count, me.Username)},
	})
	return err
}

// forNew gives an access list for a new entity: the server fills in who has created it.
func forNew(access kvstore.M) kvstore.M {
	copied := kvstore.M{}
	for name, value := range access {
		if name != "creator" {
			copied[name] = value
		}
	}
	return copied
}

// What the server has refused

// refused lists the writes that wait for a decision.
func (d *Device) refused() ([]kvstore.PendingWrite, error) {
	var refused []kvstore.PendingWrite
	for _, queue := range []*kvstore.Pending{
		d.orders.Pending(), d.inspections.Pending(), d.readings.Pending(), d.parts.Pending(),
	} {
		writes, err := queue.List("", 0)
		if err != nil {
			return nil, err
		}
		for _, write := range writes {
			if write.State != kvstore.Waiting {
				refused = append(refused, write)
			}
		}
	}
	return refused, nil
}

// correctPlace replaces what a refused write would send; then it is sent by itself.
func (d *Device) correctPlace(id string, place []float64) error {
	write, err := d.readings.Pending().Get(id)
	if err != nil {
		return err
	}
	var reading Reading
	if err := json.Unmarshal(write.Entity, &reading); err != nil {
		return err
	}
	reading.Place = place
	return d.readings.Pending().Edit(id, reading)
}

// retryOrder sends a refused write of an order again, unchanged. It waits for the server.
func (d *Device) retryOrder(ctx context.Context, id string) error {
	return d.orders.Pending().Retry(ctx, id)
}

// allSent returns when no write waits any more. What is refused waits for a person instead.
func (d *Device) allSent(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	statuses, err := d.client.Statuses(ctx)
	if err != nil {
		return err
	}
	for status := range statuses {
		if status.Waiting == 0 {
			return nil
		}
	}
	return ctx.Err()
}

// The report

// A Summary sums up the readings of one quantity.
type Summary struct {
	Inspection, Quantity string
	Count                int
	Min, Max             float64
}

// report sums up the readings of each inspection. The groups are counted in the local database.
func (d *Device) report(ctx context.Context) ([]Summary, error) {
	return kvstore.Group[Summary](ctx, d.readings, kvstore.Grouping{
		Keys: []string{"inspection", "quantity"},
		Aggregates: map[string]kvstore.Aggregate{
			"count": kvstore.Count, "min": kvstore.Minimum("value"), "max": kvstore.Maximum("value"),
		},
	}, nil)
}
