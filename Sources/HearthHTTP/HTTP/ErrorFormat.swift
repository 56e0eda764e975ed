package import Hummingbird

/// The form of the error responses of a route.
package struct ErrorFormat: Sendable {
    private let encode: @Sendable (HTTPFailure, Request) -> [UInt8]

    /// Creates a format.
    ///
    /// - Parameter encode: Returns the JSON of a failure of a request.
    package init(_ encode: @escaping @Sendable (HTTPFailure, Request) -> [UInt8]) {
        self.encode = encode
    }

    /// `{"error": {code, message, data}}`.
    package static let json = ErrorFormat { failure, _ in failure.json }
    /// A JSON-RPC response object without the ID of a request.
    static let jsonRPC = ErrorFormat { failure, _ in failure.jsonRPC }

    /// Returns the response for the failure of a request.
    func response(for failure: HTTPFailure, to request: Request) -> Response {
        var response = Response(json: encode(failure, request), status: failure.status)
        response.headers.append(contentsOf: failure.headers)
        return response
    }
}
