internal import Glibc
internal import KVJSON

/// `kvstored admin export`.
enum Export {
  /// How often the progress is told.
  private static let step = 10_000

  @Sendable static func run(_ call: AdminCall) throws(AdminFailure) {
    let sink = try NewFile(call.arguments["to"], else: call.terminal.write)
    let pages = EntityPages(
      call.app, service: "appdata", collection: [call.operand(0)], filter: call.arguments["query"])
    var (count, damaged) = (0, 0)
    do throws(AdminFailure) {
      try pages.read { (entity) throws(AdminFailure) in
        guard entity.first == UInt8(ascii: "{") else {
          call.terminal.tell("the entity \(String(decoding: entity, as: UTF8.self)) is damaged")
          damaged += 1
          return
        }
        try sink.write(line(entity))
        count += 1
        if count % step == 0 { call.terminal.tell("exported \(count) entities") }
      }
      try sink.finish()
    } catch {
      sink.discard()
      throw error
    }
    call.terminal.tell("exported \(count) entities of \(call.operand(0))")
    if damaged > 0 {
      throw AdminFailure(.partly, "\(damaged) entities are damaged and were left out")
    }
  }

  /// Outside of strings, where JSON does not allow them, the ends of lines mean nothing.
  private static func line(_ entity: [UInt8]) -> [UInt8] {
    entity.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } + [0x0A]
  }
}
