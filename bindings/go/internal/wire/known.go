package wire

import (
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Known gives the members that values of a type have in JSON: an object with true for each, or, for a struct, with
// its own. nil stands for all there can be: of maps, and of types that say themselves what their JSON is.
//
// encoding/json reads members whose names differ only in case into the same field: the usual ways to write a name
// are all known, or a save would leave the one that was read beside the one that is written.
func Known(t reflect.Type) map[string]any { return known(t, map[reflect.Type]bool{}) }

// known looks into a struct once on its way down: what is in it again is taken as a whole.
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

// spellings gives the ways to write a name in other cases: "DueAt" is "dueAt", "dueat" and "DUEAT" as well.
func spellings(name string) []string {
	first, size := utf8.DecodeRuneInString(name)
	return []string{
		string(unicode.ToLower(first)) + name[size:], string(unicode.ToUpper(first)) + name[size:],
		strings.ToLower(name), strings.ToUpper(name),
	}
}
