import DocumentModel
package import JSONRPC
package import StrictJSON

/// Where the next page of a list begins, opaque to clients: base64url of a version and of the key of the last entry before.
///
/// It holds no state of the server, so it stays good for ever; a page shows what is there when it is asked for.
package struct PageToken: ParameterValue, Hashable {
    /// The last entry of the page before: its ID, or its time.
    package let last: UTF8Key

    private static let version: UInt8 = 1

    package init(after last: UTF8Key) {
        self.last = last
    }

    /// Reads a token; nil when it is none.
    package init?(_ text: String) {
        guard let bytes = Base64.url.decode(text.utf8), bytes.first == Self.version,
            let last = UTF8Key(validating: bytes.dropFirst())
        else { return nil }
        self.last = last
    }

    /// The token as clients get it.
    package var text: String {
        Base64.url.encode([Self.version] + last.utf8)
    }
}

extension PageToken {
    package static var schema: JSONSchema {
        .string()
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let token = Self(try String(json: json, at: location)) else {
            throw location.invalid("expected the nextPageToken of a page before", got: json)
        }
        self = token
    }
}
