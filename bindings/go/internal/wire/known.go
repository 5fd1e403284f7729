package wire

import (
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Known returns the members that values of a type have in JSON: an object with true or, for a struct, a nested object,
// for each. nil means any members, for maps and for types that write their own JSON.
//
// encoding/json matches members and fields without regard to case. All usual spellings of a name are therefore known.
// Otherwise a save would keep the stored member beside the one that it writes.
func Known(t reflect.Type) map[string]any { return known(t, map[reflect.Type]bool{}) }

// known examines a struct once on each path. A struct inside itself is known as a whole.
func known(t reflect.Type, inside map[reflect.Type]bool) map[string]any {
	for t.Kind() == reflect.Pointer && !writesItself(t) {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || writesItself(t) || writesItself(reflect.PointerTo(t)) || inside[t] {
		return nil
	}
	inside[t] = true
	defer delete(inside, t)
	members := map[string]any{}
	for _, one := range fieldsOf(t) {
		var whole any = true
		if inner := known(one.typ, inside); inner != nil {
			whole = inner
		}
		members[one.name] = whole
		for _, spelling := range spellings(one.name) {
			if _, taken := members[spelling]; !taken {
				members[spelling] = true
			}
		}
	}
	return members
}

// spellings returns the spellings of a name in other cases: for "DueAt" also "dueAt", "dueat" and "DUEAT".
func spellings(name string) []string {
	first, size := utf8.DecodeRuneInString(name)
	return []string{
		string(unicode.ToLower(first)) + name[size:], string(unicode.ToUpper(first)) + name[size:],
		strings.ToLower(name), strings.ToUpper(name),
	}
}
