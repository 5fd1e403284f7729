import KVJSON
import KVQuery
import Testing

/// Every production of Apple's "BNF Definition of Cocoa Predicates" and "Predicate Format String Syntax", in their
/// order, and what is next to each but no part of it.
@Suite("The syntax of predicate formats") struct PredicateSyntaxTests {
  /// A format and the MongoDB filter that means the same.
  @Test(
    "becomes a filter where MongoDB has one",
    arguments: [
      // NSPredicate
      ("a = 1", #"{"a":1}"#), ("(a = 1)", #"{"a":1}"#), ("((a = 1))", #"{"a":1}"#),
      ("TRUEPREDICATE", "{}"), ("falsepredicate", #"{"$nor":[{}]}"#),
      // NSCompoundPredicate
      ("a = 1 AND b = 2", #"{"a":1,"b":2}"#), ("a = 1 && b = 2", #"{"a":1,"b":2}"#),
      ("a = 1 or b = 2", #"{"$or":[{"a":1},{"b":2}]}"#),
      ("a = 1 || b = 2", #"{"$or":[{"a":1},{"b":2}]}"#),
      ("a = 1 OR b = 2 AND c = 3", #"{"$or":[{"a":1},{"b":2,"c":3}]}"#),
      ("NOT a = 1", #"{"a":{"$not":{"$eq":1}}}"#), ("!a = 1", #"{"a":{"$not":{"$eq":1}}}"#),
      ("NOT a = 1 AND b = 2", #"{"a":{"$not":{"$eq":1}},"b":2}"#),
      // Operations
      ("a == 1", #"{"a":1}"#), ("a != 1", #"{"a":{"$ne":1}}"#), ("a <> 1", #"{"a":{"$ne":1}}"#),
      ("a < 1", #"{"a":{"$lt":1}}"#), ("a > 1", #"{"a":{"$gt":1}}"#),
      ("a <= 1", #"{"a":{"$lte":1}}"#), ("a =< 1", #"{"a":{"$lte":1}}"#),
      ("a >= 1", #"{"a":{"$gte":1}}"#), ("a => 1", #"{"a":{"$gte":1}}"#),
      ("a BETWEEN {1, 5}", #"{"$and":[{"a":{"$gte":1}},{"a":{"$lte":5}}]}"#),
      ("a CONTAINS 'x'", #"{"a":{"$regex":".*x.*"}}"#), ("a IN {1, 2}", #"{"a":{"$in":[1,2]}}"#),
      ("a BEGINSWITH 'x'", #"{"a":{"$regex":"^x"}}"#),
      ("a ENDSWITH 'x'", #"{"a":{"$regex":".*x$(?!\\n)"}}"#),
      ("a LIKE 'x*'", #"{"a":{"$regex":"^x.*$(?!\\n)","$options":"s"}}"#),
      ("a MATCHES 'x+'", #"{"a":{"$regex":"^(?:x+)$(?!\\n)"}}"#),
      ("a BEGINSWITH[c] 'x'", #"{"a":{"$regex":"^x","$options":"i"}}"#),
      ("a LIKE [c] 'x'", #"{"a":{"$regex":"^x$(?!\\n)","$options":"is"}}"#),
      ("a ==[c] 'x'", #"{"a":{"$regex":"^x$(?!\\n)","$options":"i"}}"#),
      ("a BEGINSWITH[n] 'x'", #"{"a":{"$regex":"^x"}}"#),
      // Aggregate qualifier
      ("ANY a = 1", #"{"a":1}"#), ("SOME a > 1", #"{"a":{"$gt":1}}"#),
      ("NONE a = 1", #"{"a":{"$not":{"$eq":1}}}"#),
      // Expression, value expression, literal value
      ("(a) = (1)", #"{"a":1}"#), ("a = NULL", #"{"a":null}"#), ("a = nil", #"{"a":null}"#),
      ("a = TRUE AND b = no", #"{"a":true,"b":false}"#),
      ("a = YES AND b = FALSE", #"{"a":true,"b":false}"#), ("SELF.a = 1", #"{"a":1}"#),
      (#"a = "it's""#, #"{"a":"it's"}"#), (#"a = 'say "x"'"#, #"{"a":"say \"x\""}"#),
      // Escapes in texts and names
      (#"a = '\'\"\\\n\t\r'"#, #"{"a":"'\"\\\n\t\r"}"#),
      (#"a = '\x41\101\u00e9\U00E9'"#, #"{"a":"AAéé"}"#), (#"a = '\uD83D\uDE00'"#, #"{"a":"😀"}"#),
      (#"a = '\x00'"#, #"{"a":"\u0000"}"#), (#"na\u00efve = 1"#, #"{"naïve":1}"#),
      (#"\101b = 1"#, #"{"Ab":1}"#), ("#and = 1", #"{"and":1}"#), ("#SIZE = 1", #"{"SIZE":1}"#),
      // Keypath expression
      ("a.b.c = 1", #"{"a.b.c":1}"#), ("a.first = 1", #"{"a.first":1}"#),
      ("a.self = 1", #"{"a":1}"#), ("a.#self = 1", #"{"a.self":1}"#), ("a.b%% = 1", #"{"a.b%":1}"#),
      ("a.@count = 2", #"{"a":{"$size":2}}"#),
      (
        "a.b.@count = 2",
        #"{"$or":[{"$and":[{"a":{"$type":"array"}},{"a":{"$size":2}}]},{"a":{"$not":{"$type":"array"}},"a.b":{"$size":2}}]}"#
      ),
      // Literal aggregate
      ("a IN {}", #"{"a":{"$in":[]}}"#), ("a IN {1, 'x', nil}", #"{"a":{"$in":[1,"x",null]}}"#),
      ("a = {1, {2}}", #"{"a":[1,[2]]}"#),
      ("{'red', 'blue'} CONTAINS a", #"{"a":{"$in":["red","blue"]}}"#),
      // Index expression
      ("a[0] = 1", #"{"a.0":1}"#), ("a[1].b = 1", #"{"a.1.b":1}"#),
      ("a[0][1] = 1", #"{"a.0.1":1}"#),
      ("a['b'] = 2", #"{"a.b":2}"#), (#"a["b c"]['d'] = 2"#, #"{"a.b c.d":2}"#),
      ("SELF['a'] = 2", #"{"a":2}"#), ("a[FIRST] = 1", #"{"a.0":1}"#),
      ("a[SIZE] = 1", #"{"a":{"$size":1}}"#), ("a[1 + 1] = 1", #"{"a.2":1}"#),
      (
        "a.b[0] = 1",
        #"{"$or":[{"a":{"$type":"array"},"a.0.b":1},{"a":{"$not":{"$type":"array"}},"a.b.0":1}]}"#
      ),
      // Binary expression
      ("a = 1 + 2 - 4", #"{"a":-1}"#), ("a = 2 * 3 / 4", #"{"a":1.5}"#),
      ("a = 2 ** 3", #"{"a":8}"#),
      ("a = -1", #"{"a":-1}"#), ("a = 2 - -1", #"{"a":3}"#), ("a = 2 + 3 * 2 ** 2", #"{"a":14}"#),
      // Function expression
      ("a = sum({1, 2})", #"{"a":3}"#), ("a = count({1, 2})", #"{"a":2}"#),
      ("a = min({1, 2})", #"{"a":1}"#), ("a = max({1, 2})", #"{"a":2}"#),
      ("a = average({1, 2})", #"{"a":1.5}"#), ("a = median({1, 2, 9})", #"{"a":2.0}"#),
      ("a = stddev({1, 3})", #"{"a":1.0}"#), ("a = sqrt(4)", #"{"a":2.0}"#),
      ("a = log(100)", #"{"a":2.0}"#), ("a = ln(1)", #"{"a":0.0}"#), ("a = exp(0)", #"{"a":1.0}"#),
      ("a = floor(1.5)", #"{"a":1.0}"#), ("a = ceiling(1.5)", #"{"a":2.0}"#),
      ("a = abs(-1)", #"{"a":1}"#), ("a = trunc(-1.5)", #"{"a":-1.0}"#),
      ("a IN mode({1, 1, 2})", #"{"a":{"$in":[1]}}"#),
      // Numeric value
      ("a = 0x1F", #"{"a":31}"#), ("a = 0X1f", #"{"a":31}"#), ("a = 0o17", #"{"a":15}"#),
      ("a = 0b101", #"{"a":5}"#), ("a = 30.", #"{"a":30.0}"#), ("a = .5", #"{"a":0.5}"#),
      ("a = 1.5e3", #"{"a":1500.0}"#), ("a = 1e-2", #"{"a":0.01}"#),
      ("a IN {1., 2}", #"{"a":{"$in":[1.0,2]}}"#),
      ("a = 007", #"{"a":7}"#),
    ] as [(String, String)])
  func filters(format: String, filter: String) throws {
    let query = try Query(format: format)
    #expect(query.filterText == filter)
    #expect(try Query(filter: query.filterText).filterText == filter)
  }

  /// A format, an entity that it selects and one that it does not.
  @Test(
    "selects what Apple's rules select",
    arguments: [
      ("nums.@sum.self = 6", #"{"nums":[1,2,3]}"#, #"{"nums":[1,2]}"#),
      ("nums.@avg.self = 2", #"{"nums":[1,2,3]}"#, #"{"nums":[1]}"#),
      ("nums.@max.self = 3", #"{"nums":[1,2,3]}"#, #"{"nums":[1]}"#),
      ("nums.@min.self = 1", #"{"nums":[1,2,3]}"#, #"{"nums":[2]}"#),
      ("@sum.nums = 3", #"{"nums":[1,2]}"#, "{}"),
      ("items.@sum.a.b = 3", #"{"items":[{"a":{"b":1}},{"a":{"b":2}}]}"#, #"{"items":[]}"#),
      ("owner['level'] = 2", #"{"owner":{"level":2}}"#, #"{"owner":{"level":1}}"#),
      ("owner[key] = 2", #"{"owner":{"x":2},"key":"x"}"#, #"{"owner":{"x":2},"key":"y"}"#),
      ("owner['a.b'] = 2", #"{"owner":{"a.b":2}}"#, #"{"owner":{"a":{"b":2}}}"#),
      ("SELF['a.b'] = 2", #"{"a.b":2}"#, #"{"a":{"b":2}}"#),
      ("SELF['$a'] = 2", #"{"$a":2}"#, #"{"a":2}"#),
      ("{'red','blue'} CONTAINS name", #"{"name":"red"}"#, #"{"name":"re"}"#),
      ("{a, 'blue'} CONTAINS name", #"{"name":"x","a":"x"}"#, #"{"name":"x","a":"xy"}"#),
      ("{'Red'} CONTAINS[c] name", #"{"name":"red"}"#, #"{"name":"re"}"#),
      ("{{1}, {2, 3}} CONTAINS a", #"{"a":[2,3]}"#, #"{"a":[2]}"#),
      ("items.qty.@count = 2", #"{"items":[{"qty":1},{}]}"#, #"{"items":[{"qty":[1,2]}]}"#),
      ("items.qty.@count = 2", #"{"items":{"qty":[1,2]}}"#, #"{"items":{"qty":[1]}}"#),
      ("items.qty.@count != 2", #"{"items":[{"qty":[1,2]}]}"#, #"{"items":[{},{}]}"#),
      ("items.qty.@count > 1", #"{"items":[{},{}]}"#, #"{"items":[{"qty":[1,2,3]}]}"#),
      ("items.a.b.@count = 2", #"{"items":{"a":[{"b":1},{}]}}"#, #"{"items":[{"a":[1,2]}]}"#),
      ("items.qty[SIZE] = 2", #"{"items":[{"qty":1},{}]}"#, #"{"items":[{"qty":[1,2]}]}"#),
      (
        "items.sku[0] = 'x'", #"{"items":[{"sku":"x"},{"sku":"y"}]}"#,
        #"{"items":[{"sku":"y"},{"sku":"x"}]}"#
      ),
      ("items.sku[0] = 'x'", #"{"items":{"sku":["x"]}}"#, #"{"items":{"sku":["y","x"]}}"#),
      ("items.sku[0] != 'x'", #"{"items":[{},{"sku":"x"}]}"#, #"{"items":[{"sku":"x"}]}"#),
      ("items.a[1].b = 1", #"{"items":[{},{"a":{"b":1}}]}"#, #"{"items":[{"a":{"b":1}}]}"#),
      // Of the first element only, whatever the others lack.
      (
        "items[0].color = nil", #"{"items":[{"size":1},{"color":1}]}"#,
        #"{"items":[{"color":1},{}]}"#
      ),
      ("items[0].color = nil", #"{"items":[]}"#, #"{"items":[{"color":1}]}"#),
      ("items[0].color != nil", #"{"items":[{"color":1},{}]}"#, #"{"items":[{},{"color":1}]}"#),
      ("items[1] = nil", #"{"items":[{}]}"#, #"{"items":[{},{}]}"#),
      (
        "items[0].color IN {nil, 2}", #"{"items":[{"color":2},{}]}"#, #"{"items":[{"color":1},{}]}"#
      ),
      ("items.sku[0] = nil", #"{"items":[{},{"sku":"x"}]}"#, #"{"items":[{"sku":"x"},{}]}"#),
      ("NOT items[0].color = nil", #"{"items":[{"color":1},{}]}"#, #"{"items":[{}]}"#),
      ("items.sku[LAST] = 'x'", #"{"items":[{},{"sku":"x"}]}"#, #"{"items":[{"sku":"x"},{}]}"#),
      (
        "items.sku[n] = 'x'", #"{"n":1,"items":[{},{"sku":"x"}]}"#,
        #"{"n":0,"items":[{},{"sku":"x"}]}"#
      ),
      ("a IN b", #"{"a":1,"b":{"x":1}}"#, #"{"a":"x","b":{"x":1}}"#),
      ("ALL a = 1", #"{"a":[1,1]}"#, #"{"a":[1,2]}"#),
      ("a BETWEEN {b, c}", #"{"a":2,"b":1,"c":3}"#, #"{"a":4,"b":1,"c":3}"#),
      ("a BETWEEN b", #"{"a":2,"b":[1,3]}"#, #"{"a":2,"b":[1]}"#),
      ("a = uppercase('x')", #"{"a":"X"}"#, #"{"a":"x"}"#),
      ("a ==[cd] 'É'", #"{"a":"e"}"#, #"{"a":"f"}"#), ("a <[c] 'b'", #"{"a":"A"}"#, #"{"a":"B"}"#),
      ("TERNARY(a > 1, b, c) = 5", #"{"a":2,"b":5}"#, #"{"a":1,"b":5}"#),
      ("SUBQUERY(a, $x, $x > 1).@count = 1", #"{"a":[1,2]}"#, #"{"a":[1]}"#),
      ("a - -b = 3", #"{"a":1,"b":2}"#, #"{"a":3,"b":2}"#),
    ] as [(String, String, String)])
  func selects(format: String, selected: String, left: String) throws {
    let query = try Query(format: format)
    #expect(try Matcher(query.filter).matches(Array(selected.utf8)))
    #expect(try !Matcher(query.filter).matches(Array(left.utf8)))
    let (text, arguments) = query.filter.format
    let again = try Query(format: text, arguments: JSONValue.array(arguments).text)
    #expect(again.filter == query.filter, "\(text)")
  }

  @Test("takes key paths and values from its arguments")
  func takesArguments() throws {
    func filter(_ format: String, _ arguments: String) throws -> String {
      try Query(format: format, arguments: arguments).filterText
    }
    #expect(try filter("%K = %@", #"["a.b",1]"#) == #"{"a.b":1}"#)
    #expect(try filter("%K = 2", #"["a.@count"]"#) == #"{"a":{"$size":2}}"#)
    #expect(try filter("%K = 2", #"["a.self"]"#) == #"{"a":2}"#)
    #expect(try filter("a.%K.c = 2", #"["b"]"#) == #"{"a.b.c":2}"#)
    #expect(try filter("a IN %@", #"[{"x":1,"y":2}]"#) == #"{"a":{"$in":[1,2]}}"#)
    #expect(
      try filter("a BETWEEN %@", "[[1,2]]") == #"{"$and":[{"a":{"$gte":1}},{"a":{"$lte":2}}]}"#)
    #expect(try filter("%@ CONTAINS a", #"[["x"]]"#) == #"{"a":{"$in":["x"]}}"#)
  }

  @Test("adds what a key path in an argument says")
  func aggregatesOfArguments() throws {
    for (path, isSelected) in [("items.@sum.price", true), ("items.@max.price", false)] {
      let query = try Query(format: "%K = 30", arguments: #"["\#(path)"]"#)
      let entity = Array(#"{"items":[{"price":10},{"price":20}]}"#.utf8)
      #expect(try Matcher(query.filter).matches(entity) == isSelected)
    }
    for path in ["items.@sum", "items.@foo.price", "@", "a..b", ""] {
      #expect(throws: QueryError.self) {
        try Query(format: "%K = 30", arguments: #"["\#(path)"]"#)
      }
    }
  }

  @Test("never makes an operator of a key path")
  func operatorsInPaths() throws {
    let query = try Query(format: "%K = %@", arguments: #"["$or",[{"a":1}]]"#)
    #expect(!query.isRemote)
    #expect(try Matcher(query.filter).matches(Array(#"{"$or":[{"a":1}]}"#.utf8)))
    #expect(try !Matcher(query.filter).matches(Array(#"{"a":1}"#.utf8)))
  }

  /// What is no part of the syntax, and where that shows.
  @Test(
    "is refused where it is left",
    arguments: [
      ("a BETWEEN 18", 10), ("a BETWEEN {18}", 10), ("a BETWEEN {1, 2, 3}", 10),
      ("a BETWEEN nil", 10),
      ("a BETWEEN[c] {1, 2}", 9), ("+ age = 30", 0), ("a = +30", 4), ("a**", 3), ("a ** = 2", 5),
      ("name [c] LIKE 'x'", 6), ("name[cd] = 'x'", 5), ("a LIKE 5", 7), ("a BEGINSWITH {'x'}", 13),
      ("a MATCHES TRUE", 10), ("a =[cc] 'x'", 4), ("a =[x] 'x'", 4), ("a[-1] = 1", 2),
      ("a[1.5] = 1", 2), ("a[nil] = 1", 2), ("a[{1}] = 1", 2), ("a[] = 1", 2), ("a[0 = 1", 2),
      ("5.a = 1", 1), ("'x'.a = 1", 3), ("nil[0] = 1", 3), ("a.@sum = 1", 7), ("a.@foo.b = 1", 3),
      ("a.(b) = 1", 2), ("0b = a", 2), ("0b12 = a", 3), ("0o8 = a", 2), ("0x = a", 2),
      ("1e = a", 2),
      ("30.e = a", 2), ("a = 9999999999999999999999e999", 4), ("a = '\\x4'", 5), ("a = '\\u12'", 5),
      ("a = '\\uD83D'", 11), ("a = '\\uDE00'", 11), ("$x := 5", 0), ("a UTI-CONFORMS-TO 'x'", 2),
      ("a & 4 = 4", 2), ("a = ~b", 4), ("a << 2 = 4", 3), ("FETCH = 1", 0), ("ANYKEY = 1", 0),
      ("random() = 1", 0), ("FUNCTION(a, 'b') = 1", 0), ("noindex:(a) = 1", 7), ("a = %5d", 4),
      ("ANY (a = 1)", 11), ("ANY ALL a = 1", 4), ("a LIKE 'x' LIKE 'y'", 11), ("a < b < c", 6),
      ("a = 1 AND", 9), ("AND a = 1", 0), ("NOT", 3), ("()", 1), ("a = {1,}", 7), ("a = {1 2}", 7),
      ("sum() = 1", 4), ("sqrt(1, 2) = a", 11), ("CASEINSENSITIVE = 1", 0), ("a", 1), ("a = ", 4),
    ] as [(String, Int)])
  func refused(format: String, position: Int) throws {
    let error = try #require(throws: QueryError.self) {
      try Query(format: format, arguments: format.contains("%") ? "[1]" : nil)
    }
    #expect(error.kind == .syntax)
    #expect(error.position == position, "\(error.message)")
  }
}
