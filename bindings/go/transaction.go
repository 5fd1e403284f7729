package kvstore

// #include <stdint.h>
// #include <stdlib.h>
// #include <kvstore.h>
//
// kv_status kvgoTransaction(void *context, kv_transaction *transaction);
//
// static inline kv_transaction_fn kvgo_transaction_fn(void) { return kvgoTransaction; }
import "C"

import (
	"context"
	"runtime"
	"unsafe"
)

// A Tx is a transaction: reads and writes over collections of one client and tag, of which either all or none take
// effect. [Client.Transaction] passes it to a function, which uses it through [Collection.In]. It ends with the
// function.
type Tx struct {
	ctx    context.Context
	handle *C.kv_transaction
}

// Transaction runs a function in a transaction and commits it. When Transaction returns without an error, the writes
// are on the disk.
//
// The function reads the data as it was when the transaction began, plus its own writes. The transaction locks nothing.
// If anything that it has read was changed in the meantime, the function runs again from its beginning, after a short
// random pause. This is repeated up to 100 times or for 60 seconds, unless [WithRetries] and [WithTimeout] say
// otherwise; then Transaction returns ErrConflict. If the function returns an error, nothing is written, and
// Transaction returns that error. [WithTag] chooses another tag than the client's.
func (c *Client) Transaction(ctx context.Context, body func(*Tx) error, options ...Option) error {
	if err := ctx.Err(); err != nil {
		return ended(err)
	}
	text, err := gather(options).text()
	if err != nil {
		return err
	}
	run := &transaction{ctx: ctx, body: body}
	number := remember(run)
	defer kvgoFree(number)
	var left *C.kv_error
	status := C.kv_client_transaction(c.handle, characters(text), C.kvgo_transaction_fn(), number, &left)
	runtime.KeepAlive(c)
	if run.panicked != nil {
		C.kv_error_free(left)
		panic(run.panicked)
	}
	if run.err != nil {
		C.kv_error_free(left)
		return run.err
	}
	return check(status, left)
}

// A transaction is a running function and its outcome.
type transaction struct {
	ctx      context.Context
	body     func(*Tx) error
	err      error
	panicked any
}

//export kvgoTransaction
func kvgoTransaction(context unsafe.Pointer, handle *C.kv_transaction) (status C.kv_status) {
	run, ok := recall(context).(*transaction)
	if !ok {
		return C.KV_INTERNAL
	}
	// A panic must not cross C. It is raised again after the C call has returned.
	defer func() {
		if run.panicked = recover(); run.panicked != nil {
			status = C.KV_CANCELLED
		}
	}()
	if run.err = run.ctx.Err(); run.err != nil {
		run.err = ended(run.err)
	} else {
		run.err = run.body(&Tx{run.ctx, handle})
	}
	if run.err != nil {
		return C.KV_CANCELLED
	}
	return C.KV_OK
}

// A TxCollection is a collection within a transaction.
type TxCollection[T any] struct {
	tx    *Tx
	store *store
}

// In returns the collection within a transaction. It must not be used after the end of the transaction.
func (c *Collection[T]) In(tx *Tx) *TxCollection[T] { return &TxCollection[T]{tx, c.store} }

// Get finds one entity by its id. It fails with ErrNotFound if there is none.
func (c *TxCollection[T]) Get(id string) (T, error) {
	return decode[T](c.store.findByIDIn(c.tx, id))
}

// Find finds the entities that match. They can be read until the transaction ends. A nil query means all.
func (c *TxCollection[T]) Find(query *Query) (*Iterator[T], error) {
	found, err := c.store.findIn(c.tx, query)
	if err != nil {
		return nil, err
	}
	return newIterator[T](c.tx.ctx, found), nil
}

// Count counts the entities that match. A nil query means all.
func (c *TxCollection[T]) Count(query *Query) (int, error) {
	return c.store.withQuery(query, func(
		handle *C.kv_query, count *C.int64_t, left **C.kv_error,
	) C.kv_status {
		return C.kv_transaction_count(c.tx.handle, c.store.handle, handle, count, left)
	})
}

// Save saves one entity and returns it as it will be stored. The options are conditions, such as [IfMissing], on the
// entity within the transaction.
func (c *TxCollection[T]) Save(entity T, options ...Option) (T, error) {
	text, err := marshal(entity)
	if err != nil {
		var none T
		return none, err
	}
	return decode[T](c.store.saveIn(c.tx, text, options))
}

// RemoveByID removes one entity and returns 1, or 0 if there is none. The options are conditions.
func (c *TxCollection[T]) RemoveByID(id string, options ...Option) (int, error) {
	return c.store.removeByIDIn(c.tx, id, options)
}

// Remove removes the entities that match and returns their number. A nil query is ErrInvalid.
func (c *TxCollection[T]) Remove(query *Query) (int, error) {
	if query == nil {
		return 0, invalid("Remove needs a query; &Query{} removes every entity")
	}
	return c.store.withQuery(query, func(
		handle *C.kv_query, count *C.int64_t, left **C.kv_error,
	) C.kv_status {
		return C.kv_transaction_remove(c.tx.handle, c.store.handle, handle, count, left)
	})
}

// Update changes members of the entities that match: see [Collection.Update].
func (c *TxCollection[T]) Update(query *Query, update M) (UpdateResult, error) {
	return decode[UpdateResult](c.store.updateIn(c.tx, query, update))
}

// The calls into C.

func (s *store) findByIDIn(tx *Tx, id string) ([]byte, error) {
	key, err := terminated(id, "id")
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(s)
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_transaction_find_by_id(tx.handle, s.handle, characters(key), &text, &length, &left)
	return taken(text, length), check(status, left)
}

func (s *store) findIn(tx *Tx, query *Query) (entities, error) {
	handle, err := query.open()
	if err != nil {
		return entities{}, err
	}
	defer C.kv_query_free(handle)
	var cursor *C.kv_cursor
	var left *C.kv_error
	status := C.kv_transaction_find(tx.handle, s.handle, handle, &cursor, &left)
	return entities{cursor: cursor, store: s}, check(status, left)
}

func (s *store) saveIn(tx *Tx, entity []byte, options []Option) ([]byte, error) {
	condition, err := gather(options).text()
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(s)
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_transaction_save_if(tx.handle, s.handle, characters(entity), C.size_t(len(entity)),
		characters(condition), &text, &length, &left)
	return taken(text, length), check(status, left)
}

func (s *store) removeByIDIn(tx *Tx, id string, options []Option) (int, error) {
	key, err := terminated(id, "id")
	if err != nil {
		return 0, err
	}
	condition, err := gather(options).text()
	if err != nil {
		return 0, err
	}
	defer runtime.KeepAlive(s)
	var count C.int64_t
	var left *C.kv_error
	status := C.kv_transaction_remove_by_id_if(tx.handle, s.handle, characters(key),
		characters(condition), &count, &left)
	return int(count), check(status, left)
}

func (s *store) updateIn(tx *Tx, query *Query, update M) ([]byte, error) {
	change, err := marshal(update)
	if err != nil {
		return nil, err
	}
	handle, err := query.open()
	if err != nil {
		return nil, err
	}
	defer C.kv_query_free(handle)
	defer runtime.KeepAlive(s)
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_transaction_update(tx.handle, s.handle, handle, characters(change),
		C.size_t(len(change)), &text, &length, &left)
	return taken(text, length), check(status, left)
}
