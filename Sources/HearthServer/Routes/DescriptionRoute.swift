import Crypto
import HTTPTypes
import HearthService
import Hummingbird
import JSONRPC

/// `GET /openrpc.json`: the OpenRPC description of all methods, which clients may keep until it changes.
struct DescriptionRoute: Sendable {
    private let document = HearthMethods.table.openRPCDocument
    private let entityTag: String

    init() {
        let digest = SHA256.hash(data: document).prefix(8).map { String($0, radix: 16) }.joined(separator: "-")
        entityTag = "\"\(digest)\""
    }

    func respond(to request: Request) -> Response {
        var response = isKnown(to: request) ? Response(status: .notModified) : Response(json: document)
        response.headers[.eTag] = entityTag
        response.headers[.cacheControl] = "no-cache"
        return response
    }

    private func isKnown(to request: Request) -> Bool {
        FieldValue.list(request.headers[.ifNoneMatch]).contains { tag in
            let tag = tag.value.starts(with: "w/".utf8) ? tag.value.dropFirst(2) : tag.value[...]
            return tag.elementsEqual(entityTag.utf8) || tag.elementsEqual("*".utf8)
        }
    }
}
