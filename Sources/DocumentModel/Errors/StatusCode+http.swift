extension StatusCode {
    /// The HTTP status of an error response.
    ///
    /// Google's mapping of the canonical codes, with two exceptions: `OUT_OF_RANGE`, a position outside the retained history,
    /// is 410, so that clients don't retry; `CANCELLED` is 503, because only a server that is shutting down returns it.
    package var httpStatus: Int {
        switch self {
        case .invalidArgument, .failedPrecondition: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .outOfRange: 410
        case .resourceExhausted: 429
        case .unknown, .internal, .dataLoss: 500
        case .unimplemented: 501
        case .cancelled, .unavailable: 503
        case .deadlineExceeded: 504
        }
    }
}
