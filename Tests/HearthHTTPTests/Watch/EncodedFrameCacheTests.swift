import DocumentModel
import DocumentStore
import HearthAPI
import NIOCore
import Testing
import UTF8Text

@testable import HearthHTTP

/// The shared encoding of frames.
@Suite struct EncodedFrameCacheTests {
    private func key(
        _ sequence: UInt64,
        _ format: WatchFormat = .ndjson,
        omitsRemoved: Bool = false,
        collection: String = "a",
        database: String? = nil,
        epoch: String = "e"
    ) throws -> EncodedFrameCache.Key {
        let database = try database.map { try DatabaseID($0, inProject: "p") }
        let target = PreparedWatchTarget.collection(try CollectionPath(collection))
        return EncodedFrameCache.Key(
            database: database,
            target: target,
            contents: .document,
            omitsRemoved: omitsRemoved,
            format: format,
            token: ResumeToken(
                target: target,
                database: database,
                epoch: epoch,
                sequence: SequenceNumber(sequence),
                time: .minimum
            )
        )
    }

    @Test
    func `Frames are encoded once per target, database, epoch and format, and apart for end users`() throws {
        let frames = EncodedFrameCache()
        var encoded: [String] = []
        let keys = try [
            key(1), key(1), key(1, .sse), key(1), key(1, .sse), key(1, collection: "b"), key(2), key(1),
            key(1, database: "d"), key(1, database: "d"), key(1, database: "d", epoch: "f"), key(1, database: "d"),
            key(1, omitsRemoved: true), key(1),
        ]
        for key in keys {
            let text = "\(key.database?.description ?? "") \(key.target.canonical) \(key.format) \(key.token)"
            let buffer = frames.buffer(for: key) {
                encoded.append(text)
                return ByteBuffer(string: text)
            }
            #expect(String(buffer: buffer) == text)
        }
        #expect(encoded.count == 7)
    }

    @Test
    func `The oldest frames are evicted when the cache exceeds its size`() throws {
        let frames = EncodedFrameCache(maximumBytes: 100)
        var encodingCount = 0
        func request(_ sequence: UInt64) throws {
            _ = frames.buffer(for: try key(sequence)) {
                encodingCount += 1
                return ByteBuffer(repeating: 0, count: 40)
            }
        }
        for sequence in [1, 2, 2, 1, 3, 3, 2] as [UInt64] { try request(sequence) }
        #expect(encodingCount == 3)
        try request(1)
        #expect(encodingCount == 4)
    }
}

extension PreparedWatchTarget {
    fileprivate var canonical: String {
        if case .collection(let path) = self { path.string } else { "?" }
    }
}
