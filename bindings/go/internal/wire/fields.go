package wire

import (
	"reflect"
	"sort"
	"strings"
	"sync"
	"unicode"
)

// A field is a member of a struct's JSON.
type field struct {
	name      string
	index     []int
	typ       reflect.Type
	tagged    bool
	omitEmpty bool
	// quoted is the option "string" of the tag, for types where it has an effect.
	quoted bool
}

var fieldCache sync.Map

// fieldsOf returns the members of a struct by the rules of encoding/json, including those of embedded structs.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldCache.Load(t); ok {
		return known.([]field)
	}
	found, _ := fieldCache.LoadOrStore(t, dominant(collect(t)))
	return found.([]field)
}

// embedded is an embedded struct that is still to be examined, and its index path.
type embedded struct {
	typ   reflect.Type
	index []int
}

// collect returns all candidates, level by level. If a struct is embedded more than once at the same level, its members
// appear twice, so that they hide each other.
func collect(t reflect.Type) []field {
	var fields []field
	visited := map[reflect.Type]bool{}
	for level := []embedded{{typ: t}}; len(level) > 0; {
		var deeper []embedded
		count := map[reflect.Type]int{}
		for _, one := range level {
			count[one.typ]++
		}
		for _, one := range level {
			if visited[one.typ] {
				continue
			}
			visited[one.typ] = true
			for index := 0; index < one.typ.NumField(); index++ {
				found, inner := examine(one, index)
				if inner != nil {
					deeper = append(deeper, *inner)
					if count[one.typ] > 1 {
						deeper = append(deeper, *inner)
					}
				}
				if found != nil {
					fields = append(fields, *found)
					if count[one.typ] > 1 {
						fields = append(fields, *found)
					}
				}
			}
		}
		level = deeper
	}
	return fields
}

// examine examines one field of a struct. It returns a member, an embedded struct, or neither.
func examine(outer embedded, number int) (*field, *embedded) {
	declared := outer.typ.Field(number)
	pointed := declared.Type
	if pointed.Name() == "" && pointed.Kind() == reflect.Pointer {
		pointed = pointed.Elem()
	}
	isStruct := pointed.Kind() == reflect.Struct
	if !declared.IsExported() && !(declared.Anonymous && isStruct) {
		return nil, nil
	}
	tag := declared.Tag.Get("json")
	if tag == "-" {
		return nil, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if !isName(name) {
		name = ""
	}
	index := append(append([]int{}, outer.index...), number)
	if name == "" && declared.Anonymous && isStruct {
		return nil, &embedded{pointed, index}
	}
	made := field{
		name: name, index: index, typ: declared.Type, tagged: name != "",
		omitEmpty: hasOption(options, "omitempty"),
		quoted:    hasOption(options, "string") && isScalar(pointed.Kind()),
	}
	if name == "" {
		made.name = declared.Name
	}
	return &made, nil
}

// dominant keeps one field for each name: the least nested, then the tagged one. If two are left, it keeps none.
func dominant(fields []field) []field {
	byName := map[string][]field{}
	for _, one := range fields {
		byName[one.name] = append(byName[one.name], one)
	}
	var chosen []field
	for _, same := range byName {
		sort.SliceStable(same, func(i, j int) bool { return hides(same[i], same[j]) })
		if len(same) == 1 || hides(same[0], same[1]) {
			chosen = append(chosen, same[0])
		}
	}
	sort.Slice(chosen, func(i, j int) bool { return before(chosen[i].index, chosen[j].index) })
	return chosen
}

func hides(one, other field) bool {
	if len(one.index) != len(other.index) {
		return len(one.index) < len(other.index)
	}
	return one.tagged && !other.tagged
}

func before(one, other []int) bool {
	for index := 0; index < len(one) && index < len(other); index++ {
		if one[index] != other[index] {
			return one[index] < other[index]
		}
	}
	return len(one) < len(other)
}

func hasOption(options, wanted string) bool {
	for _, option := range strings.Split(options, ",") {
		if option == wanted {
			return true
		}
	}
	return false
}

// isName reports whether encoding/json accepts the name of a tag.
func isName(name string) bool {
	for _, letter := range name {
		isPunctuation := strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", letter)
		if !isPunctuation && !unicode.IsLetter(letter) && !unicode.IsDigit(letter) {
			return false
		}
	}
	return name != ""
}

func isScalar(kind reflect.Kind) bool {
	return kind == reflect.String || kind >= reflect.Bool && kind <= reflect.Float64
}
