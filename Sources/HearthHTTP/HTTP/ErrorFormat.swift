package import HummingbirdCore

/// The form of the error responses of a route.
package struct ErrorFormat: Sendable {
    private let makeResponse: @Sendable (HTTPFailure, Request) -> Response

    /// Creates a format.
    ///
    /// - Parameter makeResponse: Returns the response for a failure of a request.
    package init(makeResponse: @escaping @Sendable (HTTPFailure, Request) -> Response) {
        self.makeResponse = makeResponse
    }

    /// Creates a format of JSON bodies, with the status and the headers of the failure.
    ///
    /// - Parameter encode: Returns the JSON of a failure of a request.
    package init(_ encode: @escaping @Sendable (HTTPFailure, Request) -> [UInt8]) {
        self.init(makeResponse: { failure, request in
            var response = Response(json: encode(failure, request), status: failure.status)
            response.headers.append(contentsOf: failure.headers)
            return response
        })
    }

    /// `{"error": {code, message, data}}`.
    package static let json = ErrorFormat { failure, _ in failure.json }
    /// A JSON-RPC response object without the ID of a request.
    static let jsonRPC = ErrorFormat { failure, _ in failure.jsonRPC }

    /// Returns the response for the failure of a request.
    package func response(for failure: HTTPFailure, to request: Request) -> Response {
        makeResponse(failure, request)
    }
}
