import KVJSON
import KVQuery
import Testing

@Suite("Places") struct PlacesTests {
  @Test(
    "are selected by region",
    arguments: [
      (#"{"$centerSphere":[[13.4,52.5],0.001]}"#, [13.45, 52.52], true),
      (#"{"$centerSphere":[[13.4,52.5],0.001]}"#, [13.6, 52.5], false),
      (#"{"$centerSphere":[[179.99,0],0.001]}"#, [-179.99, 0], true),
      (#"{"$centerSphere":[[0,89.99],0.001]}"#, [180, 89.99], true),
      (#"{"$center":[[0,0],1]}"#, [0.6, 0.8], true),
      (#"{"$center":[[0,0],1]}"#, [0.7, 0.8], false),
      (#"{"$box":[[5,40],[10,50]]}"#, [5, 50], true),
      (#"{"$box":[[5,40],[10,50]]}"#, [4.9, 45], false),
      (#"{"$box":[[170,-10],[-170,10]]}"#, [-175, 0], true),
      (#"{"$box":[[170,-10],[-170,10]]}"#, [0, 0], false),
      (#"{"$polygon":[[0,0],[10,0],[10,10],[0,10]]}"#, [5, 5], true),
      (#"{"$polygon":[[0,0],[10,0],[10,10],[0,10]]}"#, [10, 5], true),
      (#"{"$polygon":[[0,0],[10,0],[0,10]]}"#, [6, 6], false),
      (#"{"$polygon":[[0,0],[10,0],[10,10],[0,10],[0,0]]}"#, [11, 5], false),
      (#"{"$polygon":[[170,-10],[-170,-10],[-170,10],[170,10]]}"#, [180, 0], true),
      (#"{"$polygon":[[170,-10],[-170,-10],[-170,10],[170,10]]}"#, [-175, 0], true),
      (#"{"$polygon":[[170,-10],[-170,-10],[-170,10],[170,10]]}"#, [0, 0], false),
      (#"{"$polygon":[[0,60],[90,60],[180,60],[-90,60]]}"#, [45, 85], true),
      (#"{"$polygon":[[0,60],[90,60],[180,60],[-90,60]]}"#, [-135, 89], true),
      (#"{"$polygon":[[0,60],[90,60],[180,60],[-90,60]]}"#, [45, 50], false),
      (#"{"$polygon":[[0,-60],[90,-60],[180,-60],[-90,-60]]}"#, [170, -80], true),
    ] as [(String, [Double], Bool)])
  func inRegion(shape: String, point: [Double], isInside: Bool) throws {
    for name in ["$geoWithin", "$within"] {
      #expect(
        try matches(
          #"{"_geoloc":{"\#(name)":\#(shape)}}"#, #"{"_geoloc":[\#(point[0]),\#(point[1])]}"#)
          == isInside)
    }
  }

  @Test("are selected within a distance in miles") func near() throws {
    let filter = #"{"_geoloc":{"$nearSphere":[-71.06,42.36],"$maxDistance":10}}"#
    #expect(try matches(filter, #"{"_geoloc":[-71.11,42.37]}"#))
    #expect(try !matches(filter, #"{"_geoloc":[-71.80,42.26]}"#))
    #expect(try matches(filter, #"{"_geoloc":{"type":"Point","coordinates":[-71.11,42.37]}}"#))
    #expect(try matches(filter, #"{"_geoloc":[[0,0],[-71.11,42.37]]}"#))
    for nowhere in ["[]", "[1]", "[1,2,3]", #"["a","b"]"#, "[200,0]", "7", "null", "{}"] {
      #expect(try !matches(#"{"_geoloc":{"$near":[0,0]}}"#, #"{"_geoloc":\#(nowhere)}"#))
    }
    let metres =
      #"{"l":{"$near":{"$geometry":{"type":"Point","coordinates":[0,0]},"$maxDistance":112000}}}"#
    #expect(try matches(metres, #"{"l":[1,0]}"#))
    #expect(try !matches(metres, #"{"l":[1.01,0]}"#))
  }

  @Test("come nearest first, unless another order is asked for") func ordered() throws {
    let entities = ["[170,0]", "[-179,0]", "[179.5,0]", "[0,89]"].map {
      Array(#"{"_geoloc":\#($0)}"#.utf8)
    }
    let query = try Query(filter: #"{"a":null,"_geoloc":{"$nearSphere":[180,0]}}"#)
    let sorter = try #require(query.sorter)
    let keys = entities.map { sorter.key(of: $0) }
    #expect(keys.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) } == [2, 1, 0, 3])
    #expect(query.sortText == nil)
    #expect(try Query(filter: #"{"a":1}"#).sorter == nil)
  }

  @Test(
    "say where they are wrong",
    arguments: [
      (#"{"a":{"$near":5}}"#, 6), (#"{"a":{"$near":[181,0]}}"#, 6),
      (#"{"a":{"$maxDistance":5}}"#, 6), (#"{"a":{"$near":[0,0],"$maxDistance":-1}}"#, 6),
      (#"{"a":{"$geoWithin":{}}}"#, 6), (#"{"a":{"$geoWithin":{"$foo":1}}}"#, 20),
      (#"{"a":{"$geoWithin":{"$box":[[0,10],[0,0]]}}}"#, 20),
      (#"{"a":{"$geoWithin":{"$polygon":[[0,0],[1,1]]}}}"#, 20),
      (#"{"a":{"$geoWithin":{"$centerSphere":[[0,0]]}}}"#, 20),
    ] as [(String, Int)])
  func saysWhere(filter: String, position: Int) throws {
    let error = try #require(throws: QueryError.self) { try Query(filter: filter) }
    #expect(error.position == position)
  }

  @Test("are arguments of formats") func arguments() throws {
    let circle = try Query(
      format: "_geoloc = %@", arguments: #"[{"$circle":{"center":[13.4,52.5],"radius":6371}}]"#)
    #expect(
      circle.filterText == #"{"_geoloc":{"$geoWithin":{"$centerSphere":[[13.4,52.5],0.001]}}}"#)
    let polygon = try Query(
      format: "NOT (p IN %@)", arguments: #"[{"$polygon":[[0,0],[1,0],[0,1]]}]"#)
    #expect(
      polygon.filterText
        == #"{"p":{"$not":{"$geoWithin":{"$polygon":[[0.0,0.0],[1.0,0.0],[0.0,1.0]]}}}}"#)
    for filter in [
      circle.filterText, polygon.filterText, #"{"p":{"$nearSphere":[0.5,1.0],"$maxDistance":2.0}}"#,
    ] {
      let query = try Query(filter: filter)
      #expect(query.filterText == filter)
      let (text, values) = query.filter.format
      #expect(try Query(format: text, arguments: JSONValue.array(values).text).filterText == filter)
    }
  }

  private func matches(_ filter: String, _ entity: String) throws -> Bool {
    try Matcher(Query(filter: filter).filter).matches(Array(entity.utf8))
  }
}
