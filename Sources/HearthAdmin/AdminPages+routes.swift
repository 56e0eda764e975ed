import HTTPTypes
package import HearthServer
import HearthService
package import Hummingbird
import NIOCore

extension AdminPages {
    /// Answers `/`, `/rpc/docs`, `/admin` and everything below it, whatever the method, for Hearth's own server.
    ///
    /// - Parameter streams: Where the streams that pages are followed by have their room.
    package func addRoutes(to router: Router<HearthRequestContext>, streams: WatchStreams) {
        addRoutes(to: router) { context in
            Visitor(caller: context.caller, session: context.session, network: context.clientNetwork)
        } following: { live, context in
            let slot = try streams.takeSlot(for: context)
            return streams.response(with: live.session, encodedBy: live.events, of: live.context, in: slot, for: context)
        }
    }

    /// Answers `/`, `/rpc/docs`, `/admin` and everything below it, whatever the method.
    ///
    /// Whoever adds them makes sure that forms come from these pages themselves.
    ///
    /// - Parameters:
    ///   - visitor: Who asks. Where there are keys, that is ``Caller/nobody`` for whoever has shown none.
    ///   - following: Makes the response of a stream that a page is followed by. No page can be followed without.
    func addRoutes<Context: RequestContext>(
        to router: Router<Context>,
        visitor: @escaping @Sendable (Context) -> Visitor,
        following: @escaping @Sendable (LiveStream, Context) throws -> Response = { _, _ in throw HTTPError(.notFound) }
    ) {
        router.add(middleware: PagesMiddleware(pages: self, visitor: visitor, following: following))
    }
}

/// Takes the requests for pages out of those that no route before it has answered.
///
/// Routes won't do: each is for one method, and the pages have an answer to every method.
private struct PagesMiddleware<Context: RequestContext>: RouterMiddleware {
    let pages: AdminPages
    let visitor: @Sendable (Context) -> Visitor
    let following: @Sendable (LiveStream, Context) throws -> Response

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard Self.isPage(request.uri.path.utf8) else { return try await next(request, context) }
        let visitor = visitor(context)
        let form = try await request.form(atMost: pages.maximumFormBytes(from: visitor))
        let response = await pages.response(to: AdminPages.PageRequest(request, visitor: visitor, form: form))
        if let live = response.live, request.method != .head { return try following(live, context) }
        return Self.response(response.encoded(for: request.headers[.acceptEncoding]), isHead: request.method == .head)
    }

    private static func response(_ page: PageResponse, isHead: Bool) -> Response {
        var headers = page.headers
        if isHead {
            if page.stream == nil { headers[.contentLength] = String(page.body.count) }
            return Response(status: page.status, headers: headers)
        }
        guard let stream = page.stream else {
            return Response(
                status: page.status,
                headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.body))
            )
        }
        return Response(
            status: page.status,
            headers: headers,
            body: ResponseBody { writer in
                try await stream.write { part in try await writer.write(ByteBuffer(bytes: part)) }
                try await writer.finish(nil)
            }
        )
    }

    private static func isPage(_ path: String.UTF8View) -> Bool {
        let admin = "/admin".utf8
        if path.starts(with: AdminURL.documentation.utf8) { return AdminRoute(rawPath: String(path)).isKnown }
        guard path.starts(with: admin) else { return path.elementsEqual("/".utf8) }
        let next = path.dropFirst(admin.count).first
        return next == nil || next == UInt8(ascii: "/")
    }
}

extension AdminPages {
    /// How large a form may be. Documents are edited in forms, whose encoding makes them some times as large.
    fileprivate func maximumFormBytes(from visitor: Visitor) -> Int {
        visitor.isUnknown ? Self.unknownVisitorFormBytes : context.server.limits.maximumBodyBytes
    }
}

extension AdminPages.PageRequest {
    fileprivate init(_ request: Request, visitor: Visitor, form: [UInt8]?) {
        self.init(
            method: request.method,
            path: request.uri.path,
            query: request.uri.query,
            host: request.head.authority,
            knownTags: request.headers[.ifNoneMatch],
            acceptedLanguages: request.headers[.acceptLanguage],
            lastEventID: request.headers[.lastEventID],
            cookies: request.headers[values: .cookie],
            origin: request.headers[.origin],
            visitor: visitor,
            formType: request.headers[.contentType],
            form: form
        )
    }
}

extension Request {
    /// What a form sent; nil when it is too large, nothing when none did.
    fileprivate func form(atMost maximumBytes: Int) async throws -> [UInt8]? {
        let type = (headers[.contentType] ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }
        guard method == .post, [Form.mediaType, MultipartForm.mediaType].contains(where: { type.elementsEqual($0.utf8) }) else {
            return []
        }
        var bytes: [UInt8] = []
        for try await part in body {
            guard bytes.count + part.readableBytes <= maximumBytes else { return nil }
            bytes.append(contentsOf: part.readableBytesView)
        }
        return bytes
    }
}
