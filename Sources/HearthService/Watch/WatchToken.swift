package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// A bookmark in a watch stream, opaque to clients: all changes of its target up to a commit have been sent.
///
/// It names the history that the commit belongs to and the target, so that it is good for nothing else. It outlives the
/// connection and the server; whether the commits after it are still kept is seen when it is used.
///
/// As text it is base64url of 33 bytes: version 2; a hash of the epoch; the sequence number; the commit's time in microseconds;
/// a hash of the target, and of the database where that is not the default one.
package struct WatchToken: Hashable, Sendable {
    /// The last commit whose changes have been sent.
    package let sequence: SequenceNumber
    /// Its time; the earliest when there was no commit yet.
    let time: Timestamp
    private let epochHash: UInt64
    private let targetHash: UInt64

    private static let version: UInt8 = 2
    private static let byteCount = 33

    package init(
        target: WatchTarget,
        database: DatabaseID? = nil,
        epoch: String,
        sequence: SequenceNumber,
        time: Timestamp
    ) {
        self.sequence = sequence
        self.time = time
        self.epochHash = TokenHash.of(epoch.utf8)
        self.targetHash = Self.hash(target, in: database)
    }

    /// Reads a token; nil when it is none.
    package init?(_ text: String) {
        guard let bytes = Base64.url.decode(text.utf8), bytes.count == Self.byteCount, bytes[0] == Self.version,
            let time = try? Timestamp(microseconds: Int64(bitPattern: Self.integer(bytes[17..<25])))
        else { return nil }
        epochHash = Self.integer(bytes[1..<9])
        sequence = SequenceNumber(Self.integer(bytes[9..<17]))
        self.time = time
        targetHash = Self.integer(bytes[25..<33])
    }

    /// The token as clients get it.
    package var text: String {
        Base64.url.encode(
            [Self.version]
                + [epochHash, sequence.rawValue, UInt64(bitPattern: time.microseconds), targetHash].flatMap(Self.bytes)
        )
    }

    /// Whether the token was given for this target in this database.
    package func belongs(to target: WatchTarget, in database: DatabaseID? = nil) -> Bool {
        targetHash == Self.hash(target, in: database)
    }

    /// Whether the token was given in this history.
    package func belongs(toEpoch epoch: String) -> Bool {
        epochHash == TokenHash.of(epoch.utf8)
    }

    private static func hash(_ target: WatchTarget, in database: DatabaseID?) -> UInt64 {
        TokenHash.of(((database.map { "database=\($0)\n" } ?? "") + target.canonicalText).utf8)
    }

    private static func bytes(_ integer: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: integer >> (56 - 8 * $0)) }
    }

    private static func integer(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension WatchToken: ParameterValue {
    package static var schema: JSONSchema {
        .string()
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let token = WatchToken(try String(json: json, at: location)) else {
            throw location.invalid("expected the token of a frame", got: json)
        }
        self = token
    }
}
