package import DocumentModel
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// An opaque token for the next page of a list: base64url of a version byte, a hash of the database unless it is the default one,
/// and the key of the last entry of the previous page.
///
/// The server keeps no state for a token, so it never expires. A page shows the data at the time of its request.
package struct PageToken: ParameterValue, Hashable {
    /// The key of the last entry of the previous page: its ID or its time.
    package let last: UTF8Key
    /// The hash of the database name, or `nil` for the default database.
    private let databaseHash: UInt64?

    private static let version: UInt8 = 1
    /// The version of a token with a database hash.
    private static let databaseVersion: UInt8 = 3
    private static let hashBytes = 8

    package init(after last: UTF8Key, in database: DatabaseID? = nil) {
        self.last = last
        databaseHash = database.map(Self.hash)
    }

    /// Parses a token, or returns `nil` if it is malformed.
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

    /// The encoded token.
    package var text: String {
        guard let databaseHash else { return Base64.url.encode([Self.version] + last.utf8) }
        let hash = (1...Self.hashBytes).map { UInt8(truncatingIfNeeded: databaseHash >> (8 * (Self.hashBytes - $0))) }
        return Base64.url.encode([Self.databaseVersion] + hash + last.utf8)
    }

    /// Requires that the token was issued in the given database.
    ///
    /// - Throws: ``StatusCode/invalidArgument``.
    package func validate(for database: DatabaseID?) throws(StatusError) {
        guard databaseHash != database.map(Self.hash) else { return }
        var error = StatusError(
            .invalidArgument,
            "The page token was issued in another database. Omit it to read the first page."
        )
        error.parameterPath = ListParameterKeys.pageToken.string
        throw error
    }

    private static func hash(_ database: DatabaseID) -> UInt64 {
        FNV1aHash.hash(database.description.utf8)
    }
}

extension PageToken {
    package static var schema: JSONSchema {
        .string()
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let token = Self(try String(json: json, at: location)) else {
            throw location.invalid("expected the nextPageToken of a previous page", got: json)
        }
        self = token
    }
}

extension JSONSchema {
    /// Returns the schema of a page of a list.
    static func page(of name: UTF8Key, _ element: JSONSchema, _ description: String, _ more: Property...) -> JSONSchema {
        .object(
            [
                .init(name, .array(of: element), description),
                .init(
                    PageKeys.nextPageToken,
                    PageToken.schema,
                    "The token of the next page; absent on the last page.",
                    isRequired: false
                ),
            ] + more
        )
    }
}
