import Crypto
import DocumentModel
import HTTPTypes
import HearthService
import Hummingbird
import JSONRPC

/// `GET /openrpc.json`: the OpenRPC description of all methods, which clients may keep until it changes.
struct DescriptionRoute: Sendable {
    private let document = HearthMethods.table.openRPCDocument
    private let tag: EntityTag

    init() {
        tag = EntityTag(digest: SHA256.hash(data: document))
    }

    func respond(to request: Request) -> Response {
        let isKnown = request.headers[.ifNoneMatch].map(tag.isListed) ?? false
        var response = isKnown ? Response(status: .notModified) : Response(json: document)
        response.headers[.eTag] = tag.text
        response.headers[.cacheControl] = "no-cache"
        return response
    }
}
