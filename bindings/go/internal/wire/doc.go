// Package wire is how values of Go become JSON and come back: as encoding/json has it, but for moments, which are
// written as backends write dates, and for numbers in interfaces, which stay exact.
package wire
