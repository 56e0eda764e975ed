package import DocumentModel
package import JSONRPC
package import StrictJSON

/// Where the next page of a list begins, opaque to clients: base64url of a version and of the key of the last entry before, with
/// a hash of the database between these where that is not the default one.
///
/// It holds no state of the server, so it stays good for ever; a page shows what is there when it is asked for.
package struct PageToken: ParameterValue, Hashable {
    /// The last entry of the page before: its ID, or its time.
    package let last: UTF8Key
    /// Of the name of the database; nil for the default one.
    private let databaseHash: UInt64?

    private static let version: UInt8 = 1
    /// Of a token with a hash.
    private static let databaseVersion: UInt8 = 3
    private static let hashBytes = 8

    package init(after last: UTF8Key, in database: DatabaseID? = nil) {
        self.last = last
        databaseHash = database.map(Self.hash)
    }

    /// Reads a token; nil when it is none.
    package init?(_ text: String) {
        guard let bytes = Base64.url.decode(text.utf8), let version = bytes.first else { return nil }
        let (hash, key): (ArraySlice<UInt8>?, ArraySlice<UInt8>)
        switch version {
        case Self.version: (hash, key) = (nil, bytes.dropFirst())
        case Self.databaseVersion where bytes.count > Self.hashBytes:
            (hash, key) = (bytes[1...Self.hashBytes], bytes.dropFirst(1 + Self.hashBytes))
        default: return nil
        }
        guard let last = UTF8Key(validating: key) else { return nil }
        self.last = last
        databaseHash = hash.map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }

    /// The token as clients get it.
    package var text: String {
        guard let databaseHash else { return Base64.url.encode([Self.version] + last.utf8) }
        let hash = (1...Self.hashBytes).map { UInt8(truncatingIfNeeded: databaseHash >> (8 * (Self.hashBytes - $0))) }
        return Base64.url.encode([Self.databaseVersion] + hash + last.utf8)
    }

    /// Makes sure that the token was given in a database.
    ///
    /// - Throws: ``StatusCode/invalidArgument``.
    package func check(for database: DatabaseID?) throws(StatusError) {
        guard databaseHash != database.map(Self.hash) else { return }
        var error = StatusError(
            .invalidArgument,
            "The page token was given in another database. Ask for the first page without one."
        )
        error.place = "pageToken"
        throw error
    }

    private static func hash(_ database: DatabaseID) -> UInt64 {
        TokenHash.of(database.description.utf8)
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
