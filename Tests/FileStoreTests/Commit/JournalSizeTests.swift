import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("The journal's size limit")
struct JournalSizeTests {
    @Test
    func `Under sustained writes the journal stays below its maximum size, and retained commits are readable`() async throws {
        // On a real disk, where syncing the documents takes longer than writing the journal.
        var fixture = try StoreFixture(in: TemporaryFolder.disk)
        fixture.configuration.segmentBytes = 16 << 10
        fixture.configuration.checkpointBytes = 32 << 10
        fixture.configuration.retentionBytes = 160 << 10
        fixture.configuration.recentBytes = 0
        let bound = fixture.configuration.retentionBytes
        let folder = fixture.folder
        try await fixture.withStore { store in
            let text = Value.string(String(repeating: "x", count: 300))
            let largest = try await withThrowingTaskGroup(of: Int.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        var largest = 0
                        for index in 0..<200 {
                            try await store.set("c/d\(writer)-\(index % 20)", ["n": .integer(Int64(index)), "text": text])
                            largest = max(largest, try folder.byteCount(ofSegmentsIn: "data/journal"))
                        }
                        return largest
                    }
                }
                return try await group.reduce(0) { max($0, $1) }
            }
            #expect(largest <= bound)
            let position = store.position
            #expect(position.lastSequence == SequenceNumber(1600) && position.oldestRetained > SequenceNumber(1))
            let count = Int(position.lastSequence.rawValue - position.oldestRetained.rawValue + 1)
            let kept = try await store.firstCommits(count, after: SequenceNumber(position.oldestRetained.rawValue - 1))
            #expect(kept.map(\.sequence.rawValue) == Array(position.oldestRetained.rawValue...1600))
        }
    }
}

extension TemporaryFolder {
    /// Returns the size of all journal segments; one removed in the meantime counts as zero.
    fileprivate func byteCount(ofSegmentsIn relative: String) throws -> Int {
        try names(in: relative).filter { $0.hasSuffix(".journal") }.reduce(0) { sum, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: self["\(relative)/\(name)"])
            return sum + ((attributes?[.size] as? Int) ?? 0)
        }
    }
}
