// Evaluation: the input is the number of a query in the lists below, and an entity, or any bytes. Every kind of
// test, comparison and order ends, and says of an entity what it says of the same entity printed anew, with
// other spaces, escapes and forms of numbers.

import KVJSON
import KVQuery

private let filters = [
  #"{"a":1}"#, #"{"a":null}"#, #"{"a.b":{"$ne":"x"}}"#,
  #"{"a.0.b":{"$gt":1.5,"$lte":[1,{"b":2}]}}"#,
  #"{"a":{"$in":[1,"x",null,[],{"b":1}]},"b":{"$nin":[true]}}"#, #"{"a.b":{"$exists":false}}"#,
  #"{"a":{"$type":["int","double","array"]}}"#,
  #"{"$or":[{"a":{"$size":2}},{"b":{"$mod":[4,1]}}]}"#,
  #"{"a":{"$all":[1,{"b":"x"}]}}"#, #"{"a":{"$elemMatch":{"b":{"$lt":"y"}}}}"#,
  #"{"a":{"$elemMatch":{"$gt":1,"$not":{"$regex":"^(a|b)*c","$options":"i"}}}}"#,
  #"{"a":{"$geoWithin":{"$polygon":[[0.0,0.0],[9.0,0.0],[0.0,9.0]]}}}"#,
  #"{"a":{"$nearSphere":[170.0,-89.0],"$maxDistance":100.0}}"#,
  #"{"$text":{"$search":"a b* \"a b\" -\"b a*\"","$language":"english"}}"#,
]

private let formats = [
  "a > b", "ALL a >= 1", "ANY a != 'x'", "a.@sum.b + a.@count * 2 > a[LAST].b ** 2",
  "a ==[cd] 'É' OR a MATCHES[d] b", "a LIKE[c] b OR a IN b OR a CONTAINS[cd] b",
  "SUBQUERY(a, $x, $x.b > 1 AND $x.c = b).@count > 0", "TERNARY(a > 1, length(a), abs(b)) = 5",
  "CAST(a, 'NSDate') > CAST(b, 'NSString') OR CAST(a, 'NSNumber') = sqrt(b)",
  "a.@min.b < average(a) OR uppercase(a) < lowercase(b)",
]

private let count = filters.count + formats.count

/// Read anew for each input: values that stay would look like leaks, for their references carry marks.
private func query(_ number: UInt8) -> Query? {
  let index = Int(number) % count
  return index < filters.count
    ? try? Query(filter: filters[index]) : try? Query(format: formats[index - filters.count])
}

func fuzzEvaluator(_ bytes: UnsafeBufferPointer<UInt8>) {
  guard let number = bytes.first else { return }
  guard let query = query(number) else { fatalError("query \(number) of the lists cannot be read") }
  check(query, Array(bytes.dropFirst()))
}

private func check(_ query: Query, _ entity: [UInt8]) {
  let matcher = Matcher(query.filter)
  let paths = ["a", "a.b", "a.0", "b"].map { Path($0) }
  let sorter = Sorter(paths.map { Query.SortKey($0, ascending: $0 == paths[0]) })
  let found = try? matcher.matches(entity)
  let (key, shown) = (sorter.key(of: entity), Projection(paths).apply(to: entity))
  guard (try? EntityScanner.outline(of: entity)) != nil, let value = try? JSONValue(parsing: entity)
  else { return }
  let printed = value.bytes
  if let found, let again = try? matcher.matches(printed) {
    check(found == again, "what \(query.filterText) says depends on how the entity is printed")
  }
  check(key == sorter.key(of: printed), "the order depends on how the entity is printed")
  let again = try? JSONValue(parsing: Projection(paths).apply(to: printed))
  check((try? JSONValue(parsing: shown)) == again, "so does what is shown of it")
}
