import HTTPTypes
package import HearthService
package import Hummingbird
import NIOCore

extension AdminPages {
    /// Answers `/`, `/rpc/docs`, `/admin` and everything below it, whatever the method.
    ///
    /// Whoever adds them makes sure that forms come from these pages themselves.
    ///
    /// - Parameter caller: Who asks.
    package func addRoutes<Context: RequestContext>(
        to router: Router<Context>,
        caller: @escaping @Sendable (Context) -> Caller
    ) {
        router.add(middleware: PagesMiddleware(pages: self, caller: caller))
    }
}

/// Takes the requests for pages out of those that no route before it has answered.
///
/// Routes won't do: each is for one method, and the pages have an answer to every method.
private struct PagesMiddleware<Context: RequestContext>: RouterMiddleware {
    let pages: AdminPages
    let caller: @Sendable (Context) -> Caller

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard Self.isPage(request.uri.path.utf8) else { return try await next(request, context) }
        let response = await pages.response(
            to: AdminPages.PageRequest(request, caller: caller(context), form: try await request.form)
        )
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
        if path.starts(with: AdminURL.documentation.utf8) { return AdminRoute(rawPath: String(path)).isKnown }
        guard path.starts(with: admin) else { return path.elementsEqual("/".utf8) }
        let next = path.dropFirst(admin.count).first
        return next == nil || next == UInt8(ascii: "/")
    }
}

extension AdminPages.PageRequest {
    fileprivate init(_ request: Request, caller: Caller, form: [UInt8]?) {
        self.init(
            method: request.method,
            path: request.uri.path,
            query: request.uri.query,
            host: request.head.authority,
            knownTags: request.headers[.ifNoneMatch],
            acceptedLanguages: request.headers[.acceptLanguage],
            cookies: request.headers[.cookie],
            caller: caller,
            form: form
        )
    }
}

extension Request {
    /// What a form sent; nil when none did, or when it is too large.
    fileprivate var form: [UInt8]? {
        get async throws {
            let type = (headers[.contentType] ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }
            guard method == .post, type.elementsEqual(TriedCall.mediaType.utf8) else { return nil }
            var bytes: [UInt8] = []
            for try await part in body {
                guard bytes.count + part.readableBytes <= TriedCall.maximumBytes else { return nil }
                bytes.append(contentsOf: part.readableBytesView)
            }
            return bytes
        }
    }
}
