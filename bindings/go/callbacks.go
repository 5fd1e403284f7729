package kvstore

// #include <stdint.h>
// #include <stdlib.h>
// #include <kvstore.h>
import "C"

import (
	"encoding/json"
	"sync"
	"unsafe"
)

// callbacks are what C calls by a number: no Go pointer crosses into C. An entry lives until C says
// that no call will follow.
var callbacks = struct {
	sync.Mutex
	next    C.uintptr_t
	entries map[C.uintptr_t]any
}{entries: map[C.uintptr_t]any{}}

// remember gives a callback a number, in C memory that kvgoFree frees.
func remember(callback any) unsafe.Pointer {
	callbacks.Lock()
	defer callbacks.Unlock()
	callbacks.next++
	callbacks.entries[callbacks.next] = callback
	context := C.malloc(C.size_t(unsafe.Sizeof(callbacks.next)))
	*(*C.uintptr_t)(context) = callbacks.next
	return context
}

func recall(context unsafe.Pointer) any {
	callbacks.Lock()
	defer callbacks.Unlock()
	return callbacks.entries[*(*C.uintptr_t)(context)]
}

type localAnswer func(json.RawMessage, error)

type logLine func(LogLevel, string)

//export kvgoAnswer
func kvgoAnswer(context unsafe.Pointer, answer *C.kv_answer) {
	callback, ok := recall(context).(localAnswer)
	if !ok || answer.is_final != 0 {
		return
	}
	if failed(answer.status) {
		callback(nil, describe(answer.status, answer.error))
		return
	}
	if answer.cursor != nil {
		text, err := nextPage(answer.cursor, 0)
		callback(text, err)
		return
	}
	callback(bytesOf(answer.json, answer.length), nil)
}

//export kvgoLog
func kvgoLog(context unsafe.Pointer, level C.int32_t, text *C.char) {
	if callback, ok := recall(context).(logLine); ok {
		callback(LogLevel(level), C.GoString(text))
	}
}

//export kvgoFree
func kvgoFree(context unsafe.Pointer) {
	callbacks.Lock()
	delete(callbacks.entries, *(*C.uintptr_t)(context))
	callbacks.Unlock()
	C.free(context)
}
