package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Unmarshal reads a value as encoding/json does; but numbers that are read into an interface stay exact. They become
// int64 where they are written as integers and fit, else float64 where that is the same number, else json.Number.
func Unmarshal(text []byte, value any) error {
	v := reflect.ValueOf(value)
	if !holdsAnything.of(v.Type()) {
		return json.Unmarshal(text, value)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(value)
	settle(v)
	return err
}

// settle gives the numbers inside a value their types.
func settle(v reflect.Value) {
	if !v.IsValid() || !holdsAnything.of(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.CanSet() {
			return
		}
		if settled, changed := settled(v.Interface()); changed {
			v.Set(reflect.ValueOf(settled))
		}
	case reflect.Pointer:
		settle(v.Elem())
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			settle(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len(); i++ {
			settle(v.Index(i))
		}
	case reflect.Map:
		settleMap(v)
	}
}

// settleMap takes each value out and puts it back: those of a map can not be set.
func settleMap(v reflect.Value) {
	if !v.CanInterface() {
		return
	}
	if object, ok := v.Interface().(map[string]any); ok {
		settled(object)
		return
	}
	for each := v.MapRange(); each.Next(); {
		changed := reflect.New(v.Type().Elem()).Elem()
		changed.Set(each.Value())
		settle(changed)
		v.SetMapIndex(each.Key(), changed)
	}
}

// settled gives what takes the place of something read; objects and arrays are changed where they are.
func settled(value any) (any, bool) {
	switch it := value.(type) {
	case json.Number:
		return number(it), true
	case map[string]any:
		for name, member := range it {
			if member, changed := settled(member); changed {
				it[name] = member
			}
		}
	case []any:
		for i, element := range it {
			if element, changed := settled(element); changed {
				it[i] = element
			}
		}
	}
	return value, false
}

// maxDigits is how long a number may be that a float64 surely gives back.
const maxDigits = 15

func number(text json.Number) any {
	written := string(text)
	if !strings.ContainsAny(written, ".eE") && written != "-0" {
		if integer, err := strconv.ParseInt(written, 10, 64); err == nil {
			return integer
		}
		return text
	}
	float, err := strconv.ParseFloat(written, 64)
	if err == nil && len(written) <= maxDigits && !strings.ContainsAny(written, "eE") {
		return float
	}
	if err != nil || decimal(written) != decimal(strconv.FormatFloat(float, 'e', -1, 64)) {
		return text
	}
	return float
}

// A decimalNumber is a number as a reader sees it: 0.digits times ten to the exponent.
type decimalNumber struct {
	digits   string
	exponent int
}

// decimal gives the value of a number's text, whose sign nothing changes.
func decimal(text string) decimalNumber {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(text, "-")), "e")
	// An exponent that is no int is far beyond any float64.
	power, _ := strconv.Atoi(exponent)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	power += len(whole) - (len(whole+fraction) - len(digits))
	if digits = strings.TrimRight(digits, "0"); digits == "" {
		power = 0
	}
	return decimalNumber{digits, power}
}
