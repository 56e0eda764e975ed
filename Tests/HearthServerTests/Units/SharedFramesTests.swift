import DocumentModel
import DocumentStore
import HearthService
import NIOCore
import StrictJSON
import Testing

@testable import HearthServer

/// What is written once for all who watch the same.
@Suite struct SharedFramesTests {
    private func key(
        _ sequence: UInt64,
        _ format: WatchFormat = .ndjson,
        collection: String = "a",
        database: String? = nil,
        epoch: String = "e"
    ) throws -> SharedFrames.Key {
        let database = try database.map { try DatabaseID($0, inProject: "p") }
        let target = WatchTarget.collection(try CollectionPath(collection))
        return SharedFrames.Key(
            database: database,
            target: target,
            contents: .document,
            format: format,
            token: WatchToken(
                target: target,
                database: database,
                epoch: epoch,
                sequence: SequenceNumber(sequence),
                time: .minimum
            )
        )
    }

    @Test("The changes of a commit are written once, for each target, database, life of the database and format")
    func once() throws {
        let frames = SharedFrames()
        var written: [String] = []
        let wanted = try [
            key(1), key(1), key(1, .sse), key(1), key(1, .sse), key(1, collection: "b"), key(2), key(1),
            key(1, database: "d"), key(1, database: "d"), key(1, database: "d", epoch: "f"), key(1, database: "d"),
        ]
        for key in wanted {
            let text = "\(key.database?.description ?? "") \(key.target.canonical) \(key.format) \(key.token)"
            let buffer = frames.buffer(for: key) {
                written.append(text)
                return ByteBuffer(string: text)
            }
            #expect(String(buffer: buffer) == text)
        }
        #expect(written.count == 6)
    }

    @Test("The oldest are forgotten when there are too many bytes")
    func bounded() throws {
        let frames = SharedFrames(maximumBytes: 100)
        var writeCount = 0
        func take(_ sequence: UInt64) throws {
            _ = frames.buffer(for: try key(sequence)) {
                writeCount += 1
                return ByteBuffer(repeating: 0, count: 40)
            }
        }
        for sequence in [1, 2, 2, 1, 3, 3, 2] as [UInt64] { try take(sequence) }
        #expect(writeCount == 3)
        try take(1)
        #expect(writeCount == 4)
    }
}

extension WatchTarget {
    fileprivate var canonical: String {
        if case .collection(let path) = self { path.string } else { "?" }
    }
}
