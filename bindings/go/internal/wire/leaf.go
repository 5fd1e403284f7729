package wire

import (
	"math"
	"reflect"
	"strconv"
)

// leaf writes a value without parts as encoding/json does. The usual kinds are written directly, which is faster.
func (e *encoder) leaf(v reflect.Value) error {
	switch kind := v.Kind(); {
	case kind == reflect.Bool:
		e.out = strconv.AppendBool(e.out, v.Bool())
		return nil
	case v.CanInt():
		e.out = strconv.AppendInt(e.out, v.Int(), 10)
		return nil
	case v.CanUint():
		e.out = strconv.AppendUint(e.out, v.Uint(), 10)
		return nil
	case kind == reflect.Float64 && isUsual(v.Float()):
		e.out = strconv.AppendFloat(e.out, v.Float(), 'f', -1, 64)
		return nil
	case kind == reflect.String && v.Type() != numberType:
		e.text(v.String())
		return nil
	}
	return e.standard(v)
}

// standard writes a value by calling encoding/json, which knows the types that write their own JSON.
func (e *encoder) standard(v reflect.Value) error {
	if v.CanAddr() {
		v = v.Addr()
	}
	text, err := plain(v.Interface())
	e.out = append(e.out, text...)
	return err
}

// isUsual reports whether encoding/json writes a number without an exponent.
func isUsual(number float64) bool {
	size := math.Abs(number)
	return number == 0 || size >= 1e-6 && size < 1e21
}

func (e *encoder) text(text string) {
	if isSimple(text) {
		e.out = append(append(append(e.out, '"'), text...), '"')
		return
	}
	// encoding/json can write any string, so there is no error.
	written, _ := plain(text)
	e.out = append(e.out, written...)
}

// isSimple reports whether a string needs no escapes in JSON.
func isSimple(text string) bool {
	for i := 0; i < len(text); i++ {
		if letter := text[i]; letter < ' ' || letter > '~' || letter == '"' || letter == '\\' {
			return false
		}
	}
	return true
}
