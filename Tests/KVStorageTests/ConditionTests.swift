import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

extension EntityStore {
  /// Saves on a condition; an array of one or more.
  fileprivate func save(_ entities: String, if condition: WriteCondition) throws {
    let bytes = Array("[\(entities)]".utf8)
    let outlines = try EntityScanner.outlines(ofArray: bytes)
    _ = try bytes.withUnsafeBytes {
      try save($0, outlines, known: nil, if: condition, in: "c")
    }
  }
}

extension LocalTransaction {
  fileprivate func save(_ entity: String, if condition: WriteCondition) throws {
    let bytes = Array(entity.utf8)
    let outline = try EntityScanner.outline(of: bytes)
    _ = try bytes.withUnsafeBytes {
      try save($0, [outline], known: nil, if: condition, in: "c")
    }
  }
}

private func matching(_ filter: String) throws -> WriteCondition {
  .matches(try Query(filter: filter))
}

/// The error of what must fail.
private func failure(_ body: () throws -> Void) -> StoreError? {
  #expect(throws: StoreError.self) { try body() }
}

@Suite("Conditions of local writes") struct ConditionTests {
  let directory = TemporaryDirectory()

  @Test("an insert never replaces what is there") func insertOnly() throws {
    let storage = try openStorage(in: directory)
    try storage.save(#"{"_id":"a","n":1}"#, if: .isMissing)
    let error = failure { try storage.save(#"{"_id":"a","n":2}"#, if: .isMissing) }
    #expect(error?.kind == .conflict)
    #expect(error?.id == "a")
    #expect(try storage.get("a") == #"{"_id":"a","n":1}"#)
    #expect(try storage.queue().count == 1)
    // What is gone may be made anew, and what has no id yet is always new.
    _ = try storage.remove("a", in: "c")
    try storage.save(#"{"_id":"a","n":3}"#, if: .isMissing)
    try storage.save(#"{"n":4}"#, if: .isMissing)
    #expect(try storage.find().count == 2)
  }

  @Test("a version is met once") func version() throws {
    let storage = try openStorage(in: directory)
    try storage.save(#"{"_id":"a","n":1}"#)
    let version = try #require(try storage.version(of: "a", in: "c"))
    try storage.save(#"{"_id":"a","n":2}"#, if: .version(version))
    let error = failure { try storage.save(#"{"_id":"a","n":3}"#, if: .version(version)) }
    #expect(error?.kind == .conflict)
    #expect(failure { try storage.save(#"{"_id":"b"}"#, if: .version(version)) }?.kind == .conflict)
    #expect(failure { try storage.save(#"{"n":1}"#, if: .version(version)) }?.kind == .invalid)
    #expect(try storage.find() == [#"{"_id":"a","n":2}"#])
    let late = failure { _ = try storage.remove("a", if: .version(version), in: "c") }
    #expect(late?.id == "a")
    #expect(try storage.remove("a", if: .version(version + 1), in: "c") == 1)
  }

  @Test("a filter is asked of what is there, not of what is saved") func filter() throws {
    let storage = try openStorage(in: directory)
    try storage.save(#"{"_id":"a","state":"open"}"#)
    try storage.save(#"{"_id":"a","state":"taken"}"#, if: matching(#"{"state":"open"}"#))
    let error = failure {
      try storage.save(#"{"_id":"a","state":"open"}"#, if: matching(#"{"state":"open"}"#))
    }
    #expect(error?.kind == .conflict)
    #expect(failure { try storage.save(#"{"_id":"b"}"#, if: matching("{}")) }?.kind == .conflict)
    let gone = failure { _ = try storage.remove("b", if: try matching("{}"), in: "c") }
    #expect(gone?.kind == .conflict)
    #expect(try storage.remove("a", if: matching(#"{"state":"taken"}"#), in: "c") == 1)
  }

  @Test("of many all are saved or none, and the error says which one was in the way")
  func many() throws {
    let storage = try openStorage(in: directory)
    try storage.save(#"{"_id":"b"}"#)
    let error = failure {
      try storage.save(#"{"_id":"a"},{"_id":"b"},{"_id":"c"}"#, if: .isMissing)
    }
    #expect(error?.id == "b")
    #expect(error?.index == 1)
    #expect(try storage.find() == [#"{"_id":"b"}"#])
    #expect(failure { try storage.save(#"{"_id":"x"},{"_id":"x"}"#, if: .isMissing) }?.index == 1)
    #expect(try storage.queue().count == 1)
  }

  @Test("a transaction's conditions are asked of what it sees, and hold when it commits")
  func transactions() throws {
    let storage = try openStorage(in: directory)
    let first = try storage.beginTransaction()
    let second = try storage.beginTransaction()
    try first.save(#"{"_id":"a","by":1}"#, if: .isMissing)
    #expect(failure { try first.save(#"{"_id":"a"}"#, if: .isMissing) }?.id == "a")
    try first.save(#"{"_id":"a","by":1,"again":true}"#, if: matching(#"{"by":1}"#))
    try second.save(#"{"_id":"a","by":2}"#, if: .isMissing)
    try first.commit()
    #expect(failure { try second.commit() }?.kind == .conflict)
    #expect(try storage.get("a") == #"{"_id":"a","by":1,"again":true}"#)
    let version = try #require(try storage.version(of: "a", in: "c"))
    let third = try storage.beginTransaction()
    let wrong = failure { _ = try third.remove("a", if: .version(version - 1), in: "c") }
    #expect(wrong?.kind == .conflict)
    #expect(try third.remove("a", if: .version(version), in: "c") == 1)
    try third.commit()
    #expect(try storage.get("a") == nil)
  }

  @Test("what was queued on a condition stays conditional until the backend has it")
  func pending() throws {
    let storage = try openStorage(in: directory)
    try storage.save(#"{"_id":"plain"}"#)
    try storage.save(#"{"_id":"a"}"#, if: .isMissing)
    try storage.save(#"{"_id":"a","n":2}"#)
    #expect(try storage.write("plain")?.isConditional == false)
    #expect(try storage.write("a")?.isConditional == true)
    // Another process, after a restart.
    storage.close()
    let reopened = try openStorage(in: directory)
    #expect(try reopened.write("a")?.isConditional == true)
    // What is changed after it was sent need not meet anything, once the backend has said yes.
    let sent = try reopened.beginSending([try #require(try reopened.write("a"))])
    try reopened.save(#"{"_id":"a","n":3}"#)
    #expect(try reopened.write("a")?.isConditional == true)
    try reopened.confirm(
      sent.map { AcceptedWrite($0.write, stored: Array(#"{"_id":"a","n":2}"#.utf8)) })
    #expect(try reopened.write("a")?.isConditional == false)
    // What was changed on a condition meanwhile does.
    let again = try reopened.beginSending([try #require(try reopened.write("a"))])
    try reopened.save(#"{"_id":"a","n":4}"#, if: matching(#"{"n":3}"#))
    try reopened.confirm(
      again.map { AcceptedWrite($0.write, stored: Array(#"{"_id":"a","n":3}"#.utf8)) })
    #expect(try reopened.write("a")?.isConditional == true)
  }

  @Test("a filter stays with the queued write until the backend has answered, and over a restart")
  func queuedFilter() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a","n":1,"m":1}"#)
    try storage.save(#"{"_id":"a","n":2,"m":1}"#, if: matching(#"{"n":1}"#))
    try storage.save(#"{"_id":"a","n":3,"m":1}"#)
    #expect(try storage.write("a")?.condition == #"{"n":1}"#)
    // What is here by an own change is not asked for; the rest holds together with what was asked before.
    try storage.save(#"{"_id":"a","n":4,"m":1}"#, if: matching(#"{"n":3,"m":{"$lt":2}}"#))
    let both = #"{"$and":[{"n":1},{"m":{"$lt":2}}]}"#
    #expect(try storage.write("a")?.condition == both)
    storage.close()
    let reopened = try openStorage(in: directory)
    let sent = try reopened.beginSending([try #require(try reopened.write("a"))])
    #expect(sent.first?.write.condition == both)
    try reopened.confirm(
      sent.map { AcceptedWrite($0.write, stored: Array(#"{"_id":"a","n":4,"m":1}"#.utf8)) })
    #expect(try reopened.write("a") == nil)
  }

  @Test("an answer settles the filter that was sent, and leaves those that were added since")
  func answered() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a","n":1,"m":1}"#)
    try storage.save(#"{"_id":"a","n":2,"m":1}"#, if: matching(#"{"n":1}"#))
    let sent = try storage.beginSending([try #require(try storage.write("a"))])
    try storage.save(#"{"_id":"a","n":3,"m":1}"#, if: matching(#"{"m":1}"#))
    try storage.save(#"{"_id":"a","n":4,"m":1}"#, if: matching(#"{"n":3}"#))
    try storage.save(#"{"_id":"a","n":4,"m":2}"#, if: matching(#"{"m":{"$gt":0}}"#))
    try storage.confirm(
      sent.map { AcceptedWrite($0.write, stored: Array(#"{"_id":"a","n":2,"m":1}"#.utf8)) })
    let left = try #require(try storage.write("a"))
    #expect(left.isConditional)
    let text = try #require(left.condition)
    let filter = try Query(filter: text).filter
    let expected = try Query(filter: #"{"$and":[{"m":1},{"m":{"$gt":0}}]}"#).filter
    for entity in [#"{"m":1}"#, #"{"m":2}"#, #"{"m":0}"#] {
      let bytes = Array(entity.utf8)
      #expect(
        try Query(filter).matcher?.matches(bytes) == Query(expected).matcher?.matches(bytes))
    }
  }

  @Test("what was created here and is unknown to the backend has no filter to meet there")
  func unknown() throws {
    let storage = try openStorage(in: directory)
    try storage.save(#"{"_id":"a","n":1}"#)
    try storage.save(#"{"_id":"a","n":2}"#, if: matching(#"{"n":1}"#))
    #expect(try storage.write("a")?.condition == nil)
  }

  @Test("a released write goes without its filter: somebody has seen what it met")
  func released() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a","n":1}"#)
    try storage.save(#"{"_id":"a","n":2}"#, if: matching(#"{"n":1}"#))
    let sent = try storage.beginSending([try #require(try storage.write("a"))])
    let theirs = RemoteVersion.entity(Array(#"{"_id":"a","n":9}"#.utf8))
    let failure = StoreError(.conflict, "No.")
    try storage.quarantine(
      sent.map { QuarantinedWrite(write: $0.write, error: failure, theirs: theirs) })
    #expect(try storage.write("a")?.condition == #"{"n":1}"#)
    _ = try storage.releasePending("a", in: "c")
    #expect(try storage.write("a")?.condition == nil)
  }

  @Test("of four threads that insert the same entity one wins") func threads() throws {
    let storage = try openStorage(in: directory)
    for round in 0..<50 {
      let winners = concurrently(4) { number -> Int? in
        (try? storage.save(#"{"_id":"\#(round)","by":\#(number)}"#, if: .isMissing)).map { number }
      }
      #expect(winners.count == 1)
      let stored = try storage.get("\(round)")
      #expect(stored == winners.first.map { #"{"_id":"\#(round)","by":\#($0)}"# })
    }
  }

  @Test("random conditions hold when a plain model says so", arguments: 0..<8)
  func model(run: UInt64) throws {
    var random = Seed(Seed().value &+ run)
    let seed = random.description
    let storage = try openStorage(in: directory)
    // The value of each entity, and its versions, the present one last.
    var values: [String: Int] = [:]
    var versions: [String: [Int64]] = [:]
    for step in 0..<300 {
      let (id, limit) = ("e\(random.below(4))", random.below(6))
      let (condition, holds): (WriteCondition, Bool)
      switch random.below(4) {
      case 0: (condition, holds) = (.isMissing, values[id] == nil)
      case 1:
        let version = versions[id]?.randomElement(using: &random) ?? 1
        (condition, holds) = (.version(version), values[id] != nil && version == versions[id]?.last)
      case 2:
        (condition, holds) = (
          try matching(#"{"n":{"$lt":\#(limit)}}"#), values[id].map { $0 < limit } ?? false
        )
      default: (condition, holds) = (.none, true)
      }
      let isTransaction = random.below(3) == 0
      let value: Int? = random.below(3) == 0 ? nil : random.below(6)
      let removesNothing = if case .isMissing = condition { value == nil } else { false }
      guard !removesNothing else { continue }
      do {
        let transaction = isTransaction ? try storage.beginTransaction() : nil
        if let value {
          let entity = #"{"_id":"\#(id)","n":\#(value)}"#
          try transaction?.save(entity, if: condition) ?? storage.save(entity, if: condition)
        } else {
          _ =
            try transaction?.remove(id, if: condition, in: "c")
            ?? storage.remove(id, if: condition, in: "c")
        }
        try transaction?.commit()
        #expect(holds, "\(seed), step \(step)")
        values[id] = value
      } catch let error as StoreError {
        #expect(!holds && error.kind == .conflict && error.id == id, "\(seed), step \(step)")
      }
      #expect(
        try storage.get(id) == values[id].map { #"{"_id":"\#(id)","n":\#($0)}"# },
        "\(seed), step \(step)")
      if let version = try storage.version(of: id, in: "c"), version != versions[id]?.last {
        versions[id, default: []].append(version)
      }
    }
  }
}
