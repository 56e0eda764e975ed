public import DocumentModel
internal import HearthWire
internal import StrictJSON
internal import UTF8Text

/// The identity, state and limits of a server.
public struct ServerInformation: Hashable, Sendable {
    /// The product: `Hearth`.
    public let name: String
    /// The product's version.
    public let version: String
    /// The database of the connection, as `PROJECT/DATABASE`; `nil` if the server doesn't report it.
    public let database: String?
    /// The identity of the history to which sequence numbers belong.
    ///
    /// It changes when the database is recreated or when commits may have been lost; a restored copy of the data folder keeps it.
    public let epoch: String
    /// The sequence number of the last commit; 0 before the first one.
    public let sequence: UInt64
    /// The oldest sequence number from which a watch stream can be resumed.
    public let oldestSequence: UInt64
    /// The time of the last commit; `nil` before the first one.
    public let commitTime: Timestamp?
    /// The reason the server rejects writes; `nil` while it accepts them.
    public let writeBlockedReason: String?
    /// The address of the primary that the server follows; `nil` for a server that accepts writes.
    public let primary: String?
    /// The time since the server was started, in whole seconds.
    public let uptime: Duration
    /// The limits of the server.
    public let limits: Limits

    /// The size limits of requests, responses and documents.
    public struct Limits: Hashable, Sendable {
        /// The maximum size of a request or response body.
        public let bodyBytes: Int
        /// The maximum number of requests in a batch.
        public let batchCount: Int
        /// The maximum number of documents or collections per page.
        public let pageSize: Int
        /// The maximum size of a document, computed as in Firestore.
        public let documentBytes: Int
    }
}

extension ServerInformation {
    init(json: JSONNode) throws(StatusError) {
        name = try json.string(ServerInfoKeys.name)
        version = try json.string(ServerInfoKeys.version)
        database = json[ServerInfoKeys.database]?.string
        epoch = try json.string(ServerInfoKeys.epoch)
        sequence = try json.number(ServerInfoKeys.sequence)
        oldestSequence = try json.number(ServerInfoKeys.oldestSequence)
        commitTime = try json.time(ServerInfoKeys.commitTime)
        writeBlockedReason = json[ServerInfoKeys.writeObstacle]?.string
        primary = json[ServerInfoKeys.primary]?.string
        uptime = .seconds(try json.number(ServerInfoKeys.uptimeSeconds) as Int64)
        guard let limits = json[ServerInfoKeys.limits] else {
            throw .malformedResponse(json, expected: "an object named limits")
        }
        self.limits = Limits(
            bodyBytes: try limits.number(ServerLimitKeys.bodyBytes),
            batchCount: try limits.number(ServerLimitKeys.batchCount),
            pageSize: try limits.number(ServerLimitKeys.pageSize),
            documentBytes: try limits.number(ServerLimitKeys.documentBytes)
        )
    }
}

extension JSONNode {
    /// Returns the integer value of a member.
    fileprivate func number<Number: FixedWidthInteger>(_ key: UTF8Key) throws(StatusError) -> Number {
        guard let number: Number = integer(key) else {
            throw .malformedResponse(self, expected: "an integer named \(key.string)")
        }
        return number
    }
}
