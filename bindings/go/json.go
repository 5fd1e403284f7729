package kvstore

// #include <kvstore.h>
import "C"

import (
	"encoding/json"
	"fmt"
	"unsafe"

	"github.com/libkvstore/libkvstore/bindings/go/internal/wire"
)

// marshal writes a value as JSON, with dates in the backend's form. Raw JSON passes unchanged.
func marshal(value any) ([]byte, error) {
	if raw, ok := value.(json.RawMessage); ok {
		return raw, nil
	}
	text, err := wire.Marshal(value)
	if err != nil {
		return nil, invalid("not JSON: %v", err)
	}
	return text, nil
}

// marshalAll writes values as a JSON array.
func marshalAll[T any](values []T) ([]byte, error) {
	text := []byte{'['}
	for index, value := range values {
		if index > 0 {
			text = append(text, ',')
		}
		one, err := marshal(value)
		if err != nil {
			return nil, err
		}
		text = append(text, one...)
	}
	return append(text, ']'), nil
}

// unmarshal reads JSON from the library. Raw JSON passes unchanged.
func unmarshal[T any](text []byte) (T, error) {
	var value T
	if raw, ok := any(&value).(*json.RawMessage); ok {
		*raw = text
		return value, nil
	}
	if err := wire.Unmarshal(text, &value); err != nil {
		message := fmt.Sprintf("the JSON does not fit the type %T: %v", value, err)
		return value, &Error{Status: ErrInvalid, Message: message, Index: -1, Position: -1, Cause: err}
	}
	return value, nil
}

// characters returns a pointer to Go's bytes, which C may read during one call. It is NULL for no bytes.
func characters(text []byte) *C.char {
	if len(text) == 0 {
		return nil
	}
	return (*C.char)(unsafe.Pointer(&text[0]))
}

// taken copies a text that C allocated, and frees it.
func taken(text *C.char, length C.size_t) []byte {
	if text == nil {
		return nil
	}
	defer C.kv_free(unsafe.Pointer(text))
	return bytesOf(text, length)
}

// bytesOf copies a C text of any length.
func bytesOf(text *C.char, length C.size_t) []byte {
	if text == nil {
		return nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(text)), int(length))...)
}

// each reads the elements of an array. Each value keeps its JSON.
func each[T any](texts []json.RawMessage, read func([]byte) (T, error)) ([]T, error) {
	all := make([]T, 0, len(texts))
	for _, text := range texts {
		one, err := read(text)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
