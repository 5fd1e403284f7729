package wire

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"
)

// maximumDepth is the deepest nesting of values. A value that contains itself reaches it.
const maximumDepth = 1000

// Marshal writes a value as encoding/json does, without escapes for HTML. Each time.Time is written in UTC with
// milliseconds, and finer parts are cut off: "2026-02-03T04:05:06.789Z". An error names the member.
func Marshal(value any) ([]byte, error) {
	v := reflect.ValueOf(value)
	if v.IsValid() && holdsMoments.of(v.Type()) {
		e := encoder{}
		err := e.value(v, 0)
		return e.out, err
	}
	text, err := plain(value)
	if err == nil {
		return text, nil
	}
	// A second pass visits every part to find the member that cannot be written.
	e := encoder{looksAtAll: true}
	if found := e.value(v, 0); found != nil {
		err = found
	}
	return nil, err
}

// plain writes a value that contains no time.Time.
func plain(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte{'\n'}), nil
}

// An encoder writes one value.
type encoder struct {
	out []byte
	// looksAtAll says that parts without a time.Time are visited as well.
	looksAtAll bool
}

func (e *encoder) value(v reflect.Value, depth int) error {
	if !v.IsValid() {
		e.write("null")
		return nil
	}
	if depth > maximumDepth {
		return errors.New("a value is nested too deeply, or contains itself")
	}
	t := v.Type()
	switch {
	case t.Kind() == reflect.Interface:
		return e.value(v.Elem(), depth)
	case t == timeType:
		return e.moment(v.Interface().(time.Time))
	case t.Kind() == reflect.Pointer && v.IsNil():
		e.write("null")
		return nil
	case t.Kind() == reflect.Pointer && t.Elem() == timeType:
		return e.value(v.Elem(), depth)
	case !v.CanInterface():
		// An unexported embedded struct that has a name in its tag.
	case writesItself(t) || v.CanAddr() && writesItself(reflect.PointerTo(t)):
		return e.itself(v)
	case !e.looksAtAll && !holdsMoments.of(t):
		return e.leaf(v)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return e.value(v.Elem(), depth+1)
	case reflect.Struct:
		return e.object(v, depth)
	case reflect.Map:
		return e.mapping(v, depth)
	case reflect.Slice:
		if v.IsNil() || t.Elem().Kind() == reflect.Uint8 {
			return e.leaf(v)
		}
		return e.list(v, depth)
	case reflect.Array:
		return e.list(v, depth)
	}
	return e.leaf(v)
}

func (e *encoder) write(text string) { e.out = append(e.out, text...) }

func (e *encoder) separate(i int, opening byte) {
	if i == 0 {
		e.out = append(e.out, opening)
	} else {
		e.out = append(e.out, ',')
	}
}

// itself writes a value that writes its own JSON. A struct that embeds a time.Time is written as that time.
func (e *encoder) itself(v reflect.Value) error {
	inner := v
	if inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	if inner.Kind() == reflect.Struct {
		if moment, ok := embeddedMoment(inner); ok {
			said, err := plain(v.Interface())
			theirs, _ := moment.MarshalJSON()
			if err == nil && bytes.Equal(said, theirs) {
				return e.moment(moment)
			}
		}
	}
	return e.standard(v)
}

func (e *encoder) moment(moment time.Time) error {
	text, err := momentText(moment)
	e.out = append(append(append(e.out, '"'), text...), '"')
	return err
}

func momentText(moment time.Time) (string, error) {
	moment = moment.UTC()
	if year := moment.Year(); year < 0 || year > 9999 {
		return "", fmt.Errorf("the year %d of a time is not between 0 and 9999", year)
	}
	return moment.Format("2006-01-02T15:04:05.000Z"), nil
}

func (e *encoder) object(v reflect.Value, depth int) error {
	count := 0
	for _, one := range fieldsOf(v.Type()) {
		member, ok := reach(v, one.index)
		if !ok || one.omitEmpty && isEmpty(member) {
			continue
		}
		e.separate(count, '{')
		count++
		e.text(one.name)
		e.out = append(e.out, ':')
		write := e.value
		if one.quoted {
			write = e.quoted
		}
		if err := write(member, depth+1); err != nil {
			return within("."+one.name, err)
		}
	}
	e.close(count, '{', '}')
	return nil
}

// close ends a container. An empty container has not been started yet.
func (e *encoder) close(count int, opening, closing byte) {
	if count == 0 {
		e.out = append(e.out, opening)
	}
	e.out = append(e.out, closing)
}

// reach returns a field that may be inside embedded structs. It returns false if one of these is a nil pointer.
func reach(v reflect.Value, index []int) (reflect.Value, bool) {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// quoted writes a scalar inside a string, for the option "string" of a tag.
func (e *encoder) quoted(v reflect.Value, depth int) error {
	inner := encoder{}
	if err := inner.value(v, depth); err != nil {
		return err
	}
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			e.write("null")
			return nil
		}
		v = v.Elem()
	}
	if writesItself(v.Type()) || v.CanAddr() && writesItself(reflect.PointerTo(v.Type())) {
		e.out = append(e.out, inner.out...)
		return nil
	}
	e.text(string(inner.out))
	return nil
}

func (e *encoder) mapping(v reflect.Value, depth int) error {
	if v.IsNil() {
		e.write("null")
		return nil
	}
	type member struct {
		name  string
		value reflect.Value
	}
	members := make([]member, 0, v.Len())
	for each := v.MapRange(); each.Next(); {
		name, err := keyText(each.Key())
		if err != nil {
			return err
		}
		members = append(members, member{name, each.Value()})
	}
	sort.Slice(members, func(i, j int) bool { return members[i].name < members[j].name })
	for i, one := range members {
		e.separate(i, '{')
		e.text(one.name)
		e.out = append(e.out, ':')
		if err := e.value(one.value, depth+1); err != nil {
			return within("."+one.name, err)
		}
	}
	e.close(len(members), '{', '}')
	return nil
}

func keyText(key reflect.Value) (string, error) {
	if key.Kind() == reflect.String {
		return key.String(), nil
	}
	switch it := key.Interface().(type) {
	case time.Time:
		return momentText(it)
	case encoding.TextMarshaler:
		if key.Kind() == reflect.Pointer && key.IsNil() {
			return "", nil
		}
		text, err := it.MarshalText()
		return string(text), err
	}
	switch {
	case key.CanInt():
		return strconv.FormatInt(key.Int(), 10), nil
	case key.CanUint():
		return strconv.FormatUint(key.Uint(), 10), nil
	}
	return "", fmt.Errorf("a map has keys of type %s, which JSON cannot have", key.Type())
}

func (e *encoder) list(v reflect.Value, depth int) error {
	for i := 0; i < v.Len(); i++ {
		e.separate(i, '[')
		if err := e.value(v.Index(i), depth+1); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
	}
	e.close(v.Len(), '[', ']')
	return nil
}

// isEmpty reports whether the option "omitempty" leaves a value out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Interface, reflect.Pointer:
		return v.IsNil()
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// A memberError names the member that cannot be written.
type memberError struct {
	path string
	err  error
}

func (m *memberError) Error() string {
	return strings.TrimPrefix(m.path, ".") + ": " + strings.TrimPrefix(m.err.Error(), "json: ")
}

func (m *memberError) Unwrap() error { return m.err }

// within adds an enclosing member to the path of an error.
func within(step string, err error) error {
	var inner *memberError
	if errors.As(err, &inner) {
		return &memberError{step + inner.path, inner.err}
	}
	return &memberError{step, err}
}
