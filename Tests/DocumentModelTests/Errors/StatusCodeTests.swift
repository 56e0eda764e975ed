import Testing

@testable import DocumentModel

@Suite("Status codes")
struct StatusCodeTests {
    @Test(
        arguments: [
            (.cancelled, 503), (.unknown, 500), (.invalidArgument, 400), (.deadlineExceeded, 504), (.notFound, 404),
            (.alreadyExists, 409), (.permissionDenied, 403), (.resourceExhausted, 429), (.failedPrecondition, 400),
            (.aborted, 409), (.outOfRange, 410), (.unimplemented, 501), (.internal, 500), (.unavailable, 503), (.dataLoss, 500),
            (.unauthenticated, 401),
        ] as [(StatusCode, Int)]
    )
    func `Each status code has an HTTP status`(code: StatusCode, status: Int) {
        #expect(code.httpStatus == status)
    }
}
