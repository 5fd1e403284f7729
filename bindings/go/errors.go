package kvstore

// #include <kvstore.h>
import "C"

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Error describes a failure. Members that do not apply are zero; offsets and indexes are then -1.
type Error struct {
	// Status is the kind of the failure; errors.Is compares it.
	Status Status
	// Message is one sentence in English.
	Message string
	// HTTP is the status code of the backend's answer. Code, Description and Debug are texts from that answer.
	HTTP                     int
	Code, Description, Debug string
	// RequestID identifies the request to the backend's support.
	RequestID string
	// Index is the index in the input, for calls that take several entities.
	Index int
	// ID is the id of the entity, and Operation is the operation on it that failed.
	ID, Operation string
	// Position is the byte offset in a text that could not be parsed.
	Position int
	// Cause is the error of the context if that ended, or the error of encoding/json if an entity does not fit its type.
	Cause error
}

// Error returns the message, the name of the status, the entity, and the description of the backend.
func (e *Error) Error() string {
	text := "kvstore: " + e.where()
	if e.Message != "" {
		text = fmt.Sprintf("kvstore: %s (%s)", strings.TrimSuffix(e.Message, "."), e.where())
		if strings.HasSuffix(e.Message, ".") {
			text += "."
		}
	}
	for _, said := range []string{e.Description, e.Debug} {
		if said != "" && !strings.Contains(e.Message, said) {
			text = joined(text, said)
		}
	}
	return text
}

// joined adds what else was said: a sentence after a sentence, anything else after a colon.
func joined(text, said string) string {
	if first, _ := utf8.DecodeRuneInString(said); unicode.IsLower(first) {
		return strings.TrimSuffix(text, ".") + ": " + said
	}
	if strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text + " " + said
	}
	return text + ": " + said
}

// where returns the name of the status and the facts about the place of the error.
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

// Is reports whether target is the status of the error.
func (e *Error) Is(target error) bool {
	status, ok := target.(Status)
	return ok && status == e.Status
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Timeout reports whether the error is a timeout, as in net.Error.
func (e *Error) Timeout() bool { return e.Status == ErrTimeout }

// UnmarshalJSON reads an error in the form that the library writes.
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

// check turns a failed status and its C error into an *Error, and frees the C error.
func check(status C.kv_status, left *C.kv_error) error {
	if !failed(status) {
		return nil
	}
	defer C.kv_error_free(left)
	return describe(status, left)
}

// describe reads a C error that it does not own.
func describe(status C.kv_status, left *C.kv_error) *Error {
	described := &Error{Index: -1, Position: -1}
	if left != nil {
		// Invalid JSON from the library is ignored, because the status is known anyway.
		_ = json.Unmarshal([]byte(C.GoString(C.kv_error_json(left))), described)
	}
	described.Status = Status(status)
	return described
}

// invalid returns the error for an argument that the binding refuses without calling the library.
func invalid(format string, arguments ...any) error {
	message := fmt.Sprintf(format, arguments...)
	return &Error{Status: ErrInvalid, Message: message, Index: -1, Position: -1}
}

// terminated returns text with a final NUL, as C reads it. A NUL inside the text would end it early in C.
func terminated(text, what string) ([]byte, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, invalid("%s contains a NUL character", what)
	}
	return append([]byte(text), 0), nil
}
