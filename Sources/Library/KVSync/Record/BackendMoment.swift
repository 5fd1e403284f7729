internal import KVBase

/// When a backend evaluated a read, by its own clock: what "changed since" is asked with the next time.
package struct BackendMoment: Sendable {
  /// The moment, in the backend's notation.
  package var text: String
  /// Which data was read; nil: the backend does not say. About other data the moment says nothing.
  package var data: BackendData?

  package init(_ text: String, _ data: BackendData? = nil) {
    self.text = text
    self.data = data
  }

  package init(_ text: String, epoch: String?) {
    self.init(text, epoch.map { BackendData(epoch: $0) })
  }

  /// Whether an answer that began at `other` is about the same data.
  package func isOfSameData(as other: BackendMoment?) -> Bool {
    switch (data, other?.data) {
    case (nil, nil): true
    case (let ours?, let theirs?): ours.isSame(as: theirs)
    default: false
    }
  }
}

/// Which data a backend has: an answer to a write says it too.
package struct BackendData: Sendable, Equatable {
  /// Data that was restored from an older copy has another epoch.
  package var epoch: String
  /// If the data was put back from a copy: what was written until then was in the copy, or had been replaced or deleted before
  /// it was made. Nil: the backend does not say.
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
