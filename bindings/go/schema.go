package kvstore

// #include <kvstore.h>
import "C"

// DescribeSchema returns the models of a GraphQL schema as JSON, as the option Schema reads them: for programs that write code
// from it. docs/models.md has its members. It fails with ErrInvalid, with line and column, for a mistake in the schema.
func DescribeSchema(schema string) ([]byte, error) {
	given, err := terminated(schema, "schema")
	if err != nil {
		return nil, err
	}
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_schema_describe(characters(given), &text, &length, &left)
	described := taken(text, length)
	if err := check(status, left); err != nil {
		return nil, err
	}
	return described, nil
}
