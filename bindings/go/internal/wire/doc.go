// Package wire converts between Go values and JSON. It works as encoding/json does, with two differences: a time.Time
// is written in the form of a backend's dates, and numbers in interfaces stay exact.
package wire
