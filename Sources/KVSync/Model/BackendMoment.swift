internal import KVBase

/// When a backend evaluated a read, by its own clock: what "changed since" is asked with the next time.
package struct BackendMoment: Sendable {
  /// The moment, in the backend's notation.
  package var text: String
  /// The epoch of the backend's data; nil: the backend does not say. Data that was restored from an older copy has another
  /// epoch, and a moment says nothing about it.
  package var epoch: String?

  package init(_ text: String, epoch: String? = nil) {
    self.text = text
    self.epoch = epoch
  }

  /// Whether an answer that began at `other` is about the same data.
  package func isOfSameData(as other: BackendMoment?) -> Bool {
    switch (epoch, other?.epoch) {
    case (nil, nil): true
    case (let ours?, let theirs?): ours.hasSameBytes(as: theirs)
    default: false
    }
  }
}

extension BackendMoment: Equatable {
  package static func == (left: BackendMoment, right: BackendMoment) -> Bool {
    left.text.hasSameBytes(as: right.text) && left.isOfSameData(as: right)
  }
}
