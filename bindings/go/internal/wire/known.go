package wire

import "reflect"

// Known gives the members that values of a type have in JSON: an object with true for each, or, for a struct, with
// its own. nil stands for all there can be: of maps, and of types that say themselves what their JSON is.
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
		members[one.name] = true
		if inner := known(one.typ, inside); inner != nil {
			members[one.name] = inner
		}
	}
	return members
}
