package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Unmarshal reads a value as encoding/json does, except that numbers in interfaces stay exact. A number becomes an
// int64 if it is written as an integer and fits, else a float64 if that is the same number, else a json.Number.
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

// settle converts the json.Numbers inside a value.
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

// settleMap takes each value out of the map and puts it back, because values inside a map cannot be set.
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

// settled returns the converted form of a value. Objects and arrays are converted in place.
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

// maxDigits is the number of digits that a float64 always preserves.
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

// A decimalNumber is the exact value of a number's text: 0.digits times ten to the exponent.
type decimalNumber struct {
	digits   string
	exponent int
}

// decimal returns the value of a number's text, without its sign.
func decimal(text string) decimalNumber {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(text, "-")), "e")
	// An exponent that does not fit an int is far outside the range of a float64.
	power, _ := strconv.Atoi(exponent)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	power += len(whole) - (len(whole+fraction) - len(digits))
	if digits = strings.TrimRight(digits, "0"); digits == "" {
		power = 0
	}
	return decimalNumber{digits, power}
}
