package kvstore

// #include <kvstore.h>
import "C"

import (
	"context"
	"runtime"
	"sync"
)

// The number of entities that cross from C at once. The first page is small, because many programs read only the first
// few.
const (
	firstPage = 32
	laterPage = 512
)

// entities is the result of a find: a cursor, or one JSON array.
type entities struct {
	cursor *C.kv_cursor
	text   []byte
	// store keeps the store alive, so that no finalizer closes it while the cursor is open.
	store *store
}

// An Iterator iterates over the entities of a find, as they were when the find ran:
//
//	for it.Next() {
//		use(it.Value())
//	}
//	err := it.Err()
//
// It closes itself at the end. Close it if you stop earlier, because over the local store it holds a snapshot.
type Iterator[T any] struct {
	ctx   context.Context
	pages *pages
	page  []T
	value T
	err   error
}

// pages is the part of an iterator that calls C. Its lock allows Close from any goroutine.
type pages struct {
	sync.Mutex
	entities
	size C.uint32_t
}

func newIterator[T any](ctx context.Context, found entities) *Iterator[T] {
	fetcher := &pages{entities: found, size: firstPage}
	runtime.SetFinalizer(fetcher, (*pages).close)
	return &Iterator[T]{ctx: ctx, pages: fetcher}
}

// Next advances to the next entity. It returns false at the end, after an error and when the context has ended.
func (it *Iterator[T]) Next() bool {
	if len(it.page) == 0 && !it.fetch() {
		var zero T
		it.value = zero
		return false
	}
	it.value, it.page = it.page[0], it.page[1:]
	return true
}

// Value returns the current entity.
func (it *Iterator[T]) Value() T { return it.value }

// Err returns the error that ended the iteration early, or nil.
func (it *Iterator[T]) Err() error { return it.err }

// Close ends the iteration. A second call does nothing.
func (it *Iterator[T]) Close() error {
	it.page = nil
	it.pages.close()
	return nil
}

// All returns the remaining entities and closes the iterator.
func (it *Iterator[T]) All() ([]T, error) {
	defer it.Close()
	all := []T{}
	for it.Next() {
		all = append(all, it.value)
	}
	return all, it.err
}

func (it *Iterator[T]) fetch() bool {
	if it.err != nil {
		return false
	}
	if err := it.ctx.Err(); err != nil {
		it.err = ended(err)
		it.pages.close()
		return false
	}
	text, err := it.pages.next()
	if err == nil && text != nil {
		it.page, err = unmarshal[[]T](text)
	}
	if err != nil {
		it.err = err
		it.pages.close()
	}
	return err == nil && len(it.page) > 0
}

// next returns a page of entities as a JSON array, or nil at the end.
func (p *pages) next() ([]byte, error) {
	p.Lock()
	defer p.Unlock()
	if p.cursor == nil {
		text := p.text
		p.text = nil
		return text, nil
	}
	text, err := nextPage(p.cursor, p.size)
	p.size = laterPage
	if text == nil {
		p.closeCursor()
	}
	return text, err
}

func (p *pages) close() {
	p.Lock()
	defer p.Unlock()
	p.text = nil
	p.closeCursor()
}

func (p *pages) closeCursor() {
	C.kv_cursor_close(p.cursor)
	p.cursor = nil
	runtime.SetFinalizer(p, nil)
}

// nextPage copies the next page of a cursor. It returns nil at the end.
func nextPage(cursor *C.kv_cursor, limit C.uint32_t) ([]byte, error) {
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_cursor_next_page(cursor, limit, &text, &length, nil, &left)
	if err := check(status, left); err != nil || status == C.KV_DONE {
		return nil, err
	}
	return bytesOf(text, length), nil
}
