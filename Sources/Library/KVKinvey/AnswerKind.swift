/// What an answer is that is read as one document, which says how large it may be: it takes some twenty times its bytes in
/// memory.
enum AnswerKind {
  /// A number, an acknowledgement, a registration.
  case short
  case user
  /// A list of ids.
  case list
  case groups
  /// Entities, which stay the bytes that they are.
  case entities
}

extension KinveyConfiguration {
  /// Bytes of an answer at the most. None is less than the body of an error may have.
  func maxBytes(of answer: AnswerKind) -> Int {
    let limit =
      switch answer {
      case .short: KinveyErrors.maxBytes
      case .user, .list: 4 << 20
      case .groups: maxGroupBytes
      case .entities: maxAnswerBytes
      }
    return min(limit, maxAnswerBytes)
  }
}
