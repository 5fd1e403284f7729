package wire

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
	"time"
)

var (
	timeType      = reflect.TypeOf(time.Time{})
	numberType    = reflect.TypeOf(json.Number(""))
	marshaler     = reflect.TypeOf((*json.Marshaler)(nil)).Elem()
	textMarshaler = reflect.TypeOf((*encoding.TextMarshaler)(nil)).Elem()
	unmarshaler   = reflect.TypeOf((*json.Unmarshaler)(nil)).Elem()
)

// writesItself reports whether values of a type write their own JSON.
func writesItself(t reflect.Type) bool { return t.Implements(marshaler) || t.Implements(textMarshaler) }

// A question is a property of types that is derived from the types of their parts. Answers are cached.
type question struct {
	// about returns the answer for a type itself, if it has one.
	about func(reflect.Type) (answer, known bool)
	cache sync.Map
}

// holdsMoments asks whether values of a type may contain a time.Time.
var holdsMoments = question{about: func(t reflect.Type) (bool, bool) {
	return true, t == timeType || t.Kind() == reflect.Interface
}}

// holdsAnything asks whether values of a type may contain an interface that JSON is read into.
var holdsAnything = question{about: func(t reflect.Type) (bool, bool) {
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return false, true
	}
	return true, t.Kind() == reflect.Interface
}}

// of returns the answer for a type. It is true if it is true for one of its parts.
func (q *question) of(t reflect.Type) bool {
	if known, ok := q.cache.Load(t); ok {
		return known.(bool)
	}
	answer := q.search(t, map[reflect.Type]bool{})
	q.cache.Store(t, answer)
	return answer
}

func (q *question) search(t reflect.Type, visited map[reflect.Type]bool) bool {
	if visited[t] {
		return false
	}
	visited[t] = true
	if answer, known := q.about(t); known {
		return answer
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return q.search(t.Elem(), visited)
	case reflect.Map:
		return q.search(t.Key(), visited) || q.search(t.Elem(), visited)
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			if q.search(t.Field(i).Type, visited) {
				return true
			}
		}
	}
	return false
}

// embeddedMoment returns the time.Time that a struct embeds. Such a struct is written as a time.
func embeddedMoment(v reflect.Value) (time.Time, bool) {
	for i := 0; i < v.NumField(); i++ {
		declared, inner := v.Type().Field(i), v.Field(i)
		if !declared.Anonymous {
			continue
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() != reflect.Struct {
			continue
		}
		if inner.Type() == timeType && declared.IsExported() {
			return inner.Interface().(time.Time), true
		}
		if moment, ok := embeddedMoment(inner); ok {
			return moment, true
		}
	}
	return time.Time{}, false
}
