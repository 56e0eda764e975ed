package import DocumentModel
package import DocumentStore
internal import Journal
internal import StorageIO
internal import UTF8Text

/// A message from a primary to a standby.
///
/// ```
/// offset  bytes
///      0      4   length of the body
///      4      4   CRC-32C of the body
///      8          the body: a byte for the kind of message, and its contents
/// ```
///
/// Integers are little-endian, strings are preceded by their length in 4 bytes. A commit has the form of a ``JournalRecord``.
package enum ReplicationMessage: Hashable, Sendable {
    /// The beginning of a stream.
    case hello(Hello)
    /// All additional databases that exist.
    case databases([DatabaseID])
    /// The state of a database, before its commits or its snapshot.
    case head(DatabaseHead)
    /// The next commit of a database.
    case commit(DatabaseID?, Commit)
    /// A file beside the documents.
    case file(DatabaseID?, ReplicatedFile, digest: [UInt8])
    case snapshotPart(SnapshotPart)
    /// The end of the snapshot of a database.
    case snapshotEnd(DatabaseID?)
    case heartbeat(Heartbeat)
    /// The end of the stream, with its reason.
    case end(String)

    /// The version of the protocol and of the primary.
    package struct Hello: Hashable, Sendable {
        package let version: UInt32
        package let serverVersion: String
        /// The name of the primary's default database.
        package let defaultDatabase: DatabaseID

        package init(version: UInt32 = ReplicationMessage.version, serverVersion: String, defaultDatabase: DatabaseID) {
            self.version = version
            self.serverVersion = serverVersion
            self.defaultDatabase = defaultDatabase
        }
    }

    /// The state of a database on the primary, and what follows.
    package struct DatabaseHead: Hashable, Sendable {
        /// The result of the comparison with the state of the standby, and with it what follows.
        package enum Outcome: UInt8, Sendable {
            /// The commits that the standby lacks.
            case commits
            /// A snapshot, which the standby has asked for, or of a database that it does not have.
            case snapshot
            /// Nothing, since the commits after the standby's last one are no longer retained.
            case expired
            /// Nothing, since the standby has later commits.
            case ahead
            /// Nothing, since the standby's last commit is not the primary's of that number.
            case different
            /// Nothing, since the standby's history has another epoch.
            case otherEpoch
        }

        package let database: DatabaseID?
        package let branch: HistoryBranch
        package let lastSequence: SequenceNumber
        package let outcome: Outcome

        package init(database: DatabaseID?, branch: HistoryBranch, lastSequence: SequenceNumber, outcome: Outcome) {
            self.database = database
            self.branch = branch
            self.lastSequence = lastSequence
            self.outcome = outcome
        }
    }

    /// The heartbeat of a primary. All that was committed before it was made has been sent before, if it is complete.
    package struct Heartbeat: Hashable, Sendable {
        /// The time since the beginning of the stream, by a clock that is not set.
        package let elapsed: Duration
        /// The primary's time.
        package let time: Timestamp
        package let isComplete: Bool
        /// The last commits of the databases at that time.
        package let positions: [Position]

        package init(elapsed: Duration, time: Timestamp, isComplete: Bool, positions: [Position]) {
            self.elapsed = elapsed
            self.time = time
            self.isComplete = isComplete
            self.positions = positions
        }
    }

    /// The last commit of a database.
    package struct Position: Hashable, Sendable {
        package let database: DatabaseID?
        package let sequence: SequenceNumber

        package init(database: DatabaseID?, sequence: SequenceNumber) {
            self.database = database
            self.sequence = sequence
        }
    }

    /// The version of the protocol.
    package static let version: UInt32 = 1
    /// The maximum size of a body.
    static let maximumBytes = JournalRecord.maximumBytes + (64 << 10)
    /// The size of what precedes a body.
    static let prefixBytes = 8

    /// The kinds of messages.
    private enum Kind: UInt8 {
        case hello = 1
        case databases
        case head
        case commit
        case file
        case snapshotPart
        case snapshotEnd
        case heartbeat
        case end
    }
}

// MARK: - Encoding

