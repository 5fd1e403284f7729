package kvstore

// #include <kvstore.h>
import "C"

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An Error says what went wrong. Members that do not apply are zero, or -1 for places in the input.
type Error struct {
	// Status is the kind; errors.Is compares it.
	Status Status
	// Message is one sentence in English.
	Message string
	// HTTP is the status code of the backend's answer; Code, Description and Debug are its words.
	HTTP                     int
	Code, Description, Debug string
	// RequestID is for the backend's support.
	RequestID string
	// Index is the place in the input, for one of many.
	Index int
	// ID is the entity concerned, Operation what was to be done with it.
	ID, Operation string
	// Position is the byte offset in a text that could not be parsed.
	Position int
	// Cause is the error of the context, if that ended, or of encoding/json, if an entity is not what its type says.
	Cause error
}

// Error gives the message, the name of the status, what it is about, and what the backend said besides.
func (e *Error) Error() string {
	text := "kvstore: " + e.where()
	if e.Message != "" {
		text = fmt.Sprintf("kvstore: %s (%s)", e.Message, e.where())
	}
	for _, said := range []string{e.Description, e.Debug} {
		if said != "" && !strings.Contains(e.Message, said) {
			text += ": " + said
		}
	}
	return text
}

// where gives the name of the status and what the error is about.
func (e *Error) where() string {
	facts := []string{e.Status.Error()}
	if e.HTTP != 0 {
		facts = append(facts, fmt.Sprintf("HTTP %d", e.HTTP))
	}
	if e.ID != "" {
		facts = append(facts, fmt.Sprintf("id %q", e.ID))
	}
	if e.Index >= 0 {
		facts = append(facts, fmt.Sprintf("index %d", e.Index))
	}
	if e.Position >= 0 {
		facts = append(facts, fmt.Sprintf("at byte %d", e.Position))
	}
	return strings.Join(facts, ", ")
}

// Is tells whether target is the status of the error.
func (e *Error) Is(target error) bool {
	status, ok := target.(Status)
	return ok && status == e.Status
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Timeout tells whether time has passed, as in net.Error.
func (e *Error) Timeout() bool { return e.Status == ErrTimeout }

// UnmarshalJSON reads an error as the library writes it.
func (e *Error) UnmarshalJSON(text []byte) error {
	members := struct {
		Status                             Status
		Message, Error, Description, Debug string
		HTTP                               int
		RequestID, ID, Operation           string
		Index, Position                    *int
	}{}
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	*e = Error{
		Status: members.Status, Message: members.Message,
		HTTP: members.HTTP, Code: members.Error,
		Description: members.Description, Debug: members.Debug,
		RequestID: members.RequestID, ID: members.ID, Operation: members.Operation,
		Index: orMinusOne(members.Index), Position: orMinusOne(members.Position),
	}
	return nil
}

func orMinusOne(index *int) int {
	if index == nil {
		return -1
	}
	return *index
}

// check turns a failed status and the error it left into an *Error; the C error is freed.
func check(status C.kv_status, left *C.kv_error) error {
	if !failed(status) {
		return nil
	}
	defer C.kv_error_free(left)
	return describe(status, left)
}

// describe reads an error that belongs to somebody else.
func describe(status C.kv_status, left *C.kv_error) *Error {
	described := &Error{Index: -1, Position: -1}
	if left != nil {
		// The library writes it; should it ever be no JSON, the status still counts.
		_ = json.Unmarshal([]byte(C.GoString(C.kv_error_json(left))), described)
	}
	described.Status = Status(status)
	return described
}

// invalid is the error for an argument that is refused before the library sees it.
func invalid(format string, arguments ...any) error {
	message := fmt.Sprintf(format, arguments...)
	return &Error{Status: ErrInvalid, Message: message, Index: -1, Position: -1}
}

// terminated gives text as C reads it; C would take a NUL inside it for its end.
func terminated(text, what string) ([]byte, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, invalid("%s contains a NUL character", what)
	}
	return append([]byte(text), 0), nil
}
