import DocumentModel
import HTTPTypes
import HearthService
import Hummingbird
import Logging
import NIOCore
import StrictJSON

/// Finds out who asks, by the key in `Authorization: Bearer KEY`, and lets nobody else pass once there are keys.
///
/// What a caller may do is up to the methods. Whatever is no call, no stream and not their description or documentation (pages,
/// and what is not there) is for admins only. It stands before anything that reads a request's body.
struct AuthenticationMiddleware: RouterMiddleware {
    let keys: AccessKeys
    let failures: FailedAttempts

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        // Asked by those who watch over the server, and tells nothing of what is in it.
        if request.hasPath("/health") { return try await next(request, context) }
        var context = context
        do throws(HTTPFailure) {
            context.caller = try await caller(of: request, in: context)
            try context.caller.checkMayAsk(for: request)
        } catch {
            guard request.isForPage else { throw error }
            return error.page
        }
        return try await next(request, context)
    }

    private func caller(of request: Request, in context: HearthRequestContext) async throws(HTTPFailure) -> Caller {
        if !keys.areRequired {
            // Whoever shows a key may have made the first one a moment ago.
            guard let text = try? request.shownKey, AccessKeys.isKey(text) else { return .anybody }
            await keys.refresh()
        }
        let text = try request.shownKey
        do throws(AccessKeys.Refusal) {
            return try await caller(showing: text, from: context.clientNetwork)
        } catch {
            throw refusal(error, in: context)
        }
    }

    private func caller(showing text: [UInt8]?, from network: UTF8Key) async throws(AccessKeys.Refusal) -> Caller {
        do throws(AccessKeys.Refusal) {
            return try keys.caller(showing: text)
        } catch .unknown where AccessKeys.isKey(text ?? []) && !failures.areTooMany(from: network) {
            // It may have been made a moment ago, by a command.
            await keys.refresh()
            return try keys.caller(showing: text)
        }
    }

    private func refusal(_ refusal: AccessKeys.Refusal, in context: HearthRequestContext) -> HTTPFailure {
        if case .missing = refusal {
            return .unauthenticated("Every request needs a key: send the header Authorization: Bearer KEY.")
        }
        if let wait = failures.note(from: context.clientNetwork) { return .tooManyAttempts(wait) }
        let address = context.clientAddress
        switch refusal {
        case .expired(let id):
            context.logger.notice(
                "A key was refused that has expired",
                metadata: ["key.id": "\(id)", "http.client": "\(address)"]
            )
            return .unauthenticated("The key has expired. Ask an admin for another one.", error: "invalid_token")
        case .missing, .unknown:
            context.logger.notice("A key was refused that is not known", metadata: ["http.client": "\(address)"])
            return .unauthenticated("The key is not known here, or was revoked.", error: "invalid_token")
        }
    }
}

extension Request {
    /// The key in the header; nil when there is none.
    fileprivate var shownKey: [UInt8]? {
        get throws(HTTPFailure) {
            let fields = headers[values: .authorization]
            guard let field = fields.first else { return nil }
            guard fields.count == 1 else {
                throw HTTPFailure(.badRequest, .invalidArgument, "A request has at most one Authorization header.")
            }
            let scheme = field.utf8.prefix { $0 != UInt8(ascii: " ") }
            guard scheme.map(\.lowercased).elementsEqual("bearer".utf8) else {
                throw .unauthenticated("Expected the header Authorization: Bearer KEY, found another scheme than Bearer.")
            }
            return Array(field.utf8.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") })
        }
    }

    /// Whether what is asked for is looked at by a person.
    fileprivate var isForPage: Bool {
        !isOfService && FieldValue.list(headers[.accept]).contains { $0.isValue("text/html") && !$0.isRefused }
    }
}

extension Caller {
    fileprivate func checkMayAsk(for request: Request) throws(HTTPFailure) {
        guard !request.isOfService, !request.hasPath("/rpc/docs"), keyID != nil, role < .admin else { return }
        throw HTTPFailure(
            .forbidden,
            .permissionDenied,
            "This needs a key with the role admin, and the key is one of a \(role.rawValue)."
        )
    }
}

extension HTTPFailure {
    /// - Parameter error: What RFC 6750 calls what is wrong with the key; nil when there was none.
    fileprivate static func unauthenticated(_ message: String, error: String? = nil) -> HTTPFailure {
        let challenge = #"Bearer realm="Hearth""# + (error.map { #", error="\#($0)""# } ?? "")
        return HTTPFailure(.unauthorized, .unauthenticated, message, headers: [.wwwAuthenticate: challenge])
    }

    fileprivate static func tooManyAttempts(_ wait: Duration) -> HTTPFailure {
        HTTPFailure(
            .tooManyRequests,
            .resourceExhausted,
            "Your address has shown too many keys that are not known here. Try again later, with a key that is.",
            headers: [.retryAfter: "\(wait.components.seconds + 1)"]
        )
    }

    /// The failure as a page of its own, which loads nothing.
    fileprivate var page: Response {
        let html = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><title>Hearth: a key is needed</title></head>
            <body>
            <h1>A key is needed</h1>
            <p>This server shows its pages to those who have the key of an admin. Browsers can't sign in yet: send the key in the \
            header of the request, for example with</p>
            <pre>curl -H "Authorization: Bearer $HEARTH_KEY" ADDRESS</pre>
            <p>or by a proxy on your own machine that adds the header. On the server's machine, a key is made with</p>
            <pre>hearth keys create --role admin --data DIR</pre>
            </body>
            </html>

            """
        var response = Response(
            status: status,
            headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html))
        )
        response.headers.append(contentsOf: headers)
        return response
    }
}
