internal import KVBase

/// When a backend evaluated a read, by its own clock: what "changed since" is asked with the next time.
package struct BackendMoment: Sendable {
  /// The moment, in the backend's notation.
  package var text: String
  /// The epoch of the backend's data; nil: the backend does not say. Data that was restored from an older copy has another
  /// epoch, and a moment says nothing about it.
  package var epoch: String?
  /// If the data was put back from a copy: what was written until then was in the copy, or had been replaced or deleted before
  /// it was made. Nil: the backend does not say.
  package var restored: String?

  package init(_ text: String, epoch: String? = nil, restored: String? = nil) {
    self.text = text
    self.epoch = epoch
    self.restored = restored
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

extension BackendMoment {
  /// Which data was read; nil: the backend does not say.
  package var data: BackendData? { epoch.map { BackendData(epoch: $0, restored: restored) } }
}

/// Which data a backend has: an answer to a write says it too.
package struct BackendData: Sendable, Equatable {
  /// See `BackendMoment.epoch`.
  package var epoch: String
  /// See `BackendMoment.restored`.
  package var restored: String?

  package init(epoch: String, restored: String? = nil) {
    self.epoch = epoch
    self.restored = restored
  }

  package func isSame(as other: BackendData?) -> Bool {
    other.map { epoch.hasSameBytes(as: $0.epoch) } ?? false
  }
}

extension BackendMoment: Equatable {
  package static func == (left: BackendMoment, right: BackendMoment) -> Bool {
    left.text.hasSameBytes(as: right.text) && left.isOfSameData(as: right)
  }
}
