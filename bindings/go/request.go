package kvstore

// #include <stdint.h>
// #include <kvstore.h>
//
// void kvgoAnswer(void *context, kv_answer *answer);
// void kvgoFree(void *context);
//
// static inline kv_answer_fn kvgo_answer_fn(void) { return (kv_answer_fn)kvgoAnswer; }
// static inline kv_free_fn kvgo_free_fn(void) { return kvgoFree; }
import "C"

import (
	"context"
	"strconv"
	"time"
	"unsafe"
)

// A completion is the callback of an asynchronous C function, with its context.
type completion struct {
	done    C.kv_answer_fn
	context unsafe.Pointer
	free    C.kv_free_fn
}

// A starter calls the asynchronous C function of an operation.
type starter func(completion, **C.kv_request, **C.kv_error) C.kv_status

// A request is a running operation.
type request struct {
	handle *C.kv_request
	// final receives the last answer, if the operation reports answers.
	final chan found
	// progress receives progress reports; it may be nil.
	progress func(Progress)
}

// start starts an operation, unless the context has ended.
func start(ctx context.Context, options callOptions, begin starter) (*request, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	var report completion
	var final chan found
	if options.onLocalAnswer != nil {
		final = make(chan found, 1)
		receiver := answers{options.onLocalAnswer, final}
		report = completion{C.kvgo_answer_fn(), remember(receiver), C.kvgo_free_fn()}
	}
	var handle *C.kv_request
	var left *C.kv_error
	if err := check(begin(report, &handle, &left), left); err != nil {
		return nil, err
	}
	return &request{handle, final, options.onProgress}, nil
}

func (r *request) free() { C.kv_request_free(r.handle) }

// wait waits for the result. If the context ends, it cancels the operation.
func (r *request) wait(ctx context.Context, text **C.char, length *C.size_t) error {
	if ctx.Done() != nil {
		over, watched := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(watched)
			select {
			case <-ctx.Done():
				C.kv_request_cancel(r.handle)
			case <-over:
			}
		}()
		defer func() {
			close(over)
			<-watched
		}()
	}
	if r.progress != nil {
		defer r.report()()
	}
	var left *C.kv_error
	status := C.kv_request_wait(r.handle, -1, text, length, &left)
	err := check(status, left)
	if status == C.KV_CANCELLED && ctx.Err() != nil {
		return ended(ctx.Err())
	}
	return err
}

// howOften is the interval of progress reports.
const howOften = 100 * time.Millisecond

// report starts progress reports. The function that it returns stops them.
func (r *request) report() func() {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(howOften)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				r.notify()
			case <-over:
				r.notify()
				return
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

func (r *request) notify() {
	lent := C.kv_progress{size: C.uint32_t(unsafe.Sizeof(C.kv_progress{}))}
	if C.kv_request_progress(r.handle, &lent) == C.KV_OK {
		r.progress(Progress{
			EntitiesDone: uint64(lent.entities_done), EntitiesTotal: uint64(lent.entities_total),
			BytesDone: uint64(lent.bytes_done), BytesTotal: uint64(lent.bytes_total),
		})
	}
}

// run runs an operation to its end and returns its result.
func run(ctx context.Context, options callOptions, begin starter) ([]byte, error) {
	request, err := start(ctx, options, begin)
	if err != nil {
		return nil, err
	}
	defer request.free()
	var text *C.char
	var length C.size_t
	if err := request.wait(ctx, &text, &length); err != nil {
		return nil, err
	}
	return taken(text, length), nil
}

// runCount runs an operation whose result is a number.
func runCount(ctx context.Context, options callOptions, begin starter) (int, error) {
	text, err := run(ctx, options, begin)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(text))
}

// runFind runs a find and returns its cursor, or the entities if a callback received them.
func runFind(ctx context.Context, options callOptions, begin starter) (entities, error) {
	request, err := start(ctx, options, begin)
	if err != nil {
		return entities{}, err
	}
	defer request.free()
	if err := request.wait(ctx, nil, nil); err != nil {
		return entities{}, err
	}
	if request.final != nil {
		last := <-request.final
		return entities{text: last.text}, last.err
	}
	var cursor *C.kv_cursor
	var left *C.kv_error
	err = check(C.kv_request_cursor(request.handle, &cursor, &left), left)
	return entities{cursor: cursor}, err
}

// ended returns the error of a call whose context has ended.
func ended(cause error) error {
	message := "the context ended: " + cause.Error()
	return &Error{Status: ErrCancelled, Message: message, Index: -1, Position: -1, Cause: cause}
}
