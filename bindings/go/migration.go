package kvstore

// #include <stdint.h>
// #include <kvstore.h>
//
// kv_status kvgoMigrate(void *context, kv_migration *migration, char **text);
// void kvgoFree(void *context);
//
// static inline kv_status kvgo_migration_register(const char *name, void *context, kv_error **error) {
//   return kv_migration_register(name, (kv_migration_fn)kvgoMigrate, context, kvgoFree, error);
// }
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unsafe"
)

// A MigratingRecord is a record whose schema has changed: see [Options.Migrate].
type MigratingRecord struct {
	// FormerModel is the name of its model in the former schema, and Model the one in the new schema.
	FormerModel, Model string
	// ID is its id, which stays.
	ID string
	// Former is the record as it is stored.
	Former json.RawMessage
	// Record is the record as the rules change it. It may lack what the new model requires.
	Record json.RawMessage
}

// A migration is a handler and the first error that it returned.
type migration struct {
	migrate func(MigratingRecord) (any, error)
	failure error
}

var migrations atomic.Int64

// named registers Migrate under a name, writes that into OnSchemaChange, and calls open. The client keeps the handler; the
// name is gone afterwards.
func (o Options) named(open func(Options) error) error {
	if o.Migrate == nil {
		return open(o)
	}
	text := fmt.Sprintf("go %d", migrations.Add(1))
	change, err := o.withHandler(text)
	if err != nil {
		return err
	}
	name, err := terminated(text, "the name")
	if err != nil {
		return err
	}
	handler := &migration{migrate: o.Migrate}
	var left *C.kv_error
	if err := check(C.kvgo_migration_register(characters(name), remember(handler), &left), left); err != nil {
		return err
	}
	defer func() {
		var left *C.kv_error
		// The name is ours alone, so nothing can go wrong.
		_ = check(C.kv_migration_unregister(characters(name), &left), left)
	}()
	o.OnSchemaChange = change
	err = open(o)
	if err != nil && handler.failure != nil {
		return failedMigration{err, handler.failure}
	}
	return err
}

// A failedMigration is the error of the library, and the one of the handler that caused it.
type failedMigration struct {
	error
	cause error
}

func (f failedMigration) Unwrap() error { return f.error }

func (f failedMigration) Is(target error) bool { return errors.Is(f.cause, target) }

func (f failedMigration) As(target any) bool { return errors.As(f.cause, target) }

// withHandler returns OnSchemaChange with the name of a handler.
func (o Options) withHandler(name string) (map[string]json.RawMessage, error) {
	// Rules stay as they were written: numbers keep all their digits.
	change := map[string]json.RawMessage{}
	if o.OnSchemaChange != nil && o.OnSchemaChange != "migrate" {
		text, err := marshal(o.OnSchemaChange)
		if err != nil {
			return nil, err
		}
		if json.Unmarshal(text, &change) != nil {
			return nil, invalid("Migrate needs OnSchemaChange to be empty, %q or the rules of a migration", "migrate")
		}
	}
	text, err := marshal(name)
	if err != nil {
		return nil, err
	}
	if change == nil { // It was null.
		change = map[string]json.RawMessage{}
	}
	change["handler"] = text
	return change, nil
}

//export kvgoMigrate
func kvgoMigrate(context unsafe.Pointer, lent *C.kv_migration, text **C.char) C.kv_status {
	handler, ok := recall(context).(*migration)
	if !ok {
		return C.KV_INTERNAL
	}
	made, err := handler.migrate(MigratingRecord{
		FormerModel: C.GoString(lent.former_model),
		Model:       C.GoString(lent.model),
		ID:          C.GoString(lent.id),
		Former:      bytesOf(lent.former, lent.former_length),
		Record:      bytesOf(lent.record, lent.record_length),
	})
	var written []byte
	if err == nil && made != nil {
		written, err = marshal(made)
	}
	if err != nil {
		handler.failure = err
		*text = C.CString(strings.ReplaceAll(err.Error(), "\x00", " "))
		return C.KV_INTERNAL
	}
	if made != nil {
		*text = C.CString(string(written))
	}
	return C.KV_OK
}
