package kvstore

// A Path is a member of entities; what compares it gives a query:
//
//	large := kvstore.Field("population").GreaterThan(50000)
//	query := large.And(kvstore.Field("address.city").Equals("Boston")).OrderBy(kvstore.Descending("population"))
//
// Where an array is compared, an element that fits is enough. A [time.Time] is compared as it
// is written in entities: in UTC, with milliseconds. The call that uses an invalid query returns ErrInvalid.
type Path struct{ name string }

// Field begins a query with a member, nested ones ("address.city") and elements ("tags.0") included.
func Field(name string) Path { return Path{name} }

// earthRadius is in metres, as the library has it: the radius of a circle is sent as an angle.
const earthRadius = 6371000

// Equals selects what has this value; nil: null or missing.
func (p Path) Equals(value any) *Query { return p.test("$eq", value) }

// NotEquals selects what has not this value.
func (p Path) NotEquals(value any) *Query { return p.test("$ne", value) }

// LessThan selects what is below a value of the same type.
func (p Path) LessThan(value any) *Query { return p.test("$lt", value) }

// AtMost selects what is not above a value of the same type.
func (p Path) AtMost(value any) *Query { return p.test("$lte", value) }

// GreaterThan selects what is above a value of the same type.
func (p Path) GreaterThan(value any) *Query { return p.test("$gt", value) }

// AtLeast selects what is not below a value of the same type.
func (p Path) AtLeast(value any) *Query { return p.test("$gte", value) }

// Between selects what is neither below low nor above high.
func (p Path) Between(low, high any) *Query { return p.AtLeast(low).And(p.AtMost(high)) }

// In selects what is one of the values.
func (p Path) In(values ...any) *Query { return p.test("$in", list(values)) }

// NotIn selects what is none of the values, or missing.
func (p Path) NotIn(values ...any) *Query { return p.test("$nin", list(values)) }

// Exists selects what has this member, be it null.
func (p Path) Exists() *Query { return p.test("$exists", true) }

// Missing selects what has not this member.
func (p Path) Missing() *Query { return p.test("$exists", false) }

// HasPrefix selects text that begins with another one.
func (p Path) HasPrefix(text string) *Query { return p.text("BEGINSWITH", text) }

// HasSuffix selects text that ends with another one.
func (p Path) HasSuffix(text string) *Query { return p.text("ENDSWITH", text) }

// HasText selects text with another one in it.
func (p Path) HasText(text string) *Query { return p.text("CONTAINS", text) }

// Like selects text of a pattern: * stands for any text, ? for any character.
func (p Path) Like(pattern string) *Query { return p.text("LIKE", pattern) }

// Matches selects text that a regular expression matches from its beginning to its end.
func (p Path) Matches(pattern string) *Query { return p.text("MATCHES", pattern) }

// Contains selects arrays that have all of the values as elements.
func (p Path) Contains(values ...any) *Query { return p.test("$all", list(values)) }

// Any selects arrays with an object that meets the whole condition.
func (p Path) Any(condition *Query) *Query {
	printed, err := condition.printed()
	if err != nil {
		return &Query{broken: err}
	}
	return p.test("$elemMatch", printed.Filter)
}

// Size selects arrays of so many elements.
func (p Path) Size(count int) *Query { return p.test("$size", count) }

// Near selects places, nearest first, that are at most so many metres away; 0: any distance.
func (p Path) Near(longitude, latitude, metres float64) *Query {
	near := M{"$geometry": M{"type": "Point", "coordinates": []float64{longitude, latitude}}}
	put(near, "$maxDistance", metres)
	return p.test("$nearSphere", near)
}

// WithinCircle selects places that are at most so many metres away.
func (p Path) WithinCircle(longitude, latitude, metres float64) *Query {
	circle := []any{[]float64{longitude, latitude}, metres / earthRadius}
	return p.test("$geoWithin", M{"$centerSphere": circle})
}

// WithinBox selects places in a box, given by two corners of longitude and latitude; it may cross the
// date line.
func (p Path) WithinBox(southWest, northEast [2]float64) *Query {
	return p.test("$geoWithin", M{"$box": [][2]float64{southWest, northEast}})
}

// WithinPolygon selects places in a polygon; it may cross the date line or go around a pole.
func (p Path) WithinPolygon(corners ...[2]float64) *Query {
	return p.test("$geoWithin", M{"$polygon": corners})
}

func (p Path) test(operator string, value any) *Query {
	if p.name == "" {
		return &Query{broken: invalid("a member has a name")}
	}
	return &Query{Filter: M{p.name: M{operator: value}}}
}

// text compares with a text. A format would read "acl" as "_acl": only the condition is taken from it.
func (p Path) text(word, text string) *Query {
	written := &Query{Format: "x " + word + " %@", Arguments: []any{text}}
	printed, err := written.printed()
	if err != nil {
		return &Query{broken: err}
	}
	if p.name == "" {
		return p.test("$eq", nil)
	}
	return &Query{Filter: M{p.name: printed.Filter["x"]}}
}

// list gives values as JSON has them, also if there are none.
func list(values []any) []any { return append([]any{}, values...) }

// And selects what this query and the others select; see the function [And].
func (q *Query) And(others ...*Query) *Query { return And(append([]*Query{q}, others...)...) }

// Or selects what this query or one of the others selects; see the function [Or].
func (q *Query) Or(others ...*Query) *Query { return Or(append([]*Query{q}, others...)...) }

// OrderBy gives the same query, sorted.
func (q *Query) OrderBy(keys ...SortKey) *Query {
	return q.changed(func(query *Query) { query.Sort = keys })
}

// Page gives the same query, without the first ones and with so many at the most; 0: all.
func (q *Query) Page(skip, limit int) *Query {
	return q.changed(func(query *Query) { query.Skip, query.Limit = skip, limit })
}

// Only gives the same query, for these members and "_id".
func (q *Query) Only(fields ...string) *Query {
	return q.changed(func(query *Query) { query.Fields = fields })
}

func (q *Query) changed(change func(*Query)) *Query {
	copied := Query{}
	if q != nil {
		copied = *q
	}
	change(&copied)
	return &copied
}
