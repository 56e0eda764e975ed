import HTTPTypes
import HummingbirdCore
import NIOCore
import Testing

@testable import HearthHTTP

@Suite("Unlisted paths")
struct UnlistedPathTests {
    private func request(_ method: HTTPRequest.Method, accept: String?) -> Request {
        var head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: "/nothing")
        head.headerFields[.accept] = accept
        return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    }

    @Test(
        arguments: [
            (.get, "text/html,application/xhtml+xml,*/*;q=0.8", true), (.head, "text/html", true), (.get, "*/*", false),
            (.get, nil, false), (.get, "text/html;q=0", false), (.post, "text/html", false),
        ] as [(HTTPRequest.Method, String?, Bool)]
    )
    func `Browsers get a page, programs JSON`(method: HTTPRequest.Method, accept: String?, isPage: Bool) {
        let page = Route("", RoutePolicy(), [.get: { _, _ in Response(status: .notFound) }])
        let request = request(method, accept: accept)
        #expect((RouteTable([], unlistedPages: page).unlistedRoute(of: request) === page) == isPage)
        #expect(RouteTable([]).unlistedRoute(of: request) === Route.unlisted)
    }
}
