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

// callbacks holds what C calls, by a number, so that no Go pointer crosses into C. An entry is removed when C reports
// that no further call will follow.
var callbacks = struct {
	sync.Mutex
	next    C.uintptr_t
	entries map[C.uintptr_t]any
}{entries: map[C.uintptr_t]any{}}

// remember stores a callback and returns its number, in C memory that kvgoFree frees.
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

// answers receives the answers of an operation.
type answers struct {
	local func(json.RawMessage, error)
	// final receives the last answer. The entities of a find arrive only here.
	final chan found
}

type found struct {
	text []byte
	err  error
}

type logLine func(LogLevel, string)

//export kvgoAnswer
func kvgoAnswer(context unsafe.Pointer, answer *C.kv_answer) {
	receiver, ok := recall(context).(answers)
	if !ok {
		return
	}
	text, err := contents(answer)
	if answer.is_final == 0 {
		receiver.local(text, err)
	} else {
		receiver.final <- found{text, err}
	}
}

// contents copies the text of an answer, which C lends only for the call.
func contents(answer *C.kv_answer) ([]byte, error) {
	if failed(answer.status) {
		return nil, describe(answer.status, answer.error)
	}
	if answer.cursor == nil {
		return bytesOf(answer.json, answer.length), nil
	}
	text, err := nextPage(answer.cursor, 0)
	if text == nil && err == nil {
		text = []byte("[]")
	}
	return text, err
}

// event receives the events of a subscription. It owns the bytes that it receives.
type event func([]byte, error)

//export kvgoEvent
func kvgoEvent(context unsafe.Pointer, lent *C.kv_event) {
	receiver, ok := recall(context).(event)
	if !ok {
		return
	}
	if failed(lent.status) {
		receiver(nil, describe(lent.status, lent.error))
	} else {
		receiver(bytesOf(lent.json, lent.length), nil)
	}
}

// decider decides a conflict. It returns the decision as a number and, for a merge, the entity.
type decider func(Conflict) (C.int32_t, []byte)

//export kvgoConflict
func kvgoConflict(context unsafe.Pointer, lent *C.kv_conflict, merged **C.char) C.int32_t {
	decide, ok := recall(context).(decider)
	if !ok {
		return C.KV_CONFLICT_LEAVE
	}
	answer, entity := decide(Conflict{
		ID:     C.GoString(lent.id),
		Base:   bytesOf(lent.base, lent.base_length),
		Local:  bytesOf(lent.local, lent.local_length),
		Remote: bytesOf(lent.remote, lent.remote_length),
	})
	if entity != nil {
		*merged = C.CString(string(entity))
	}
	return answer
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
