package kvstore

// #include <kvstore.h>
import "C"

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
)

// A store is a collection without the type of its entities. It makes all calls into C.
//
// Operations that use only local data call the blocking C functions. Operations that may wait for the network use the
// asynchronous functions, so that the context can cancel them.
type store struct {
	client      *Client
	handle      *C.kv_store
	readsLocal  bool
	writesLocal bool
	closing     sync.Once
	closed      error
}

func openStore(client *Client, name string, kind StoreType, options []Option) (*store, error) {
	gathered := gather(options)
	text, err := gathered.text()
	if err != nil {
		return nil, err
	}
	collection, err := terminated(name, "the name of the collection")
	if err != nil {
		return nil, err
	}
	typeName, err := terminated(string(kind), "the type of the store")
	if err != nil {
		return nil, err
	}
	opened := &store{client: client}
	var left *C.kv_error
	status := C.kv_store_open(client.handle, characters(collection), characters(typeName),
		characters(text), &opened.handle, &left)
	runtime.KeepAlive(client)
	if err := check(status, left); err != nil {
		return nil, err
	}
	opened.readsLocal = C.kv_store_reads_locally(opened.handle) != 0
	opened.writesLocal = C.kv_store_writes_locally(opened.handle) != 0
	runtime.SetFinalizer(opened, (*store).close)
	return opened, nil
}

func (s *store) close() error {
	s.closing.Do(func() {
		runtime.SetFinalizer(s, nil)
		status := C.kv_store_close(s.handle)
		// A client that was closed has closed its stores as well.
		if Status(status) != ErrMisuse {
			s.closed = check(status, nil)
		}
	})
	return s.closed
}

// A call has the arguments of an operation of a store.
type call struct {
	ctx     context.Context
	options callOptions
	// text is the options in the form that C reads.
	text  *C.char
	query *C.kv_query
}

// prepare makes a call. The caller must call done afterwards.
func (s *store) prepare(ctx context.Context, query *Query, options []Option) (call, error) {
	if err := ctx.Err(); err != nil {
		return call{}, ended(err)
	}
	gathered := gather(options)
	text, err := gathered.text()
	if err != nil {
		return call{}, err
	}
	handle, err := query.open()
	return call{ctx: ctx, options: gathered, text: characters(text), query: handle}, err
}

func (s *store) done(c call) {
	C.kv_query_free(c.query)
	runtime.KeepAlive(s)
	runtime.KeepAlive(s.client)
}

// reads reports whether a read uses only local data. A read with its own policy counts as one that may wait, which is
// always correct.
func (s *store) reads(c call) bool {
	_, hasPolicy := c.options.members["readPolicy"]
	return s.readsLocal && !hasPolicy
}

func (s *store) writes(c call) bool {
	_, hasPolicy := c.options.members["writePolicy"]
	return s.writesLocal && !hasPolicy
}

func (s *store) find(ctx context.Context, query *Query, options []Option) (entities, error) {
	c, err := s.prepare(ctx, query, options)
	if err != nil {
		return entities{}, err
	}
	defer s.done(c)
	if s.reads(c) {
		var cursor *C.kv_cursor
		var left *C.kv_error
		status := C.kv_store_find(s.handle, c.query, c.text, &cursor, &left)
		return entities{cursor: cursor, store: s}, check(status, left)
	}
	found, err := runFind(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_find_async(s.handle, c.query, c.text, r.done, r.context, r.free, q, e)
	})
	found.store = s
	return found, err
}

func (s *store) related(id, relation string) (*Query, error) {
	key, err := terminated(id, "id")
	if err != nil {
		return nil, err
	}
	name, err := terminated(relation, "relation")
	if err != nil {
		return nil, err
	}
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_store_related(s.handle, characters(key), characters(name), &text, &length, &left)
	runtime.KeepAlive(s)
	filter := taken(text, length)
	if err := check(status, left); err != nil {
		return nil, err
	}
	return &Query{Filter: json.RawMessage(filter)}, nil
}

func (s *store) findByID(ctx context.Context, id string, options []Option) ([]byte, error) {
	key, err := terminated(id, "id")
	if err != nil {
		return nil, err
	}
	c, err := s.prepare(ctx, nil, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	if s.reads(c) {
		var text *C.char
		var length C.size_t
		var left *C.kv_error
		status := C.kv_store_find_by_id(s.handle, characters(key), c.text, &text, &length, &left)
		return taken(text, length), check(status, left)
	}
	return run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_find_by_id_async(s.handle, characters(key), c.text,
			r.done, r.context, r.free, q, e)
	})
}

func (s *store) findByIDs(ctx context.Context, ids []byte, options []Option) ([]byte, error) {
	c, err := s.prepare(ctx, nil, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	body, size := characters(ids), C.size_t(len(ids))
	if s.reads(c) {
		var text *C.char
		var length C.size_t
		var left *C.kv_error
		status := C.kv_store_find_by_ids(s.handle, body, size, c.text, &text, &length, &left)
		return taken(text, length), check(status, left)
	}
	return run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_find_by_ids_async(s.handle, body, size, c.text,
			r.done, r.context, r.free, q, e)
	})
}

