import KVBase
import KVJSON
import KVQuery
import Testing

@Suite("Predicate formats") struct FormatTests {
  @Test(
    "become the filter that MongoDB has for them",
    arguments: [
      (#"state == "MA" AND population >= 50000"#, #"{"state":"MA","population":{"$gte":50000}}"#),
      ("a > 1 AND a < 5", #"{"$and":[{"a":{"$gt":1}},{"a":{"$lt":5}}]}"#),
      ("NOT done == true", #"{"done":{"$not":{"$eq":true}}}"#),
      ("tags.@count == 3", #"{"tags":{"$size":3}}"#),
      ("3 == tags.@count", #"{"tags":{"$size":3}}"#),
      (
        #"city BEGINSWITH "San" OR zip IN {"1","2"}"#,
        #"{"$or":[{"city":{"$regex":"^San"}},{"zip":{"$in":["1","2"]}}]}"#
      ),
      (#"acl.creator == "u1""#, #"{"_acl.creator":"u1"}"#),
      (
        #"metadata.lastModifiedTime > '2020' and entityId <> "x""#,
        #"{"_kmd.lmt":{"$gt":"2020"},"_id":{"$ne":"x"}}"#
      ),
      ("(a = 1 AND b = 2) AND c = 3", #"{"$and":[{"a":1,"b":2},{"c":3}]}"#),
      ("a = 1 && b = 2 && c = 3", #"{"a":1,"b":2,"c":3}"#),
      ("(a = 1 || b = 2) AND c = 3", #"{"$or":[{"a":1},{"b":2}],"c":3}"#),
      ("a BETWEEN {1, 5}", #"{"$and":[{"a":{"$gte":1}},{"a":{"$lte":5}}]}"#),
      ("a = nil OR a != NULL", #"{"$or":[{"a":null},{"a":{"$ne":null}}]}"#),
      ("5 < a", #"{"a":{"$gt":5}}"#), ("5 => a", #"{"a":{"$lte":5}}"#),
      ("a =< 5", #"{"a":{"$lte":5}}"#),
      ("a = 0x1F and b = 1e3 and c = .5 and d = -2", #"{"a":31,"b":1000.0,"c":0.5,"d":-2}"#),
      ("a.0.b = YES", #"{"a.0.b":true}"#), ("a.0.1 = 5", #"{"a.0.1":5}"#),
      ("a[2].b = 1", #"{"a.2.b":1}"#),
      ("a[FIRST] = 1", #"{"a.0":1}"#),
      ("a[SIZE] = 1", #"{"a":{"$size":1}}"#),
      ("#where = 1 AND #acl.x = 2", #"{"where":1,"acl.x":2}"#),
      (#"a CONTAINS "x.y""#, #"{"a":{"$regex":".*x\\.y.*"}}"#), ("a CONTAINS 5", #"{"a":5}"#),
      (#"a ENDSWITH[c] "x""#, #"{"a":{"$regex":".*x$(?!\\n)","$options":"i"}}"#),
      (#"a LIKE "a?b*""#, #"{"a":{"$regex":"^a.b.*$(?!\\n)","$options":"s"}}"#),
      (#"a MATCHES "[0-9]+""#, #"{"a":{"$regex":"^(?:[0-9]+)$(?!\\n)"}}"#),
      (#"a ==[c] "X""#, #"{"a":{"$regex":"^X$(?!\\n)","$options":"i"}}"#),
      (#"NOT a IN {1,2}"#, #"{"a":{"$not":{"$in":[1,2]}}}"#),
      (#"a IN "x""#, #"{"a":{"$in":["x"]}}"#),
      (#""x" IN tags"#, #"{"tags":"x"}"#), ("ANY a.b > 3", #"{"a.b":{"$gt":3}}"#),
      ("NONE a = 3", #"{"a":{"$not":{"$eq":3}}}"#),
      ("NOT (a = 1 OR b = 2)", #"{"$nor":[{"$or":[{"a":1},{"b":2}]}]}"#),
      ("!(!(a = 1))", #"{"$nor":[{"a":{"$not":{"$eq":1}}}]}"#),
      ("NOT NOT a = 1", #"{"a":1}"#), ("TRUEPREDICATE", "{}"),
      ("FALSEPREDICATE OR a = 1", #"{"a":1}"#),
      ("a = 1 + 2 * 3 ** 2", #"{"a":19}"#), ("a = (1 + 2) * 3", #"{"a":9}"#), ("1 = 1", "{}"),
      ("2 + 2 == 5", #"{"$nor":[{}]}"#),
      (#"d > CAST(0, "NSDate")"#, #"{"d":{"$gt":"2001-01-01T00:00:00.000Z"}}"#),
      (#"d IN {CAST(1.5, "NSDate")}"#, #"{"d":{"$in":["2001-01-01T00:00:01.500Z"]}}"#),

      ("tags.@count < 2", #"{"$or":[{"tags":{"$size":0}},{"tags":{"$size":1}}]}"#),
      ("naïve = 1", #"{"naïve":1}"#), ("a.b.c = TRUE", #"{"a.b.c":true}"#),
      ("discount%% > 5", #"{"discount%":{"$gt":5}}"#),
    ] as [(String, String)])
  func becomesFilter(format: String, filter: String) throws {
    let query = try Query(format: format)
    #expect(query.filterText == filter)
    #expect(query.isRemote)
    #expect(try Query(filter: filter).filterText == filter)
  }

  @Test("take arguments as values, never as syntax") func takesArguments() throws {
    let query = try Query(
      format: "%K == %@ AND n = %d AND f < %f AND s = %s AND c = %c AND l IN %@ AND o = %@",
      arguments: #"["acl.creator","x\" OR 1 = 1",7,0.5,"%K","z",[1,"\"}"],{"$gt":1}]"#)
    #expect(
      query.filterText
        == #"{"_acl.creator":"x\" OR 1 = 1","n":7,"f":{"$lt":0.5},"s":"%K","c":"z","l":{"$in":[1,"\"}"]},"o":{"$eq":{"$gt":1}}}"#
    )
    let substituted = try Query(
      format: "a > $low AND b = %@", arguments: #"{"arguments":["x"],"variables":{"low":3}}"#)
    #expect(substituted.filterText == #"{"a":{"$gt":3},"b":"x"}"#)
  }

  @Test("map the application's own names") func mapsNames() throws {
    let keys: KeyMap = ["title": "t"]
    #expect(
      try Query(
        format: "title = 1 AND a.title = 2 AND %K = 3", arguments: #"["title"]"#, keys: keys
      ).filterText == #"{"$and":[{"t":1},{"a.title":2},{"t":3}]}"#)
    #expect(
      try Query(format: "acl.globalRead = YES AND acl.readers = 'u'").filterText
        == #"{"_acl.gr":true,"_acl.r":"u"}"#)
  }

  @Test(
    "say where they are wrong and what was expected",
    arguments: [
      ("", 0), ("a", 1), ("a =", 3), ("a = 1 AND", 9), ("(a = 1", 6), ("a = 1)", 5),
      ("a = 1 b = 2", 6), ("a == == 1", 5),
      ("a = 'x", 4), ("a IN {1,", 8), ("a = %@", 4), ("a = %z", 4), ("a MATCHES '('", 10),
      ("a = $x", 4), ("a.b. = 1", 5),
      ("ANY a", 5), ("a = 99999999999999999999999e999", 4), ("a = 1e", 6), ("a = 0x", 6),
      ("AND = 1", 0), ("foo(1) = 1", 0),
      ("a ==[x] 1", 5), ("SUBQUERY(a, b, c = 1).@count > 0", 12), ("a.@foo = 1", 3),
      ("(a = 1) + 2 = 3", 0), ("a = \u{1}", 4), ("a = 'x\\u12'", 6),
      ("CAST(1, 'NSFoo') = a", 8), ("a > random()", 4), ("a = now(1)", 8), ("a[ = 1", 3), ("#", 1),
      ("a = ?", 4), ("NOT a", 5),
    ] as [(String, Int)])
  func saysWhere(format: String, position: Int) throws {
    let error = try #require(throws: QueryError.self) { try Query(format: format) }
    #expect(error.kind == .syntax)
    #expect(error.position == position, "\(error.message)")
  }

  @Test("refuse arguments that do not fit") func refusesArguments() throws {
    for arguments in ["[]", #"["x"]"#, "[1,2]", "[1.5]", "7", #"{"foo":1}"#, "[1"] {
      #expect(throws: QueryError.self) { try Query(format: "a = %d", arguments: arguments) }
    }
    #expect(throws: QueryError.self) { try Query(format: "%K = 1", arguments: #"["a..b"]"#) }
  }

  @Test("bound their nesting") func boundsNesting() throws {
    for deep in [
      String(repeating: "(", count: 10_000) + "a = 1" + String(repeating: ")", count: 10_000),
      String(repeating: "NOT (", count: 10_000), String(repeating: "{", count: 10_000),
      "a" + String(repeating: ".b", count: 10_000) + " = 1",
      String(repeating: "a[", count: 10_000), "a = 1" + String(repeating: "+1", count: 10_000),
      String(repeating: "-", count: 100_000) + "1 = a", String(repeating: "abs(", count: 10_000),
    ] {
      if deep.hasPrefix("-") {
        #expect(try Query(format: deep).filterText == #"{"a":1}"#)
      } else {
        #expect(throws: QueryError.self) { try Query(format: deep) }
      }
    }
  }

  @Test(
    "select by Apple's rules what MongoDB has no form for",
    arguments: [
      ("a > b", #"{"a":2,"b":1}"#, true), ("a > b", #"{"a":2}"#, false), ("a = b", "{}", true),
      ("a = b", #"{"a":null}"#, true),
      ("a + b * 2 = 7", #"{"a":1,"b":3}"#, true), ("a / b = 3.5", #"{"a":7,"b":2}"#, true),
      ("a / b > 0", #"{"a":7,"b":0}"#, false),
      ("ALL a > 1", #"{"a":[2,3]}"#, true), ("ALL a > 1", #"{"a":[2,1]}"#, false),
      ("ALL a > 1", "{}", true), ("ALL a > 1", #"{"a":[]}"#, true),
      ("ALL a > 1", #"{"a":2}"#, true), ("ANY a != 1", #"{"a":[1,2]}"#, true),
      ("ANY a != 1", #"{"a":[1]}"#, false), ("ANY a.b != 1", #"{"a":[{"b":1},{}]}"#, true),
      ("NONE a != 1", "{}", true), ("a.@sum.b = 3", #"{"a":[{"b":1},{},{"b":2}]}"#, true),
      ("a.@avg.b = 1", #"{"a":[{"b":1},{},{"b":2}]}"#, true),
      ("a.@max.b = 2", #"{"a":[{"b":1},{},{"b":2}]}"#, true),
      ("a.@min.b = 1", #"{"a":[{"b":1},{},{"b":2}]}"#, true),
      ("a.@min.b = nil", #"{"a":[]}"#, true),
      ("a[LAST] = 3", #"{"a":[1,3]}"#, true), ("a[i] = 3", #"{"a":[1,3],"i":1}"#, true),
      ("a.@count > 30", #"{"a":[1]}"#, false),
      (
        "SUBQUERY(a, $x, $x.b > 1 AND $x.c = 2).@count = 1",
        #"{"a":[{"b":2,"c":2},{"b":2,"c":1}]}"#, true
      ),
      (
        "SUBQUERY(a, $x, $x.b = limit).@count = 2", #"{"limit":1,"a":[{"b":1},{"b":1},{"b":2}]}"#,
        true
      ),
      (
        "SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y > limit).@count > 0).@count = 1",
        #"{"limit":1,"a":[{"b":[1]},{"b":[2]}]}"#, true
      ),
      ("a ==[d] 'Zurich'", #"{"a":"Zürich"}"#, true),
      ("a BEGINSWITH[cd] 'zÜR'", #"{"a":"Zurich"}"#, true),
      ("a CONTAINS[cd] 'ΟΔΟΣ'", #"{"a":"Ὀδός"}"#, true),
      ("a LIKE[d] 'caf?'", #"{"a":"café"}"#, true),
      ("a MATCHES[cd] 'CAF[E]'", #"{"a":"café"}"#, true),
      ("a ==[d] 'e'", #"{"a":["x","é"]}"#, true), ("a ENDSWITH[cd] 'ÉÉ'", #"{"a":"xee"}"#, true),
      ("a <[c] 'b'", #"{"a":"A"}"#, true), ("a BEGINSWITH b", #"{"a":"xyz","b":"xy"}"#, true),
      ("a IN b", #"{"a":1,"b":[1,2]}"#, true), ("a IN b", #"{"a":"y","b":"xyz"}"#, true),
      ("TERNARY(a > 1, b, c) = 5", #"{"a":2,"b":5}"#, true),
      ("a BETWEEN {b, c}", #"{"a":2,"b":1,"c":3}"#, true), ("length(a) = 3", #"{"a":"abc"}"#, true),
      ("uppercase(a) = 'É'", #"{"a":"é"}"#, true), ("sqrt(a) = 3", #"{"a":9}"#, true),
      ("average(a) = 2", #"{"a":[1,3]}"#, true), ("median(a) = 2", #"{"a":[9,1,2]}"#, true),
      ("median(a) = 2.5", #"{"a":[4,null,1,"x",2,3]}"#, true), ("median(a) = nil", "{}", true),
      ("'x' IN mode(a)", #"{"a":["x",1,1.0,"x",3]}"#, true),
      ("1 IN mode(a)", #"{"a":["x",1,1.0,"x",3]}"#, true),
      ("3 IN mode(a)", #"{"a":["x",1,1.0,"x",3]}"#, false),
      ("mode(a) = nil", #"{"a":[null]}"#, true),
      ("stddev(a) = 2", #"{"a":[2,4,4,4,5,5,7,9]}"#, true), ("stddev(a) = nil", "{}", true),
      ("CAST(d, 'NSNumber') = 1.5", #"{"d":"2001-01-01T00:00:01.500Z"}"#, true),
      ("CAST(a, 'NSNumber') = 5", #"{"a":"5"}"#, true),
      ("a = TRUE AND b = c", #"{"a":1}"#, false), ("a > b AND b = 1", #"{"a":2,"b":1}"#, true),
      ("a LIKE b", #"{"a":"xyz","b":"x*"}"#, true), ("SELF.a > b", #"{"a":2,"b":1}"#, true),
    ] as [(String, String, Bool)])
  func selects(format: String, entity: String, isSelected: Bool) throws {
    let query = try Query(format: format)
    #expect(!query.isRemote)
    #expect(try Matcher(query.filter).matches(Array(entity.utf8)) == isSelected)
    let again = try Query(filter: query.filterText)
    #expect(again.filter == query.filter, "\(query.filterText)")
  }

  @Test(
    "print as formats that read back",
    arguments: [
      #"{"a":1,"b":{"$in":["x",-2.5,null]}}"#,
      #"{"$or":[{"a.b.0":{"$ne":"q\"\\"}},{"$nor":[{"c":{"$lte":5}}]}]}"#,
      #"{"a":{"$not":{"$eq":true}}}"#,
      #"{"a b":{"$eq":{"x":[1]}}}"#, #"{"a":{"$elemMatch":{"b":1}}}"#,
      #"{"a":{"$regex":"^x","$options":"i"}}"#, #"{}"#, #"{"acl":1,"100%":2}"#,
    ])
  func printsFormats(filter: String) throws {
    let query = try Query(filter: filter)
    let (text, arguments) = query.filter.format
    let values = "[" + arguments.map(\.text).joined(separator: ",") + "]"
    #expect(try Query(format: text, arguments: values).filterText == query.filterText, "\(text)")
  }

  @Test("ask a backend for no less than they select") func remoteSuperset() throws {
    func superset(_ format: String) throws -> String {
      try Query(format: format).remoteSuperset.filterText
    }
    #expect(try superset("a = 1 AND b > c") == #"{"a":1}"#)
    #expect(try superset("a = 1 OR b > c") == "{}")
    #expect(try superset("NOT (a = 1 OR b > c)") == "{}")
    #expect(
      try superset("(a = 1 OR (b = 2 AND c > d)) AND e = 3") == #"{"$or":[{"a":1},{"b":2}],"e":3}"#)
  }

  @Test("know what time it is, once") func now() throws {
    let before = Timestamp.now()
    let query = try Query(format: "a > now() AND b > CAST(CAST(now(), 'NSNumber') - 60, 'NSDate')")
    #expect(query.isRemote)
    let filter = query.filterText.split(separator: "\"").map(String.init)
    let (now, past) = try (#require(filter.dropFirst(5).first), #require(filter.dropLast().last))
    let read = try #require(Timestamp(now))
    #expect(before <= read && read <= Timestamp.now())
    #expect(Timestamp(past)?.milliseconds == read.milliseconds - 60_000)
  }

  @Test("end in bounded time") func bounded() throws {
    let entity = #"{"a":["# + (0..<300).map { String($0) }.joined(separator: ",") + "]}"
    let query = try Query(
      format:
        "SUBQUERY(a, $x, SUBQUERY(a, $y, SUBQUERY(a, $z, $x + $y + $z = -1).@count > 0).@count > 0).@count > 0"
    )
    #expect(throws: QueryError.self) { try Matcher(query.filter).matches(Array(entity.utf8)) }
  }
}
