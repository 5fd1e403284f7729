/// The prospects of repeating a failed request, for any backend. The room that speaks to a backend knows its words; everybody
/// else decides by this.
package enum FailureClass: Sendable, Equatable {
  /// The same request may succeed later: the backend did not answer, or was busy. It is sent again where that is safe.
  case passing
  /// The backend has refused it, and would do so the next time: it has to be changed, or given up.
  case refused
  /// The backend has another version than the request started from, or has what was to be created.
  case conflict
  /// No user is logged in, or the session has ended: it is renewed, or a user logs in.
  case sessionOver
  /// None of these: it may have been carried out or not, and may succeed another time or not.
  case unknown

  /// The class of an error that the library itself found.
  init(_ kind: StoreError.Kind) {
    self =
      switch kind {
      case .network: .passing
      case .invalid: .refused
      case .conflict: .conflict
      case .noUser, .unauthorized: .sessionOver
      default: .unknown
      }
  }

  /// Whether it says that the request was not carried out.
  var meansNothingWasDone: Bool { self == .refused || self == .conflict || self == .sessionOver }
}

extension StoreError {
  /// What the backend's room has stated, or else what `kind` means.
  package var failureClass: FailureClass { statedClass ?? FailureClass(kind) }

  /// Whether the backend itself said that it has not carried the request out. Everything else leaves that open:
  /// silence, a gateway in between, a failure half way, an earlier attempt.
  var isRefusal: Bool {
    !followsFailure && (changedNothing ?? failureClass.meansNothingWasDone)
  }

  /// Whether the backend has refused the write itself, so that it would refuse it the next time as well.
  ///
  /// Not: who is asked for a login, a wrong application, what is busy or broken, what a proxy answered.
  var isRefusalForGood: Bool { failureClass == .refused || failureClass == .conflict }

  /// Whether there was no answer, the answer only says that the backend is busy, or its sender is unknown: it says nothing about
  /// the entity.
  var isSilence: Bool { isOffline || failureClass == .passing || kind == .certificate }
}