func (s *store) count(ctx context.Context, query *Query, options []Option) (int, error) {
	c, err := s.prepare(ctx, query, options)
	if err != nil {
		return 0, err
	}
	defer s.done(c)
	return counted(c, s.reads(c), func(count *C.int64_t, e **C.kv_error) C.kv_status {
		return C.kv_store_count(s.handle, c.query, c.text, count, e)
	}, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_count_async(s.handle, c.query, c.text, r.done, r.context, r.free, q, e)
	})
}

// counted runs an operation whose result is a number, in the calling thread or as an asynchronous one.
func counted(
	c call, here bool, operate func(*C.int64_t, **C.kv_error) C.kv_status, begin starter,
) (int, error) {
	if !here {
		return runCount(c.ctx, c.options, begin)
	}
	var count C.int64_t
	var left *C.kv_error
	status := operate(&count, &left)
	return int(count), check(status, left)
}

func (s *store) save(ctx context.Context, entity []byte, options []Option) ([]byte, error) {
	c, err := s.prepare(ctx, nil, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	body, size := characters(entity), C.size_t(len(entity))
	if s.writes(c) {
		var text *C.char
		var length C.size_t
		var left *C.kv_error
		status := C.kv_store_save(s.handle, body, size, c.text, &text, &length, &left)
		return taken(text, length), check(status, left)
	}
	return run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_save_async(s.handle, body, size, c.text, r.done, r.context, r.free, q, e)
	})
}

func (s *store) saveMany(ctx context.Context, all []byte, options []Option) ([]byte, error) {
	c, err := s.prepare(ctx, nil, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	body, size := characters(all), C.size_t(len(all))
	if s.writes(c) {
		var text *C.char
		var length C.size_t
		var left *C.kv_error
		status := C.kv_store_save_many(s.handle, body, size, c.text, &text, &length, &left)
		return taken(text, length), check(status, left)
	}
	return run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_save_many_async(s.handle, body, size, c.text,
			r.done, r.context, r.free, q, e)
	})
}

func (s *store) removeByID(ctx context.Context, id string, options []Option) (int, error) {
	key, err := terminated(id, "id")
	if err != nil {
		return 0, err
	}
	c, err := s.prepare(ctx, nil, options)
	if err != nil {
		return 0, err
	}
	defer s.done(c)
	return counted(c, s.writes(c), func(count *C.int64_t, e **C.kv_error) C.kv_status {
		return C.kv_store_remove_by_id(s.handle, characters(key), c.text, count, e)
	}, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_remove_by_id_async(s.handle, characters(key), c.text,
			r.done, r.context, r.free, q, e)
	})
}

func (s *store) remove(ctx context.Context, query *Query, options []Option) (int, error) {
	c, err := s.prepare(ctx, query, options)
	if err != nil {
		return 0, err
	}
	defer s.done(c)
	return counted(c, s.writes(c), func(count *C.int64_t, e **C.kv_error) C.kv_status {
		return C.kv_store_remove(s.handle, c.query, c.text, count, e)
	}, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_remove_async(s.handle, c.query, c.text,
			r.done, r.context, r.free, q, e)
	})
}

func (s *store) pull(ctx context.Context, query *Query, options []Option) ([]byte, error) {
	c, err := s.prepare(ctx, query, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	return run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_pull_async(s.handle, c.query, c.text, r.done, r.context, r.free, q, e)
	})
}

func (s *store) push(ctx context.Context, options []Option) ([]byte, error) {
	c, err := s.prepare(ctx, nil, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	return run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_push_async(s.handle, c.text, r.done, r.context, r.free, q, e)
	})
}

func (s *store) sync(ctx context.Context, query *Query, options []Option) ([]byte, error) {
	c, err := s.prepare(ctx, query, options)
	if err != nil {
		return nil, err
	}
	defer s.done(c)
	return run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_store_sync_async(s.handle, c.query, c.text, r.done, r.context, r.free, q, e)
	})
}

func (s *store) purge(query *Query) (int, error) {
	return s.withQuery(query, func(handle *C.kv_query, count *C.int64_t, e **C.kv_error) C.kv_status {
		return C.kv_store_purge(s.handle, handle, count, e)
	})
}

func (s *store) clear(query *Query) (int, error) {
	return s.withQuery(query, func(handle *C.kv_query, count *C.int64_t, e **C.kv_error) C.kv_status {
		return C.kv_store_clear(s.handle, handle, count, e)
	})
}

func (s *store) withQuery(
	query *Query, operate func(*C.kv_query, *C.int64_t, **C.kv_error) C.kv_status,
) (int, error) {
	handle, err := query.open()
	if err != nil {
		return 0, err
	}
	defer C.kv_query_free(handle)
	defer runtime.KeepAlive(s)
	var count C.int64_t
	var left *C.kv_error
	status := operate(handle, &count, &left)
	return int(count), check(status, left)
}
