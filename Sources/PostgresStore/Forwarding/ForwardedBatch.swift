internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import StrictJSON
internal import UTF8Text

/// Commits to a database that a server forwards to the one that has the lease.
struct ForwardedBatch: Sendable {
    /// The version of the tables that the sender knows.
    let version: Int64
    /// The number of the database.
    let database: Int64
    /// The term of the lease in which the batch is forwarded.
    let term: Int64
    /// The last commit that the sender knows; `nil` before the first.
    let anchor: LogAnchor?
    /// The engine's time when the batch was sent, in microseconds since 1970, as far as the sender knows it.
    let sentTime: Int64
    /// The beginning of the tokens of the commits.
    let token: [UInt8]
    /// The commits.
    let requests: [CommitRequest]

    /// The maximum size of the JSON of the commits. A server makes larger ones itself.
    static let maximumBytes = 4 << 20
    /// The version of its JSON.
    private static let format: Int64 = 5
    /// The length of ``token``.
    private static let tokenBytes = 16

    private static let limits = JSONLimits(maximumBytes: 2 * maximumBytes, maximumDepth: 64)

    /// Creates a batch of commits that ``canForward(_:)``.
    init(_ requests: [CommitRequest], _ database: Int64, term: Int64, after anchor: LogAnchor?, at sentTime: Int64) {
        version = EngineSchema.version
        self.database = database
        self.term = term
        self.anchor = anchor
        self.sentTime = sentTime
        self.requests = requests
        token = RandomBytes.make(Self.tokenBytes)
    }

    /// Returns whether another server can make a commit: all that it depends on can be sent. Rules, for example, are evaluated by
    /// the server that has the end user's token.
    static func canForward(_ commit: QueuedCommit) -> Bool {
        let request = commit.request
        return commit.origin == nil && commit.readAnchor == nil && request.author?.authorization == nil
            && request.reads.consistsOfVersions && request.unknownVersions.isEmpty && request.times.isEmpty
    }

    /// Returns the token of a commit.
    func token(of index: Int) -> [UInt8] { token + withUnsafeBytes(of: UInt32(index).bigEndian, Array.init) }

    /// The commits with their origin.
    var commits: [QueuedCommit] {
        requests.enumerated().map { index, request in
            QueuedCommit(
                request: request,
                origin: QueuedCommit.Origin(version: version, token: token(of: index), term: term, anchor: anchor)
            )
        }
    }
}

// MARK: - JSON

extension ForwardedBatch {
    private enum Keys {
        static let database: UTF8Key = "database"
        static let format: UTF8Key = "format"
        static let version: UTF8Key = "version"
        static let term: UTF8Key = "term"
        static let sent: UTF8Key = "sent"
        static let token: UTF8Key = "token"
        static let known: UTF8Key = "known"
        static let knownTime: UTF8Key = "knownTime"
        static let commits: UTF8Key = "commits"
        static let writes: UTF8Key = "writes"
        static let author: UTF8Key = "author"
        static let client: UTF8Key = "client"
        static let number: UTF8Key = "number"
        static let after: UTF8Key = "after"
        static let fingerprint: UTF8Key = "fingerprint"
        static let reads: UTF8Key = "reads"
        static let collections: UTF8Key = "collections"
        static let groups: UTF8Key = "groups"
        static let all: UTF8Key = "all"
    }

