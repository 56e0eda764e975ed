import DocumentModel
import DocumentStore
import Replication
import TestSupport
import Testing
import UTF8Text

@Suite("Messages from a primary to a standby")
struct ReplicationParserTests {
    private static func messages() throws -> [ReplicationMessage] {
        let database = try DatabaseID(project: "shop", database: "tests")
        let path = try DocumentPath("books/a")
        let time = try Timestamp(microseconds: 1_704_164_645_000_006)
        let document = EncodedDocument(path: path, createTime: time, updateTime: time, fieldsJSON: Array(#"{"n":1}"#.utf8))
        let commit = Commit(
            sequence: SequenceNumber(7),
            time: time,
            author: "key",
            changes: [
                CommittedChange(path: path, before: nil, after: document, existedBefore: false),
                CommittedChange(path: try DocumentPath("books/b"), before: nil, after: nil, existedBefore: true),
            ]
        )
        let parent = Epoch.random()
        return [
            .hello(.init(serverVersion: "1", defaultDatabase: .standard)),
            .databases([database]),
            .head(
                .init(
                    database: database,
                    branch: HistoryBranch(epoch: .random(), lineage: [AncestorEpoch(parent, through: SequenceNumber(3))]),
                    lastSequence: SequenceNumber(9),
                    outcome: .expired
                )
            ),
            .commit(nil, commit),
            .commit(database, commit),
            .file(nil, ReplicatedFile(name: "keys.json", bytes: Array("{}".utf8)), digest: [1, 2, 3]),
            .snapshotPart(SnapshotPart(path: "documents/a.json", modifiedTime: -5, offset: 12, bytes: [0, 255])),
            .snapshotEnd(database),
            .heartbeat(
                .init(
                    elapsed: .microseconds(1_500),
                    time: time,
                    isComplete: true,
                    positions: [.init(database: nil, sequence: SequenceNumber(7)), .init(database: database, sequence: .zero)]
                )
            ),
            .end("shutdown"),
        ]
    }

    private static func bytes(_ messages: [ReplicationMessage]) -> [UInt8] {
        messages.reduce(into: []) { $1.append(to: &$0) }
    }

    /// Parses pieces of a stream. Returns the messages, and whether the stream was refused.
    private static func parse(_ bytes: [UInt8], pieceBytes: Int) -> (messages: [ReplicationMessage], isRefused: Bool) {
        var parser = ReplicationParser()
        var found: [ReplicationMessage] = []
        for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
            parser.append(Array(bytes[start..<min(bytes.count, start + pieceBytes)]))
            do throws(StatusError) {
                while let message = try parser.next() { found.append(message) }
            } catch {
                #expect(error.code == .dataLoss)
                return (found, true)
            }
        }
        return (found, false)
    }

    @Test(arguments: [1, 7, 64, 100_000])
    func `Messages are the same in pieces of any size`(pieceBytes: Int) throws {
        let messages = try Self.messages()
        let result = Self.parse(Self.bytes(messages), pieceBytes: pieceBytes)
        #expect(result.messages == messages)
        #expect(!result.isRefused)
    }

    @Test func `A stream that was cut at any byte has the complete messages only`() throws {
        let messages = try Self.messages()
        let bytes = Self.bytes(messages)
        var ends = [0]
        for message in messages { ends.append(ends[ends.count - 1] + Self.bytes([message]).count) }
        for count in 0..<bytes.count {
            let result = Self.parse(Array(bytes.prefix(count)), pieceBytes: 50)
            #expect(result.messages == Array(messages.prefix(ends.count { $0 <= count } - 1)))
            #expect(!result.isRefused)
        }
    }

    @Test func `No altered byte makes another message`() throws {
        let messages = try Self.messages()
        let bytes = Self.bytes(messages)
        for index in bytes.indices {
            for flipped: UInt8 in [1, 0x80, 0xff] {
                var altered = bytes
                altered[index] ^= flipped
                let result = Self.parse(altered, pieceBytes: 1 << 20)
                // The messages before the altered one, and nothing else.
                #expect(result.messages.count < messages.count && messages.starts(with: result.messages), "byte \(index)")
            }
        }
    }

    @Test func `Random bytes are refused, and take no memory for lengths that they claim`() {
        var random = SeededGenerator(seed: SeededGenerator.currentSeed)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 8...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(Self.parse(bytes, pieceBytes: 33).messages == [])
        }
        // A length beyond every message, and none.
        #expect(Self.parse([255, 255, 255, 255, 0, 0, 0, 0], pieceBytes: 8).isRefused)
        #expect(Self.parse([0, 0, 0, 0, 0, 0, 0, 0], pieceBytes: 8).isRefused)
    }

    @Test func `Nothing counts after what was refused`() throws {
        var parser = ReplicationParser()
        parser.append([0, 0, 0, 0, 0, 0, 0, 0])
        #expect(throws: StatusError.self) { try parser.next() }
        parser.append(Self.bytes(try Self.messages()))
        #expect(throws: StatusError.self) { try parser.next() }
    }

    @Test func `The checksum of a commit tells it from others, and does not depend on before-images`() throws {
        let path = try DocumentPath("books/a")
        let time = try Timestamp(microseconds: 5)
        func commit(_ n: Int, before: Bool) -> Commit {
            let document = { (n: Int) in
                EncodedDocument(path: path, createTime: time, updateTime: time, fieldsJSON: Array(#"{"n":\#(n)}"#.utf8))
            }
            let change = CommittedChange(path: path, before: before ? document(0) : nil, after: document(n), existedBefore: true)
            return Commit(sequence: SequenceNumber(2), time: time, changes: [change])
        }
        let checksum = ReplicationMessage.checksum(of: commit(1, before: true))
        #expect(checksum == ReplicationMessage.checksum(of: commit(1, before: false)))
        #expect(checksum != ReplicationMessage.checksum(of: commit(2, before: true)))
    }

    @Test func `A request is what it was, and invalid ones say what is wrong`() throws {
        let database = try DatabaseID(project: "shop", database: "tests")
        let request = ReplicationRequest([
            .init(nil, .state(.init(epoch: .random(), sequence: SequenceNumber(41), checksum: .max))),
            .init(database, .snapshot), .init(try DatabaseID("shop/other", inProject: database.project), .suspended),
        ])
        #expect(try ReplicationRequest(json: request.json()) == request)
        let invalid = [
            "", "[]", "{}", #"{"version":2,"databases":[]}"#, #"{"version":1,"databases":[{}]}"#,
            #"{"version":1,"databases":[{"snapshot":true},{"snapshot":true}]}"#,
            #"{"version":1,"databases":[{"database":"a/b/c","snapshot":true}]}"#,
            #"{"version":1,"databases":[{"epoch":"00","sequence":1}]}"#,
        ]
        for text in invalid {
            #expect(throws: StatusError.self, "\(text)") { try ReplicationRequest(json: Array(text.utf8)) }
        }
    }
}
