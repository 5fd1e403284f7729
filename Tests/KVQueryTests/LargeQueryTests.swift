import Glibc
import KVJSON
import KVQuery
import Testing

/// Requests that are long, but not hard: what they take grows with their length, not with its square.
@Suite("Large queries") struct LargeQueryTests {
  /// The processor time of this thread, which does not depend on what else the machine does.
  private func seconds(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = now()
    try body()
    return now() - start
  }

  private func list(_ count: Int, _ element: (Int) -> String) -> String {
    (0..<count).map(element).joined(separator: ",")
  }

  @Test("look twenty thousand alternatives for one member up at once")
  func alternatives() throws {
    let query = try Query(
      filter: "{\"$or\":[\(list(20_000) { "{\"n\":\(3 * $0)}" }),{\"n\":null}]}")
    let matcher = try #require(query.matcher)
    let time = try seconds {
      for number in 0..<20_000 {
        let matches = try matcher.matches(Array("{\"n\":[\"x\",\(number)]}".utf8))
        #expect(matches == (number % 3 == 0))
      }
    }
    #expect(time < 10)
    #expect(try matcher.matches(Array("{}".utf8)))
    #expect(try matcher.matches(Array("{\"n\":3.0}".utf8)))
  }

  @Test("keep alternatives of other kinds, and exclude what is negated")
  func mixed() throws {
    let many = list(20) { "{\"n\":\($0)}" }
    let filter =
      "\(many),{\"m\":{\"$in\":[1,2]}},{\"m\":{\"$gt\":7}},{\"n\":{\"$eq\":99,\"$exists\":true}}"
    let some = try #require(try Query(filter: "{\"$or\":[\(filter)]}").matcher)
    let none = try #require(try Query(filter: "{\"$nor\":[\(filter)]}").matcher)
    for (entity, isIn) in [
      ("{\"n\":19}", true), ("{\"n\":20}", false), ("{\"m\":2}", true), ("{\"m\":8}", true),
      ("{\"m\":7,\"n\":-1}", false), ("{\"n\":99}", true), ("{}", false),
    ] {
      #expect(try some.matches(Array(entity.utf8)) == isIn, "\(entity)")
      #expect(try none.matches(Array(entity.utf8)) != isIn, "\(entity)")
    }
  }

  @Test("prepare thousands of members in time that grows with their number")
  func members() throws {
    let filter = "{\"$or\":[\(list(20_000) { "{\"m\($0)\":1}" })]}"
    var matcher: Matcher?
    let time = try seconds {
      matcher = try Query(filter: filter).matcher
      for number in 0..<20 {
        _ = try matcher?.matches(Array("{\"m\(number * 1000)\":2,\"x\":1}".utf8))
      }
    }
    #expect(try matcher?.matches(Array("{\"m19999\":1}".utf8)) == true)
    #expect(try matcher?.matches(Array("{\"\\u006d19999\":1}".utf8)) == true)
    #expect(time < 10)
  }

  @Test("cut entities down to twenty thousand fields")
  func fields() throws {
    let names = (0..<20_000).map { "f\($0)" }
    let entity = Array("{\"_id\":\"1\",\(list(2_000) { "\"f\(10 * $0)\":\($0)" }),\"x\":1}".utf8)
    var out: [UInt8] = []
    let time = seconds {
      let projection = Projection(Query.fields(parsing: names.joined(separator: ",")))
      for _ in 0..<10 { out = projection.apply(to: entity) }
    }
    #expect(out.count == entity.count - ",\"x\":1".utf8.count)
    #expect(time < 10)
  }

  @Test("find fields by their escaped names, few or many")
  func escapes() {
    for count in [1, 100] {
      let fields = ["a", "é", "\n", ""] + (0..<count).map { "f\($0)" }
      let entity = #"{"\u0061":1,"\u00e9":2,"b":3,"\n":4,"":5,"f0":6}"#
      let shown = Projection(fields.map { Path($0) }).apply(to: Array(entity.utf8))
      #expect(
        String(decoding: shown, as: UTF8.self) == #"{"\u0061":1,"\u00e9":2,"\n":4,"":5,"f0":6}"#)
    }
  }

  @Test("compute three thousand aggregates")
  func aggregates() throws {
    let aggregates = list(3000) { "\"a\($0)\":{\"max\":\"n\($0 % 1000)\"}" }
    let text = "{\"keys\":[\"k\"],\"aggregates\":{\(aggregates)}}"
    var results: [JSONObject] = []
    let time = try seconds {
      var groups = Groups(try Grouping(parsing: text))
      for number in 0..<1000 {
        groups.add(Array("{\"k\":\(number % 10),\"n\(number)\":\(number)}".utf8))
      }
      results = groups.results
    }
    #expect(results.count == 10)
    #expect(results[3]["a13"] == 13 && results[3]["a2013"] == 13 && results[3]["a14"] == .null)
    #expect(time < 10)
  }
}
