/// An error as clients see it. All errors of the protocol are in this file.
package struct ServerError: Error, Sendable, Equatable {
  package var code: Code
  /// What helps the developer to find the mistake: may name members and values of the request, never
  /// secrets and nothing of the server's inside.
  package var debug: String
  /// The methods that are allowed here, for 405.
  package var allow: String?
  /// Seconds after which to try again.
  package var retryAfter: Int?
  /// A sentence for the log about what failed inside the server. Never sent.
  package var cause: String?

  package init(_ code: Code, _ debug: String = "", allow: String? = nil, cause: String? = nil) {
    self.code = code
    self.debug = debug
    self.allow = allow
    self.cause = cause
    retryAfter = code == .stopping ? 1 : nil
  }

  /// The error for a client that has failed too often and has to wait.
  package static func tooManyFailures(_ seconds: Int) -> ServerError {
    tooManyRequests(
      "too many logins with this name or from this address have failed", after: seconds)
  }

  /// The error for a request that may be repeated after so many seconds.
  package static func tooManyRequests(_ debug: String, after seconds: Int) -> ServerError {
    var error = ServerError(.tooManyRequests, debug)
    error.retryAfter = seconds
    return error
  }

  /// The value of `error`. Clients decide by it and by the status. Some of the original ones compare the descriptions
  /// of wrong credentials and of what does not exist, too; the other texts are free to change.
  package enum Code: String, Sendable, CaseIterable {
    case parameterValueOutOfRange = "ParameterValueOutOfRange"
    case invalidQuerySyntax = "InvalidQuerySyntax"
    case missingQuery = "MissingQuery"
    case jsonParseError = "JSONParseError"
    case missingRequestHeader = "MissingRequestHeader"
    case incompleteRequestBody = "IncompleteRequestBody"
    case missingRequestParameter = "MissingRequestParameter"
    case invalidIdentifier = "InvalidIdentifier"
    case featureUnavailable = "FeatureUnavailable"
    case apiVersionNotAvailable = "APIVersionNotAvailable"
    case badRequest = "BadRequest"
    case resultSetSizeExceeded = "ResultSetSizeExceeded"
    case inputValidationFailed = "InputValidationFailed"
    case invalidCredentials = "InvalidCredentials"
    case insufficientCredentials = "InsufficientCredentials"
    case writesToCollectionDisallowed = "WritesToCollectionDisallowed"
    case missingConfiguration = "MissingConfiguration"
    case entityNotFound = "EntityNotFound"
    case blobNotFound = "BlobNotFound"
    /// A write was carried out by an earlier request; what it wrote is not there any more.
    case entityGone = "EntityGone"
    case appNotFound = "AppNotFound"
    case userNotFound = "UserNotFound"
    case collectionNotFound = "CollectionNotFound"
    case endpointNotFound = "EndpointDoesNotExist"
    case routeNotFound = "NotFound"
    case methodNotAllowed = "MethodNotAllowed"
    case userAlreadyExists = "UserAlreadyExists"
    case staleRequest = "StaleRequest"
    case payloadTooLarge = "RequestEntityTooLarge"
    case unsupportedMediaType = "UnsupportedMediaType"
    case tooManyRequests = "TooManyRequests"
    case internalErrorRetry = "KinveyInternalErrorRetry"
    case internalErrorStop = "KinveyInternalErrorStop"
    case apiVersionNotImplemented = "APIVersionNotImplemented"
    case stopping = "ServiceUnavailable"
    case logicRefused = "BLRuntimeError"
    case logicFailed = "BLInternalError"
  }

  package var status: Int { code.status }
  package var description: String { code.description }
}

extension ServerError.Code {
  package var status: Int {
    switch self {
    case .parameterValueOutOfRange, .invalidQuerySyntax, .missingQuery, .jsonParseError,
      .missingRequestHeader, .incompleteRequestBody, .missingRequestParameter, .invalidIdentifier,
      .featureUnavailable, .apiVersionNotAvailable, .badRequest, .resultSetSizeExceeded,
      .inputValidationFailed, .logicRefused:
      400
    case .invalidCredentials, .insufficientCredentials: 401
    case .writesToCollectionDisallowed, .missingConfiguration: 403
    case .entityNotFound, .blobNotFound, .appNotFound, .userNotFound, .collectionNotFound,
      .endpointNotFound, .routeNotFound:
      404
    case .methodNotAllowed: 405
    case .entityGone: 410
    case .userAlreadyExists, .staleRequest: 409
    case .payloadTooLarge: 413
    case .unsupportedMediaType: 415
    case .tooManyRequests: 429
    case .internalErrorRetry, .internalErrorStop: 500
    case .apiVersionNotImplemented: 501
    case .stopping: 503
    case .logicFailed: 550
    }
  }

  package var description: String {
    switch self {
    case .parameterValueOutOfRange: "A parameter of the request has a value that is not allowed."
    case .invalidQuerySyntax: "The query is not valid."
    case .missingQuery: "The request needs a query."
    case .jsonParseError: "The request body is not valid JSON."
    case .missingRequestHeader: "A required request header is missing."
    case .incompleteRequestBody: "The request body lacks a required member."
    case .missingRequestParameter: "A required request parameter is missing."
    case .invalidIdentifier: "An identifier has a form that is not allowed."
    case .featureUnavailable: "This feature is not available with this request or server."
    case .apiVersionNotAvailable: "The API version is not available."
    case .badRequest: "The request is not valid."
    case .resultSetSizeExceeded: "There are more results than may be returned."
    case .inputValidationFailed: "A reserved member has a value that is not allowed."
    case .invalidCredentials:
      "Invalid credentials. Please retry your request with correct credentials."
    case .insufficientCredentials:
      "The credentials of this request are not sufficient for this operation."
    case .writesToCollectionDisallowed: "This collection cannot be written to."
    case .missingConfiguration: "This feature is not configured for this app or collection."
    case .entityNotFound: "There is no such entity in this collection."
    case .blobNotFound: "This blob not found for this app backend."
    case .entityGone: "The entity was written, and has been deleted since."
    case .appNotFound: "There is no such app."
    case .userNotFound: "This user does not exist for this app backend."
    case .collectionNotFound: "This collection not found for this app backend."
    case .endpointNotFound:
      "The custom endpoint you tried to access does not exist. Please configure custom Business Logic"
        + " endpoints through the Kinvey Console."
    case .routeNotFound: "There is nothing at this path."
    case .methodNotAllowed: "This method is not allowed here."
    case .userAlreadyExists: "This user name is taken. Choose another."
    case .staleRequest: "The entity is not what the request expects it to be."
    case .tooManyRequests: "There were too many requests like this one. Please wait and try again."
    case .unsupportedMediaType: "The request body has a coding that is not supported."
    case .payloadTooLarge: "The request is too large."
    case .internalErrorRetry: "The server failed to process the request. Please try again."
    case .internalErrorStop: "The server failed to process the request. Trying again will not help."
    case .apiVersionNotImplemented: "The API version is not implemented."
    case .logicRefused: "Business logic does not allow this request."
    case .logicFailed: "Business logic has failed."
    case .stopping: "The server is stopping or overloaded. Please try again."
    }
  }
}
