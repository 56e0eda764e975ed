extension StatusCode {
    /// The HTTP status of a response that is this failure and nothing else, such as a page or a stream that can't begin.
    ///
    /// Google's mapping of its canonical codes, but for two: a position outside of what is kept is 410, so that a client knows
    /// that repeating the request is of no use; what was cancelled is 503, because only a server that stops says so.
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