    /// Returns the JSON of a commit.
    static func encoded(_ request: CommitRequest) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(Keys.writes)
        writer.beginArray()
        for write in request.writes { write.write(storedTo: &writer) }
        writer.endArray()
        if let author = request.author?.keyID {
            writer.key(Keys.author)
            writer.string(author.string)
        }
        if let identity = request.identity {
            writer.key(Keys.client)
            writer.string(identity.client.text)
            for (key, number) in [
                (Keys.number, identity.number), (Keys.after, identity.after), (Keys.fingerprint, identity.fingerprint),
            ] {
                writer.key(key)
                writer.integer(Int64(bitPattern: number))
            }
        }
        if request.reads.count > 0 { write(request.reads, to: &writer) }
        writer.endObject()
        return writer.finish()
    }

    private static func write(_ reads: ReadSet, to writer: inout JSONWriter) {
        func write(_ key: UTF8Key, _ name: String, _ number: Int64?, to writer: inout JSONWriter) {
            writer.beginArray()
            writer.string(name)
            if let number { writer.integer(number) }
            writer.endArray()
        }
        var collections: [(String, SequenceNumber)] = []
        var groups: [(String, SequenceNumber)] = []
        for (scope, sequence) in reads.scopes {
            switch scope {
            case .collection(let path): collections.append((path.string, sequence))
            case .group(let id): groups.append((id.key.string, sequence))
            case .database:
                writer.key(Keys.all)
                writer.integer(Int64(clamping: sequence.rawValue))
            }
        }
        writer.key(Keys.reads)
        writer.beginArray()
        for (path, time) in reads.documents { write(Keys.reads, path.string, time?.microseconds, to: &writer) }
        writer.endArray()
        for (key, scopes) in [(Keys.collections, collections), (Keys.groups, groups)] {
            writer.key(key)
            writer.beginArray()
            for (name, sequence) in scopes { write(key, name, Int64(clamping: sequence.rawValue), to: &writer) }
            writer.endArray()
        }
    }

    /// Returns the JSON of the batch.
    ///
    /// - Parameter commits: The JSON of the commits.
    func encoded(_ commits: [[UInt8]]) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256 + commits.reduce(0) { $0 + $1.count + 1 })
        writer.beginObject()
        for (key, number) in [
            (Keys.format, Self.format), (Keys.version, version), (Keys.database, database), (Keys.term, term),
            (Keys.sent, sentTime),
        ] {
            writer.key(key)
            writer.integer(number)
        }
        writer.key(Keys.token)
        writer.string(Base64.url.encode(token))
        if let anchor {
            writer.key(Keys.known)
            writer.integer(Int64(clamping: anchor.sequence.rawValue))
            writer.key(Keys.knownTime)
            writer.integer(anchor.time.microseconds)
        }
        writer.key(Keys.commits)
        writer.beginArray()
        for commit in commits { writer.raw(commit) }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    /// Decodes a batch.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for anything else, and for a batch of another format.
    init(_ bytes: [UInt8]) throws(StatusError) {
        guard let json = try? JSONText(bytes, limits: Self.limits).root, json[integer: Keys.format] == Self.format,
            let version = json[integer: Keys.version], let database = json[integer: Keys.database],
            let term = json[integer: Keys.term],
            let sentTime = json[integer: Keys.sent],
            let token = json[Keys.token]?.string.flatMap({ Base64.url.decode($0.utf8) }), token.count == Self.tokenBytes,
            let commits = json[Keys.commits]?.elements, let count = json[Keys.commits]?.count,
            (1...CommitBatch.maximumWrites).contains(count)
        else { throw Self.invalid }
        self.version = version
        self.database = database
        self.term = term
        self.sentTime = sentTime
        self.token = token
        switch (json[integer: Keys.known], json[integer: Keys.knownTime]) {
        case (nil, nil): anchor = nil
        case (let known?, let time?) where known > 0:
            anchor = LogAnchor(SequenceNumber(UInt64(known)), at: try Timestamp(microseconds: time))
        default: throw Self.invalid
        }
        var requests: [CommitRequest] = []
        for commit in commits { requests.append(try Self.request(commit)) }
        self.requests = requests
    }

    private static func request(_ json: JSONNode) throws(StatusError) -> CommitRequest {
        guard let elements = json[Keys.writes]?.elements else { throw invalid }
        var writes: [Write] = []
        for element in elements { writes.append(try Write(storedJSON: element)) }
        var identity: CommitIdentity?
        if let client = json[Keys.client] {
            guard let client = client.string.flatMap({ CommitClientID($0) }), let number = json[integer: Keys.number],
                let after = json[integer: Keys.after], let fingerprint = json[integer: Keys.fingerprint]
            else { throw invalid }
            identity = CommitIdentity(
                client: client,
                number: UInt64(bitPattern: number),
                after: UInt64(bitPattern: after),
                fingerprint: UInt64(bitPattern: fingerprint)
            )
        }
        return CommitRequest(
            writes: writes,
            reads: try reads(json),
            author: CommitAuthor(keyID: json[Keys.author]?.string.map { UTF8Key($0) }),
            identity: identity
        )
    }

    private static func reads(_ json: JSONNode) throws(StatusError) -> ReadSet {
        var documents: [DocumentPath: Timestamp?] = [:]
        for (name, time) in try pairs(json[Keys.reads]) {
            let updateTime = try time.map { time throws(StatusError) in try Timestamp(microseconds: time) }
            documents[try DocumentPath(name)] = .some(updateTime)
        }
        var scopes: [ReadScope: SequenceNumber] = [:]
        for (name, sequence) in try pairs(json[Keys.collections]) {
            scopes[.collection(try CollectionPath(name))] = SequenceNumber(UInt64(clamping: sequence ?? 0))
        }
        for (name, sequence) in try pairs(json[Keys.groups]) {
            scopes[.group(try CollectionID(name))] = SequenceNumber(UInt64(clamping: sequence ?? 0))
        }
        if let sequence = json[integer: Keys.all] { scopes[.database] = SequenceNumber(UInt64(clamping: sequence)) }
        return ReadSet(documents: documents, scopes: scopes)
    }

    /// Returns the elements of an array of names with numbers.
    private static func pairs(_ json: JSONNode?) throws(StatusError) -> [(name: String, number: Int64?)] {
        guard let json else { return [] }
        guard let elements = json.elements else { throw invalid }
        var pairs: [(String, Int64?)] = []
        for element in elements {
            guard let parts = element.elements.map(Array.init), (1...2).contains(parts.count), let name = parts[0].string else {
                throw invalid
            }
            guard parts.count == 2 else {
                pairs.append((name, nil))
                continue
            }
            guard case .integer(let number)? = parts[1].number else { throw invalid }
            pairs.append((name, number))
        }
        return pairs
    }

    private static var invalid: StatusError {
        StatusError(.invalidArgument, "The body is not a batch of commits of a server with the same format of batches.")
    }
}