extension ReplicationMessage {
    /// Appends the encoded message.
    package func append(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += repeatElement(0, count: Self.prefixBytes)
        appendBody(to: &bytes)
        let bodyStart = start + Self.prefixBytes
        let checksum = bytes.withUnsafeBytes { CRC32C.checksum(UnsafeRawBufferPointer(rebasing: $0[bodyStart...])) }
        bytes.overwrite(littleEndian: UInt32(bytes.count - bodyStart), at: start)
        bytes.overwrite(littleEndian: checksum, at: start + 4)
    }

    private func appendBody(to bytes: inout [UInt8]) {
        switch self {
        case .hello(let hello):
            bytes.append(Kind.hello.rawValue)
            bytes.append(littleEndian: hello.version)
            bytes.append(text: hello.serverVersion)
            bytes.append(text: hello.defaultDatabase.description)
        case .databases(let databases):
            bytes.append(Kind.databases.rawValue)
            bytes.append(littleEndian: UInt32(databases.count))
            for database in databases { bytes.append(text: database.description) }
        case .head(let head):
            bytes.append(Kind.head.rawValue)
            bytes.append(database: head.database)
            bytes.append(head.outcome.rawValue)
            bytes += head.branch.epoch.bytes
            bytes.append(littleEndian: head.lastSequence.rawValue)
            bytes.append(littleEndian: UInt32(head.branch.lineage.count))
            for ancestor in head.branch.lineage {
                bytes += ancestor.epoch.bytes
                bytes.append(littleEndian: ancestor.lastSequence.rawValue)
            }
        case .commit(let database, let commit):
            bytes.append(Kind.commit.rawValue)
            bytes.append(database: database)
            Self.append(commit, to: &bytes)
        case .file(let database, let file, let digest):
            bytes.append(Kind.file.rawValue)
            bytes.append(database: database)
            bytes.append(text: file.name)
            bytes.append(prefixed: digest)
            bytes.append(prefixed: file.bytes)
        case .snapshotPart(let part):
            bytes.append(Kind.snapshotPart.rawValue)
            bytes.append(text: part.path)
            bytes.append(littleEndian: part.modifiedTime)
            bytes.append(littleEndian: UInt64(part.offset))
            bytes.append(prefixed: part.bytes)
        case .snapshotEnd(let database):
            bytes.append(Kind.snapshotEnd.rawValue)
            bytes.append(database: database)
        case .heartbeat(let heartbeat):
            bytes.append(Kind.heartbeat.rawValue)
            bytes.append(littleEndian: heartbeat.elapsed.wholeMicroseconds)
            bytes.append(littleEndian: heartbeat.time.microseconds)
            bytes.append(heartbeat.isComplete ? 1 : 0)
            bytes.append(littleEndian: UInt32(heartbeat.positions.count))
            for position in heartbeat.positions {
                bytes.append(database: position.database)
                bytes.append(littleEndian: position.sequence.rawValue)
            }
        case .end(let reason):
            bytes.append(Kind.end.rawValue)
            bytes.append(text: reason)
        }
    }

    /// Appends a commit without before-images, which the standby has.
    private static func append(_ commit: Commit, to bytes: inout [UInt8]) {
        JournalRecord.append(commit, batch: commit.sequence, to: &bytes) { _ in false }
    }

    /// Returns the checksum by which a primary tells whether a standby has the same commit.
    package static func checksum(of commit: Commit) -> UInt32 {
        var bytes: [UInt8] = []
        append(commit, to: &bytes)
        return bytes.withUnsafeBytes { CRC32C.checksum($0) }
    }
}

extension Duration {
    /// The duration in microseconds.
    fileprivate var wholeMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}

extension [UInt8] {
    fileprivate mutating func append(prefixed bytes: some Collection<UInt8>) {
        append(littleEndian: UInt32(bytes.count))
        self += bytes
    }

    fileprivate mutating func append(text: String) {
        append(prefixed: Array(text.utf8))
    }

    /// Appends the name of an additional database, or nothing for the default one.
    fileprivate mutating func append(database: DatabaseID?) {
        append(text: database?.description ?? "")
    }
}

// MARK: - Decoding

extension ReplicationMessage {
    /// Decodes a body whose checksum is right; `nil` if it is not that of a message.
    init?(body: ArraySlice<UInt8>) {
        var reader = ByteReader(body)
        guard let kind = reader.integer(UInt8.self).flatMap(Kind.init(rawValue:)),
            let message = Self.message(kind, &reader), reader.isAtEnd
        else { return nil }
        self = message
    }

