import HTTPTypes
import HearthAPI
package import HearthHTTP
import HummingbirdCore
import NIOCore
import UTF8Text

/// The pages as routes of Hearth's server: `/`, `/rpc/docs`, `/admin` and all paths below it, for all methods, and a page that says that
/// there is none, for browsers at all other paths.
///
/// A program that gets `/` to see whether the server is there receives the answer of Firestore's emulator instead of a redirect to
/// the pages, which may ask it to sign in.
package struct AdminModule: RouteModule {
    private let pages: AdminPages

    package init(_ pages: AdminPages) {
        self.pages = pages
    }

    package func routes(using server: ServerResources) -> [Route] {
        let handler = handler(using: server)
        let root: Route.Handler = { request, context in
            guard [.get, .head].contains(request.method), !request.acceptsHTML else { return try await handler(request, context) }
            return request.method == .head ? Response.probe.createHeadResponse() : .probe
        }
        return [Route("/", policy, allMethods: root)]
            + ["/admin", "/rpc/docs", "/rpc/docs/"].map { Route($0, policy, allMethods: handler) }
            + [Route(below: "/admin/", policy, allMethods: handler)]
    }

    package func unlistedPages(using server: ServerResources) -> Route? {
        Route("", policy, allMethods: handler(using: server))
    }

    private func handler(using server: ServerResources) -> Route.Handler {
        { request, context in try await pages.response(to: request, in: context, streams: server.streams) }
    }

    /// Other sites may link to pages. The pages offer sign-in themselves, and check the permissions of the caller.
    private var policy: RoutePolicy {
        var policy = RoutePolicy()
        policy.access = .signIn
        // Memory for the fields of a form and the buffer of an uploaded file.
        policy.body.fileBufferBytes = 256 << 10
        return policy
    }
}

extension AdminPages {
    /// Responds to an HTTP request.
    ///
    /// - Parameter streams: The service whose limit on open streams includes live updates.
    fileprivate func response(
        to request: Request,
        in context: HearthRequestContext,
        streams: WatchStreamService
    ) async throws -> Response {
        let principal = Principal(caller: context.caller, session: context.session, network: context.clientNetwork)
        var page = PageRequest(request, principal: principal)
        page.isConnectedByTLS = context.isSecure
        page.requestID = context.requestID
        if request.hasMultipartForm, acceptsUpload(of: page) {
            // Uploads require sign-in, so no browser ID is needed to identify the owner.
            page.upload = try await request.upload(to: self, of: principal.formOwner(browserID: ""))
        } else {
            // A URL-encoded form survives the sign-in page; a multipart form is too large for that.
            page.form =
                request.hasMultipartForm && principal.needsSignIn
                ? nil : try await request.form(atMost: maximumFormBytes(from: principal, to: page.path))
        }
        let response = await response(to: page)
        if let live = response.live, request.method != .head {
            let slot = try streams.acquireSlot(for: context)
            return streams.response(with: live.session, encodedBy: live.events, of: live.context, in: slot, for: context)
        }
        return Response(response.encoded(for: request.headers[.acceptEncoding]), isHead: request.method == .head)
    }
}

extension Response {
    /// The answer of Firestore's emulator at `/`.
    fileprivate static var probe: Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/plain", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: "Ok"))
        )
    }

    /// Creates the HTTP response of a page.
    fileprivate init(_ page: PageResponse, isHead: Bool) {
        var headers = page.headers
        if isHead {
            if page.stream == nil { headers[.contentLength] = String(page.body.count) }
            self.init(status: page.status, headers: headers)
            return
        }
        guard let stream = page.stream else {
            self.init(
                status: page.status,
                headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.body))
            )
            return
        }
        self.init(
            status: page.status,
            headers: headers,
            body: ResponseBody { writer in
                try await stream.write { part in try await writer.write(ByteBuffer(bytes: part)) }
                try await writer.finish(nil)
            }
        )
    }
}

extension AdminPages {
    /// The size limit for a URL-encoded form. The encoding makes an edited document up to three times as large.
    fileprivate func maximumFormBytes(from principal: Principal, to path: String) -> Int {
        guard principal.needsSignIn else { return context.server.limits.maximumBodyBytes }
        guard case .signIn = AdminRoute(rawPath: path) else { return SessionController.formBytes }
        return SessionController.signInFormBytes
    }

    /// Returns whether a multipart form is accepted: only on the import page, and only from callers with write permission.
    fileprivate func acceptsUpload(of request: PageRequest) -> Bool {
        guard request.method == .post, !request.principal.needsSignIn,
            let address = try? DatabaseURLPrefix(rawPath: request.path),
            case .import = AdminRoute(rawPath: address.path)
        else { return false }
        return (try? context.withCaller(request.principal.caller).authorize(.writer)) != nil
    }
}

extension PageRequest {
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
    /// True if the request has a multipart form.
    fileprivate var hasMultipartForm: Bool { method == .post && hasMediaType(MultipartParser.mediaType) }

    /// Reads the URL-encoded form; returns an empty array if there is none, and `nil` if it exceeds the size limit.
    fileprivate func form(atMost maximumBytes: Int) async throws -> [UInt8]? {
        guard method == .post, hasMediaType(Form.mediaType) else { return [] }
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
            var receiver = UploadReceiver(contentType: contentType, to: pages.uploads, of: owner)
        else { return .failure(.malformedForm) }
        // A length that overflows Int exceeds every limit.
        guard headers[.contentLength].map({ Int($0) ?? .max }) ?? 0 <= receiver.maximumBytes else {
            return .failure(.fileTooLarge)
        }
        do {
            for try await part in body { try await receiver.append(Array(part.readableBytesView)) }
            return .success(try await receiver.finish())
        } catch let failure as UploadReceiver.Failure {
            return .failure(failure)
        }
    }
}
