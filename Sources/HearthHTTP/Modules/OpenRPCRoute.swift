import Cryptography
import DocumentModel
import HTTPTypes
import HearthAPI
import HummingbirdCore
import JSONRPC

/// `GET /openrpc.json`: the OpenRPC document, with an entity tag for conditional requests.
struct OpenRPCRoute: Sendable {
    private let document = HearthMethods.table.openRPCDocument
    private let tag: EntityTag

    init() {
        tag = EntityTag(digest: SHA256.digest(of: document))
    }

    /// Links are allowed, so that a browser can show the document.
    var policy: RoutePolicy {
        var policy = RoutePolicy.api
        policy.origins.allowsLinks = true
        policy.countsAsCall = false
        return policy
    }

    func respond(to request: Request, in _: HearthRequestContext) -> Response {
        let isUnchanged = request.headers[.ifNoneMatch].map(tag.matches) ?? false
        var response = isUnchanged ? Response(status: .notModified) : Response(json: document)
        response.headers[.eTag] = tag.text
        response.headers[.cacheControl] = "no-cache"
        return response
    }
}
