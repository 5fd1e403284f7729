package kvstore

// #include <kvstore.h>
import "C"

import "encoding/json"

// JSON returns the query as the library understood it:
// {"filter":…,"sort":…,"skip":…,"limit":…,"fields":…,"computed":…}. Members that the query does not use are missing.
func (q *Query) JSON() (json.RawMessage, error) {
	return q.print(func(handle *C.kv_query, text **C.char, length *C.size_t, e **C.kv_error) C.kv_status {
		return C.kv_query_json(handle, text, length, e)
	})
}

// AsFormat returns the filter as a predicate format, and its arguments.
func (q *Query) AsFormat() (string, []any, error) {
	text, err := q.print(func(handle *C.kv_query, text **C.char, length *C.size_t, e **C.kv_error) C.kv_status {
		return C.kv_query_format(handle, text, length, e)
	})
	printed, err := decode[struct {
		Format    string
		Arguments []any
	}](text, err)
	return printed.Format, printed.Arguments, err
}

// String returns the query as JSON, or the reason why it is invalid.
func (q *Query) String() string {
	text, err := q.JSON()
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// printedQuery is a query in the form that the library writes.
type printedQuery struct {
	Filter map[string]json.RawMessage
}

func (q *Query) printed() (printedQuery, error) { return decode[printedQuery](q.JSON()) }

func (q *Query) print(
	write func(*C.kv_query, **C.char, *C.size_t, **C.kv_error) C.kv_status,
) ([]byte, error) {
	if q == nil {
		q = &Query{}
	}
	handle, err := q.open()
	if err != nil {
		return nil, err
	}
	defer C.kv_query_free(handle)
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := write(handle, &text, &length, &left)
	return taken(text, length), check(status, left)
}
