public import DocumentModel
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
    /// The identity of the history that sequence numbers belong to; changes when the database is recreated or restored.
    public let epoch: String
    /// The sequence number of the last commit; 0 before the first one.
    public let sequence: UInt64
    /// The oldest sequence number from which a watch stream can be resumed.
    public let oldestSequence: UInt64
    /// The time of the last commit; `nil` before the first one.
    public let commitTime: Timestamp?
    /// The reason the server rejects writes; `nil` while it accepts them.
    public let writeBlockedReason: String?
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
    init(rpc json: JSONNode) throws(StatusError) {
        name = try json.string("name")
        version = try json.string("version")
        database = json["database"]?.string
        epoch = try json.string("epoch")
        sequence = try json.number("sequence")
        oldestSequence = try json.number("oldestSequence")
        commitTime = try json["commitTime"]?.string.map { text throws(StatusError) in try Timestamp(rfc3339: text) }
        writeBlockedReason = json["writeObstacle"]?.string
        uptime = .seconds(try json.number("uptimeSeconds") as Int64)
        guard let limits = json["limits"] else { throw .malformedResponse(json, expected: "an object named limits") }
        self.limits = Limits(
            bodyBytes: try limits.number("bodyBytes"),
            batchCount: try limits.number("batchCount"),
            pageSize: try limits.number("pageSize"),
            documentBytes: try limits.number("documentBytes")
        )
    }
}

extension JSONNode {
    /// Returns the integer value of a member.
    fileprivate func number<Number: FixedWidthInteger>(_ name: UTF8Key) throws(StatusError) -> Number {
        guard case .integer(let number)? = self[name]?.number, let number = Number(exactly: number) else {
            throw .malformedResponse(self, expected: "an integer named \(name)")
        }
        return number
    }
}
