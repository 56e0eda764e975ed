package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON
import UTF8Text

/// A resume token of a watch stream, opaque to clients: a position up to which all changes to the target have been sent.
///
/// The token is bound to a history (epoch), a database and a target. It stays valid across connections and restarts of the
/// server, for as long as the commits after it are retained.
///
/// It is encoded as base64url of 33 bytes: version 2; a hash of the epoch; the sequence number; the commit time in microseconds;
/// a hash of the target and, unless it is the default one, the database.
package struct ResumeToken: Hashable, Sendable {
    /// The sequence number of the last commit whose changes have been sent.
    package let sequence: SequenceNumber
    /// The time of that commit, or the minimum timestamp before the first commit.
    let time: Timestamp
    private let epochHash: UInt64
    private let targetHash: UInt64

    private static let version: UInt8 = 2
    private static let byteCount = 33

    package init(
        target: PreparedWatchTarget,
        database: DatabaseID? = nil,
        epoch: String,
        sequence: SequenceNumber,
        time: Timestamp
    ) {
        self.sequence = sequence
        self.time = time
        self.epochHash = FNV1aHash.hash(epoch.utf8)
        self.targetHash = Self.hash(target, in: database)
    }

    /// Creates a token for the targets of a ``ListenSession``, whichever they are: one message has the token of all.
    init(ofListenerAt sequence: SequenceNumber, _ time: Timestamp, epoch: String, in database: DatabaseID?) {
        self.sequence = sequence
        self.time = time
        epochHash = FNV1aHash.hash(epoch.utf8)
        targetHash = Self.listenerHash(in: database)
    }

    /// Parses a token, or returns `nil` if it is malformed.
    package init?(_ text: String) {
        guard let bytes = Base64.url.decode(text.utf8) else { return nil }
        self.init(bytes: bytes)
    }

    /// Parses the bytes of a token, or returns `nil` if it is malformed.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes[0] == Self.version,
            let time = try? Timestamp(microseconds: Int64(bitPattern: Self.integer(bytes[17..<25])))
        else { return nil }
        epochHash = Self.integer(bytes[1..<9])
        sequence = SequenceNumber(Self.integer(bytes[9..<17]))
        self.time = time
        targetHash = Self.integer(bytes[25..<33])
    }

    /// The encoded token.
    package var text: String { Base64.url.encode(bytes) }

    /// The bytes that ``text`` encodes.
    package var bytes: [UInt8] {
        [Self.version] + [epochHash, sequence.rawValue, UInt64(bitPattern: time.microseconds), targetHash].flatMap(Self.bytes)
    }

    /// Returns whether the token was issued for a target in a database.
    package func belongs(to target: PreparedWatchTarget, in database: DatabaseID? = nil) -> Bool {
        targetHash == Self.hash(target, in: database)
    }

    /// Returns whether the token was issued for the targets of a ``ListenSession`` in a database.
    func belongsToListener(in database: DatabaseID?) -> Bool {
        targetHash == Self.listenerHash(in: database)
    }

    /// Returns whether the token was issued in the history with an epoch.
    package func belongs(toEpoch epoch: String) -> Bool {
        epochHash == FNV1aHash.hash(epoch.utf8)
    }

    /// Returns whether the token was issued in the history of a position, or in one from which that has branched off, before the branch.
    func belongs(toHistoryOf position: StorePosition) -> Bool {
        belongs(toEpoch: position.epoch)
            || position.lineage.contains { sequence <= $0.lastSequence && belongs(toEpoch: $0.epoch.description) }
    }

    private static func hash(_ target: PreparedWatchTarget, in database: DatabaseID?) -> UInt64 {
        hash(target.canonicalText, in: database)
    }

    private static func listenerHash(in database: DatabaseID?) -> UInt64 {
        // The canonical text of a target contains "=".
        hash("listener", in: database)
    }

    private static func hash(_ canonicalText: String, in database: DatabaseID?) -> UInt64 {
        FNV1aHash.hash(((database.map { "database=\($0)\n" } ?? "") + canonicalText).utf8)
    }

    private static func bytes(_ integer: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: integer >> (56 - 8 * $0)) }
    }

    private static func integer(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension ResumeToken: ParameterValue {
    package static var schema: JSONSchema {
        .string()
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let token = ResumeToken(try String(json: json, at: location)) else {
            throw location.invalid("expected the token of a frame", got: json)
        }
        self = token
    }
}

extension StatusError {
    /// Returns the error for a token that cannot be resumed from. Its ``oldestSequence`` is that of the oldest retained commit.
    static func tokenExpired(at position: StorePosition) -> StatusError {
        var error = StatusError(
            .outOfRange,
            "The commits after the token are no longer retained, or the token belongs to a different history. The oldest "
                + "retained commit is \(position.oldestRetained). Omit the token to start a new stream."
        )
        error.oldestSequence = position.oldestRetained.rawValue
        return error
    }
}

extension ResumeToken {
    /// Creates the token of a stream that starts at a position.
    package init(_ target: PreparedWatchTarget, at position: StorePosition) {
        self.init(
            target: target,
            database: position.database,
            epoch: position.epoch,
            sequence: position.lastSequence,
            time: position.lastCommitTime ?? .minimum
        )
    }

    /// The time that a standby has to reach a token of its primary.
    private static let catchUpTime = Duration.seconds(5)

    /// Returns a safe position of a store. On a standby, waits a moment for the commit of a token that the primary has issued.
    ///
    /// - Throws: `.unavailable` if the standby does not reach it: its state would be older than what the client has seen.
    func positionAfterCatchUp(of store: any DocumentStore) async throws(StatusError) -> StorePosition {
        var position = try await store.safePosition()
        let deadline = ContinuousClock.now + Self.catchUpTime
        while position.isReplicated, position.lastSequence < sequence,
            belongs(toEpoch: position.epoch) || position.lineage.contains(where: { belongs(toEpoch: $0.epoch.description) })
        {
            guard .now < deadline else {
                var error = StatusError(
                    .unavailable,
                    "This standby does not have the commit of the resume token yet. Try again, or ask its primary."
                )
                error.retryAfter = .seconds(1)
                throw error
            }
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else {
                throw StatusError(.cancelled, "The call was cancelled.")
            }
            position = try await store.safePosition()
        }
        return position
    }

    /// Returns the reason why a stream cannot be resumed after this token, or `nil` if it can.
    ///
    /// A data folder that was restored from a file copy reuses sequence numbers for other commits. The commit time shows whether
    /// the commit is the one that the token was issued for.
    ///
    /// - Parameter position: A safe position, so that a token from another server is not mistaken for one from the future.
    func resetReason(
        at position: StorePosition,
        in store: any DocumentStore
    ) async throws(StatusError) -> OutgoingWatchFrame.ResetReason? {
        guard belongs(toHistoryOf: position) else { return .restored }
        // The commit of the token has been lost: in a restore, or in a fail-over of an engine.
        guard sequence <= position.lastSequence else { return .restored }
        guard position.canResume(after: sequence) else { return .expired }
        // A commit that is no longer retained cannot be compared.
        guard position.oldestRetained <= sequence else { return nil }
        do throws(StatusError) {
            var commits = store.commits(after: sequence.previous).makeAsyncIterator()
            guard let commit = try await commits.next() else { return nil }
            return commit.time == time ? nil : .restored
        } catch {
            guard error.code == .outOfRange || error.code == .dataLoss else { throw error }
            return .expired
        }
    }
}
