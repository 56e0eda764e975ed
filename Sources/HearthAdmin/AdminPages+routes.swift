import HTTPTypes
package import HearthServer
import HearthService
package import Hummingbird
import NIOCore
import StrictJSON

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
        var page = AdminPages.PageRequest(request, visitor: visitor)
        if request.hasFile, pages.takesFile(of: page) {
            // Whoever has not signed in sends no file, so no browser is to be told apart.
            page.upload = try await request.upload(to: pages, of: visitor.formName(browser: ""))
        } else {
            // Of who has to sign in first a form is kept, which one with a file is too large for.
            page.form =
                request.hasFile && visitor.isUnknown
                ? nil : try await request.form(atMost: pages.maximumFormBytes(from: visitor))
        }
        let response = await pages.response(to: page)
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

extension AdminPages {
    /// Whether the file of a form is taken: from those who may import, where it is done.
    fileprivate func takesFile(of request: PageRequest) -> Bool {
        guard request.method == .post, !request.visitor.isUnknown, let address = try? DatabaseAddress(rawPath: request.path),
            case .importing = AdminRoute(rawPath: address.path)
        else { return false }
        return (try? context.calling(as: request.visitor.caller).authorize(.writer)) != nil
    }
}

extension AdminPages.PageRequest {
    fileprivate init(_ request: Request, visitor: Visitor) {
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
            visitor: visitor
        )
    }
}

extension Request {
    /// Whether a form with a file is sent.
    fileprivate var hasFile: Bool { method == .post && isOfType(MultipartReader.mediaType) }

    /// What a form sent; nil when it is too large, nothing when none did.
    fileprivate func form(atMost maximumBytes: Int) async throws -> [UInt8]? {
        guard method == .post, isOfType(Form.mediaType) else { return [] }
        var bytes: [UInt8] = []
        for try await part in body {
            guard bytes.count + part.readableBytes <= maximumBytes else { return nil }
            bytes.append(contentsOf: part.readableBytesView)
        }
        return bytes
    }

    /// What a form with a file sent; the file is on disk then.
    fileprivate func upload(
        to pages: AdminPages,
        of visitor: UTF8Key
    ) async throws -> Result<Form, UploadReader.Fault> {
        guard let contentType = headers[.contentType],
            var reader = UploadReader(
                contentType: contentType,
                to: pages.uploads,
                of: visitor,
                folder: pages.surroundings.uploadFolder
            )
        else { return .failure(.malformed) }
        // Digits that are no Int are more than any Int.
        guard headers[.contentLength].map({ Int($0) ?? .max }) ?? 0 <= reader.maximumBytes else { return .failure(.tooLarge) }
        do {
            for try await part in body { try await reader.take(Array(part.readableBytesView)) }
            return .success(try reader.finish())
        } catch let fault as UploadReader.Fault {
            return .failure(fault)
        }
    }
}
