internal import KVBase
internal import KVJSON

/// What the server has to know of a file.
struct FileMetadata {
  /// The member that names the file's bytes. Clients never see it.
  static let nameMember = "_bytes"
  /// The member that names the bytes that are read until those have come. Clients never see it.
  static let formerMember = "_former"
  /// The members that only answers have.
  static let answered = ["_uploadURL", "_downloadURL", "_requiredHeaders", "_expiresAt"]

  /// More would not fit into the addresses.
  private static let maxNameBytes = 1024

  /// `_filename`, `_public`, `size`, `mimeType`, and perhaps `sha256`.
  private(set) var members = JSONObject()

  /// Reads what a client sent.
  init(_ object: JSONObject, maxBytes: Int) throws(ServerError) {
    guard let size = object["size"]?.intValue, size >= 0 else {
      throw ServerError(.incompleteRequestBody, "size must be the number of bytes")
    }
    guard size <= Int64(maxBytes) else {
      throw ServerError(.payloadTooLarge, "a file can have at most \(maxBytes) bytes")
    }
    let isPublic = object["_public"] ?? .bool(false)
    let type = object["mimeType"] ?? .string("application/octet-stream")
    guard isPublic.boolValue != nil, let type = type.stringValue, Self.isType(type) else {
      throw ServerError(
        .inputValidationFailed, "_public must be a boolean, and mimeType a type such as image/png")
    }
    members = ["size": .int(size), "mimeType": .string(type), "_public": isPublic]
    if let digest = object["sha256"] {
      let text = digest.stringValue ?? ""
      guard text.utf8.count == 64, text.allSatisfy(\.isHexDigit) else {
        throw ServerError(.inputValidationFailed, "sha256 must have 64 hex digits")
      }
      members["sha256"] = digest
    }
    if let name = object["_filename"] {
      guard let text = name.stringValue, text.utf8.count <= Self.maxNameBytes else {
        throw ServerError(
          .inputValidationFailed, "_filename must be text of at most \(Self.maxNameBytes) bytes")
      }
      members["_filename"] = name
    }
  }

  private static func isType(_ text: String) -> Bool {
    text.utf8.count <= 255 && text.utf8.contains(UInt8(ascii: "/"))
      && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
  }
}

/// The names of the bytes of a file, as its stored metadata says.
struct FileNames: Equatable {
  var bytes: String
  /// Those that are read until `bytes` have come.
  var former: String?

  /// Nil: this is no file.
  init?(_ stored: JSONObject) {
    guard let bytes = stored[FileMetadata.nameMember]?.stringValue else { return nil }
    self.bytes = bytes
    former = stored[FileMetadata.formerMember]?.stringValue
  }

  var all: [String] { [bytes] + (former.map { [$0] } ?? []) }

  /// The bytes that are there, or that come first.
  func readable(in directory: FileDirectory) -> String {
    guard let former, !directory.isComplete(bytes) else { return bytes }
    return former
  }
}
