import HTTPTypes
package import Hummingbird
import NIOCore

extension AdminPages {
    /// Answers `/`, `/admin` and everything below it, whatever the method.
    package func addRoutes<Context: RequestContext>(to router: Router<Context>) {
        router.add(middleware: PagesMiddleware<Context>(pages: self))
    }
}

/// Takes the requests for pages out of those that no route before it has answered.
///
/// Routes won't do: each is for one method, and the pages have an answer to every method.
private struct PagesMiddleware<Context: RequestContext>: RouterMiddleware {
    let pages: AdminPages

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard Self.isPage(request.uri.path.utf8) else { return try await next(request, context) }
        let response = await pages.response(to: AdminPages.PageRequest(request))
        guard request.method == .head else {
            return Response(
                status: response.status,
                headers: response.headers,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: response.body))
            )
        }
        var headers = response.headers
        headers[.contentLength] = String(response.body.count)
        return Response(status: response.status, headers: headers)
    }

    private static func isPage(_ path: String.UTF8View) -> Bool {
        let admin = "/admin".utf8
        guard path.starts(with: admin) else { return path.elementsEqual("/".utf8) }
        let next = path.dropFirst(admin.count).first
        return next == nil || next == UInt8(ascii: "/")
    }
}

extension AdminPages.PageRequest {
    fileprivate init(_ request: Request) {
        self.init(
            method: request.method,
            path: request.uri.path,
            query: request.uri.query,
            host: request.head.authority,
            knownTags: request.headers[.ifNoneMatch]
        )
    }
}