    private static func message(_ kind: Kind, _ reader: inout ByteReader) -> ReplicationMessage? {
        switch kind {
        case .hello:
            guard let version = reader.integer(UInt32.self), let server = reader.text(), let database = reader.database(),
                let database
            else { return nil }
            return .hello(Hello(version: version, serverVersion: server, defaultDatabase: database))
        case .databases:
            guard let count = reader.integer(UInt32.self) else { return nil }
            var databases: [DatabaseID] = []
            for _ in 0..<count {
                guard let database = reader.database(), let database else { return nil }
                databases.append(database)
            }
            return .databases(databases)
        case .head: return head(&reader).map { .head($0) }
        case .commit:
            guard let database = reader.database(),
                case .record(let record, let byteCount) = JournalRecord.read(reader.rest), byteCount == reader.rest.count
            else { return nil }
            reader.rest = []
            return .commit(database, record.commit)
        case .file:
            guard let database = reader.database(), let name = reader.text(), let digest = reader.lengthPrefixedBytes(),
                let bytes = reader.lengthPrefixedBytes(), bytes.count <= ReplicatedFile.maximumBytes
            else { return nil }
            return .file(database, ReplicatedFile(name: name, bytes: Array(bytes)), digest: Array(digest))
        case .snapshotPart:
            guard let path = reader.text(), let time = reader.integer(Int64.self), let offset = reader.integer(UInt64.self),
                offset <= UInt64(Int64.max) / 2, let bytes = reader.lengthPrefixedBytes(),
                bytes.count <= SnapshotPart.maximumBytes
            else { return nil }
            return .snapshotPart(SnapshotPart(path: path, modifiedTime: time, offset: Int(offset), bytes: Array(bytes)))
        case .snapshotEnd: return reader.database().map { .snapshotEnd($0) }
        case .heartbeat: return heartbeat(&reader).map { .heartbeat($0) }
        case .end: return reader.text().map { .end($0) }
        }
    }

    private static func head(_ reader: inout ByteReader) -> DatabaseHead? {
        guard let database = reader.database(),
            let outcome = reader.integer(UInt8.self).flatMap(DatabaseHead.Outcome.init(rawValue:)),
            let epoch = reader.epoch(), let last = reader.integer(UInt64.self), let count = reader.integer(UInt32.self),
            count <= AncestorEpoch.maximumCount
        else { return nil }
        var lineage: [AncestorEpoch] = []
        for _ in 0..<count {
            guard let epoch = reader.epoch(), let last = reader.integer(UInt64.self) else { return nil }
            lineage.append(AncestorEpoch(epoch, through: SequenceNumber(last)))
        }
        return DatabaseHead(
            database: database,
            branch: HistoryBranch(epoch: epoch, lineage: lineage),
            lastSequence: SequenceNumber(last),
            outcome: outcome
        )
    }

    private static func heartbeat(_ reader: inout ByteReader) -> Heartbeat? {
        guard let elapsed = reader.integer(Int64.self), elapsed >= 0,
            let time = reader.integer(Int64.self).flatMap({ try? Timestamp(microseconds: $0) }),
            let isComplete = reader.integer(UInt8.self), isComplete <= 1, let count = reader.integer(UInt32.self)
        else { return nil }
        var positions: [Position] = []
        for _ in 0..<count {
            guard let database = reader.database(), let sequence = reader.integer(UInt64.self) else { return nil }
            positions.append(Position(database: database, sequence: SequenceNumber(sequence)))
        }
        return Heartbeat(elapsed: .microseconds(elapsed), time: time, isComplete: isComplete == 1, positions: positions)
    }
}

extension ByteReader {
    fileprivate mutating func text() -> String? {
        lengthPrefixedBytes().flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Reads the name of a database: `.some(nil)` for the default one.
    fileprivate mutating func database() -> DatabaseID?? {
        guard let name = text() else { return nil }
        if name.utf8.isEmpty { return .some(nil) }
        return (try? DatabaseID(name, inProject: DatabaseID.standard.project)).map { .some($0) }
    }

    fileprivate mutating func epoch() -> Epoch? {
        bytes(Epoch.byteCount).flatMap(Epoch.init(bytes:))
    }
}
