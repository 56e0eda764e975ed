public import DocumentModel
internal import StrictJSON

/// What a server says of itself.
public struct ServerInformation: Hashable, Sendable {
    /// The product: `Hearth`.
    public let name: String
    /// The product's version.
    public let version: String
    /// The database that was asked for: `PROJECT/DATABASE`. Nil where the server doesn't say.
    public let database: String?
    /// The history that sequence numbers belong to; another one once the database is made anew or restored.
    public let epoch: String
    /// The last commit's place in the order of commits; 0 before the first.
    public let sequence: UInt64
    /// The oldest commit that a watch stream can still be resumed before.
    public let oldestSequence: UInt64
    /// The last commit's time; nil before the first.
    public let commitTime: Timestamp?
    /// Why the server refuses writes now; nil as long as it takes them.
    public let writeObstacle: String?
    /// How long the server has been running, in whole seconds.
    public let uptime: Duration
    /// What a client has to keep to.
    public let limits: Limits

    /// How much a server takes and gives in one piece.
    public struct Limits: Hashable, Sendable {
        /// The bytes of a request, and of an answer.
        public let bodyBytes: Int
        /// The requests in one batch.
        public let batchCount: Int
        /// The documents or collections on a page of a list.
        public let pageSize: Int
        /// The bytes of a document, by Firestore's way of counting them.
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
        writeObstacle = json["writeObstacle"]?.string
        uptime = .seconds(try json.number("uptimeSeconds") as Int64)
        guard let limits = json["limits"] else { throw .unreadable(json, expected: "an object named limits") }
        self.limits = Limits(
            bodyBytes: try limits.number("bodyBytes"),
            batchCount: try limits.number("batchCount"),
            pageSize: try limits.number("pageSize"),
            documentBytes: try limits.number("documentBytes")
        )
    }
}

extension JSONNode {
    /// The whole number that the member of that name is.
    fileprivate func number<Number: FixedWidthInteger>(_ name: UTF8Key) throws(StatusError) -> Number {
        guard case .integer(let number)? = self[name]?.number, let number = Number(exactly: number) else {
            throw .unreadable(self, expected: "a whole number named \(name)")
        }
        return number
    }
}
