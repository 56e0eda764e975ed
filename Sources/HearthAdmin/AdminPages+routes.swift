import HTTPTypes
import HearthAPI
package import HearthHTTP
package import Hummingbird
import NIOCore
import StrictJSON

extension AdminPages {
    /// Adds the pages to the router of the Hearth server: `/`, `/rpc/docs`, `/admin` and all paths below it, for all methods.
    ///
    /// - Parameter streams: The stream limiter that live updates count against.
    package func addRoutes(to router: Router<HearthRequestContext>, streams: WatchStreams) {
        addRoutes(to: router) { context in
            Principal(caller: context.caller, session: context.session, network: context.clientNetwork)
        } liveResponse: { live, context in
            let slot = try streams.acquireSlot(for: context)
            return streams.response(with: live.session, encodedBy: live.events, of: live.context, in: slot, for: context)
        }
    }

    /// Adds the pages to a router: `/`, `/rpc/docs`, `/admin` and all paths below it, for all methods.
    ///
    /// The caller must reject cross-site form submissions.
    ///
    /// - Parameters:
    ///   - principal: Returns the sender of a request; its caller is ``Caller/unauthenticated`` when a key is required and missing.
    ///   - liveResponse: Returns the streaming response of live updates. The default responds with 404.
    func addRoutes<Context: RequestContext>(
        to router: Router<Context>,
        principal: @escaping @Sendable (Context) -> Principal,
        liveResponse: @escaping @Sendable (LiveStream, Context) throws -> Response = { _, _ in throw HTTPError(.notFound) }
    ) {
        router.add(middleware: AdminPagesMiddleware(pages: self, principal: principal, liveResponse: liveResponse))
    }
}

/// Handles the requests for pages that no route has handled.
///
/// This is a middleware because a route handles a single method, while the pages respond to every method.
private struct AdminPagesMiddleware<Context: RequestContext>: RouterMiddleware {
    let pages: AdminPages
    let principal: @Sendable (Context) -> Principal
    let liveResponse: @Sendable (LiveStream, Context) throws -> Response

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard Self.isPage(request.uri.path.utf8) else { return try await next(request, context) }
        let principal = principal(context)
        var page = AdminPages.PageRequest(request, principal: principal)
        if request.hasMultipartForm, pages.acceptsUpload(of: page) {
            // Uploads require sign-in, so no browser ID is needed to identify the owner.
            page.upload = try await request.upload(to: pages, of: principal.formOwner(browserID: ""))
        } else {
            // A URL-encoded form survives the sign-in page; a multipart form is too large for that.
            page.form =
                request.hasMultipartForm && principal.needsSignIn
                ? nil : try await request.form(atMost: pages.maximumFormBytes(from: principal))
        }
        let response = await pages.response(to: page)
        if let live = response.live, request.method != .head { return try liveResponse(live, context) }
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
    /// The size limit of a URL-encoded form. The encoding makes an edited document up to three times as large.
    fileprivate func maximumFormBytes(from principal: Principal) -> Int {
        principal.needsSignIn ? Self.unauthenticatedFormBytes : context.server.limits.maximumBodyBytes
    }

    /// Whether a multipart form is received: only on the import page, and only from callers with write permission.
    fileprivate func acceptsUpload(of request: PageRequest) -> Bool {
        guard request.method == .post, !request.principal.needsSignIn,
            let address = try? DatabaseURLPrefix(rawPath: request.path),
            case .import = AdminRoute(rawPath: address.path)
        else { return false }
        return (try? context.calling(as: request.principal.caller).authorize(.writer)) != nil
    }
}

extension AdminPages.PageRequest {
    fileprivate init(_ request: Request, principal: Principal) {
        self.init(
            method: request.method,
            path: request.uri.path,
            rawQuery: request.uri.query,
            host: request.head.authority,
            ifNoneMatch: request.headers[.ifNoneMatch],
            acceptLanguage: request.headers[.acceptLanguage],
            lastEventID: request.headers[.lastEventID],
            cookies: request.headers[values: .cookie],
            origin: request.headers[.origin],
            principal: principal
        )
    }
}

extension Request {
    /// Whether the request has a multipart form.
    fileprivate var hasMultipartForm: Bool { method == .post && isOfType(MultipartParser.mediaType) }

    /// Reads the URL-encoded form: empty without a form, nil when it exceeds the size limit.
    fileprivate func form(atMost maximumBytes: Int) async throws -> [UInt8]? {
        guard method == .post, isOfType(Form.mediaType) else { return [] }
        var bytes: [UInt8] = []
        for try await part in body {
            guard bytes.count + part.readableBytes <= maximumBytes else { return nil }
            bytes.append(contentsOf: part.readableBytesView)
        }
        return bytes
    }

    /// Receives the multipart form, writing its file to disk.
    fileprivate func upload(
        to pages: AdminPages,
        of owner: UTF8Key
    ) async throws -> Result<Form, UploadReceiver.Failure> {
        guard let contentType = headers[.contentType],
            var receiver = UploadReceiver(
                contentType: contentType,
                to: pages.uploads,
                of: owner,
                folder: pages.dependencies.uploadFolder
            )
        else { return .failure(.malformedForm) }
        // A length that overflows Int exceeds every limit.
        guard headers[.contentLength].map({ Int($0) ?? .max }) ?? 0 <= receiver.maximumBytes else {
            return .failure(.fileTooLarge)
        }
        do {
            for try await part in body { try await receiver.append(Array(part.readableBytesView)) }
            return .success(try receiver.finish())
        } catch let failure as UploadReceiver.Failure {
            return .failure(failure)
        }
    }
}
