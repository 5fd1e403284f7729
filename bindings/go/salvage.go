package kvstore

// #include <kvstore.h>
import "C"

// A SalvageReport says what could be read of a damaged file.
type SalvageReport struct {
	Pending     SalvagedFile            `json:"pending"`
	Collections map[string]SalvagedFile `json:"collections"`
}

// A SalvagedFile is one file of a salvage.
type SalvagedFile struct {
	// File is its name; empty for the pending writes, which are in "pending.ndjson".
	File string `json:"file"`
	// Lines is how many lines of JSON it has.
	Lines int `json:"lines"`
	// Damaged is in how many places something could not be read.
	Damaged int `json:"damaged"`
}

// Salvage copies what can be read of a client's data file, however damaged, into a new directory, as
// lines of JSON: pending writes first. The options are those with which the client would be opened. The
// damaged file stays as it is.
func Salvage(options Options, directory string) (SalvageReport, error) {
	text, err := marshal(options)
	if err != nil {
		return SalvageReport{}, err
	}
	path, err := terminated(directory, "the directory")
	if err != nil {
		return SalvageReport{}, err
	}
	var report *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_salvage(characters(text), C.size_t(len(text)), characters(path), &report, &length, &left)
	return decode[SalvageReport](taken(report, length), check(status, left))
}
