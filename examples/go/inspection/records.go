package main

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go"
)

// What the program stores has a type for each collection. Small entities keep conflicts small: a reading is an entity
// of its own and never changes, so two technicians who write readings of one inspection at the same time are in no
// conflict.

// A WorkOrder is what is to be done. Technicians edit its members.
type WorkOrder struct {
	ID      string `json:"_id"`
	Title   string `json:"title"`
	Status  string `json:"status"`
	Contact string `json:"contact"`
	// Access is the access list. Where it is empty, a save leaves the stored one as it is.
	Access kvstore.M `json:"_acl,omitempty"`
}

func (o WorkOrder) String() string {
	return fmt.Sprintf("order %s: %s, status=%s, contact=%s", o.ID, o.Title, o.Status, o.Contact)
}

// An Inspection is what technicians think of one asset.
type Inspection struct {
	ID       string    `json:"_id"`
	Order    string    `json:"order"`
	Asset    string    `json:"asset"`
	Verdict  string    `json:"verdict"`
	Comments []string  `json:"comments"`
	Access   kvstore.M `json:"_acl,omitempty"`
}

func (i Inspection) String() string {
	comments := append([]string{}, i.Comments...)
	sort.Strings(comments)
	return fmt.Sprintf("inspection %s: %s, verdict=%s, comments=%s",
		i.ID, i.Asset, i.Verdict, strings.Join(comments, "; "))
}

// A Reading is what an instrument showed, when, and where: longitude and latitude.
type Reading struct {
	ID         string    `json:"_id,omitempty"`
	Inspection string    `json:"inspection"`
	Quantity   string    `json:"quantity"`
	Value      float64   `json:"value"`
	At         time.Time `json:"at"`
	Place      []float64 `json:"_geoloc"`
	Access     kvstore.M `json:"_acl,omitempty"`
}

func (r Reading) String() string {
	return fmt.Sprintf("reading %s: %s=%g of %s", r.ID, r.Quantity, r.Value, r.Inspection)
}

// A Part is a spare part on site. Only operators change it, so that what is taken adds up.
type Part struct {
	ID     string    `json:"_id"`
	Order  string    `json:"order"`
	Left   int       `json:"left"`
	Taken  []string  `json:"taken"`
	Access kvstore.M `json:"_acl,omitempty"`
}

func (p Part) String() string {
	return fmt.Sprintf("part %s: %d left, taken %d times", p.ID, p.Left, len(p.Taken))
}
