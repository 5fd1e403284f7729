package kvstore

// A Path names a member of entities. Its methods compare the member and return a query:
//
//	large := kvstore.Field("population").GreaterThan(50000)
//	query := large.And(kvstore.Field("address.city").Equals("Boston")).OrderBy(kvstore.Descending("population"))
//
// If the member is an array, one element that satisfies the comparison is enough. A [time.Time] is compared in the form
// that entities have: UTC with milliseconds. The call that uses an invalid query returns ErrInvalid.
type Path struct{ name string }

// Field returns the path of a member, which may be nested ("address.city") or an element of an array ("tags.0").
func Field(name string) Path { return Path{name} }

// earthRadius is in metres. It is the library's value, which a circle's angle is computed with.
const earthRadius = 6371000

// Equals selects entities where the member has this value. nil means null or missing.
func (p Path) Equals(value any) *Query { return p.test("$eq", value) }

// NotEquals selects entities where the member does not have this value.
func (p Path) NotEquals(value any) *Query { return p.test("$ne", value) }

// LessThan selects entities where the member is less than a value of the same type.
func (p Path) LessThan(value any) *Query { return p.test("$lt", value) }

// AtMost selects entities where the member is less than or equal to a value of the same type.
func (p Path) AtMost(value any) *Query { return p.test("$lte", value) }

// GreaterThan selects entities where the member is greater than a value of the same type.
func (p Path) GreaterThan(value any) *Query { return p.test("$gt", value) }

// AtLeast selects entities where the member is greater than or equal to a value of the same type.
func (p Path) AtLeast(value any) *Query { return p.test("$gte", value) }

// Between selects entities where the member is at least low and at most high.
func (p Path) Between(low, high any) *Query { return p.AtLeast(low).And(p.AtMost(high)) }

// In selects entities where the member is one of the values.
func (p Path) In(values ...any) *Query { return p.test("$in", list(values)) }

// NotIn selects entities where the member is not one of the values, or missing.
func (p Path) NotIn(values ...any) *Query { return p.test("$nin", list(values)) }

// Exists selects entities that have this member, even if it is null.
func (p Path) Exists() *Query { return p.test("$exists", true) }

// Missing selects entities that do not have this member.
func (p Path) Missing() *Query { return p.test("$exists", false) }

// HasPrefix selects entities where the member is a string that begins with text.
func (p Path) HasPrefix(text string) *Query { return p.text("BEGINSWITH", text) }

// HasSuffix selects entities where the member is a string that ends with text.
func (p Path) HasSuffix(text string) *Query { return p.text("ENDSWITH", text) }

// HasText selects entities where the member is a string that contains text.
func (p Path) HasText(text string) *Query { return p.text("CONTAINS", text) }

// Like selects strings by a pattern: * stands for any number of characters, ? for one.
func (p Path) Like(pattern string) *Query { return p.text("LIKE", pattern) }

// Matches selects strings that a regular expression matches from beginning to end.
func (p Path) Matches(pattern string) *Query { return p.text("MATCHES", pattern) }

// Contains selects arrays that contain all of the values.
func (p Path) Contains(values ...any) *Query { return p.test("$all", list(values)) }

// Any selects arrays with an object that satisfies the whole condition.
func (p Path) Any(condition *Query) *Query {
	printed, err := condition.printed()
	if err != nil {
		return &Query{broken: err}
	}
	return p.test("$elemMatch", printed.Filter)
}

// Size selects arrays with this number of elements.
func (p Path) Size(count int) *Query { return p.test("$size", count) }

// Near selects points within a distance in metres and sorts them nearest first. 0 means any distance.
func (p Path) Near(longitude, latitude, metres float64) *Query {
	near := M{"$geometry": M{"type": "Point", "coordinates": []float64{longitude, latitude}}}
	put(near, "$maxDistance", metres)
	return p.test("$nearSphere", near)
}

// WithinCircle selects points within a distance in metres.
func (p Path) WithinCircle(longitude, latitude, metres float64) *Query {
	circle := []any{[]float64{longitude, latitude}, metres / earthRadius}
	return p.test("$geoWithin", M{"$centerSphere": circle})
}

// WithinBox selects points in a box. The corners are pairs of longitude and latitude. The box may cross the date line.
func (p Path) WithinBox(southWest, northEast [2]float64) *Query {
	return p.test("$geoWithin", M{"$box": [][2]float64{southWest, northEast}})
}

// WithinPolygon selects points in a polygon, which may cross the date line or surround a pole.
func (p Path) WithinPolygon(corners ...[2]float64) *Query {
	return p.test("$geoWithin", M{"$polygon": corners})
}

func (p Path) test(operator string, value any) *Query {
	if p.name == "" {
		return &Query{broken: invalid("the name of a member is empty")}
	}
	return &Query{Filter: M{p.name: M{operator: value}}}
}

// text compares with a string. A format would read "acl" as "_acl", so only the condition comes from the format.
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

// list returns the values as a slice that is never nil, so that it becomes a JSON array.
func list(values []any) []any { return append([]any{}, values...) }

// And selects entities that this query and all of the others select; see the function [And].
func (q *Query) And(others ...*Query) *Query { return And(append([]*Query{q}, others...)...) }

// Or selects entities that this query or one of the others selects; see the function [Or].
func (q *Query) Or(others ...*Query) *Query { return Or(append([]*Query{q}, others...)...) }

// OrderBy returns the same query with a sort order.
func (q *Query) OrderBy(keys ...SortKey) *Query {
	return q.changed(func(query *Query) { query.Sort = keys })
}

// Page returns the same query without the first skip results and with at most limit results. A limit of 0 means all.
func (q *Query) Page(skip, limit int) *Query {
	return q.changed(func(query *Query) { query.Skip, query.Limit = skip, limit })
}

// Only returns the same query with these members, and "_id", in its results.
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
