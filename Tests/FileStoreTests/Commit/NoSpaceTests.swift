import DocumentModel
import DocumentStore
import FileStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@Suite("Commits on a full disk", .tags(.crash), .enabled(if: TmpfsVolume.isAvailable, "Mounting a file system takes root"))
struct NoSpaceTests {
    @Test
    func `Acknowledged commits are kept, others are rejected, and writes resume when space is free`() async throws {
        var fixture = try StoreFixture()
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "1024k")
        defer { try? disk.unmount() }
        fixture.configuration.checkpointBytes = 128 << 10
        fixture.configuration.retentionBytes = 128 << 10
        try fixture.folder.write([UInt8](repeating: 0, count: 64 << 10), to: "disk/ballast")
        let text = Value.string(String(repeating: "x", count: 20_000))
        let written = try await fixture.withStore(at: "disk/data") { store in
            var written: [String] = []
            var refusal: StatusError?
            while refusal == nil {
                do {
                    try await store.set("c/d\(written.count)", ["text": text])
                    written.append("d\(written.count)")
                } catch let error as StatusError {
                    refusal = error
                }
            }
            #expect(refusal?.code == .resourceExhausted)
            #expect(refusal?.message.contains("no space left") == true)
            #expect(written.count > 5)
            #expect(Set(try await store.list("c").ids) == Set(written))
            #expect(Set(try fixture.folder.names(in: "disk/data/documents/c")) == Set(written.map { $0 + ".json" }))
            await expectStatus(.resourceExhausted) {
                try await store.commit((0..<60).map { try Write.create(DocumentPath("e/d\($0)"), ["text": text]) })
            }
            #expect(try await store.list("e").ids.isEmpty)
            return written
        }
        // A start may need a little space to update the manifest.
        try fixture.folder.remove("disk/ballast")
        try await fixture.withStore(at: "disk/data") { store in
            #expect(Set(try await store.list("c").ids) == Set(written))
            try fixture.folder.remove("disk/data/documents/c")
            let result = try await store.set("c/after", ["text": text])
            #expect(result.sequence == SequenceNumber(UInt64(written.count + 1)))
            #expect(try await store.list("c").ids == ["after"])
        }
    }

    @Test
    func `A first commit without space for the journal loses nothing, and the next start logs no loss`() async throws {
        var fixture = try StoreFixture()
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "1024k")
        defer { try? disk.unmount() }
        fixture.configuration.segmentBytes = 4 << 20
        let position = try await fixture.withStore(at: "disk/data") { store in
            try disk.fill()
            await expectStatus(.resourceExhausted) { try await store.set("c/d", [:]) }
            try fixture.folder.remove("disk/ballast")
            try fixture.folder.copy("disk/data", to: "killed")
            return store.position
        }
        let logs = WarningLog()
        for folder in ["disk/data", "killed"] {
            try await fixture.withStore(at: folder, logger: logs.logger) { store throws in
                #expect(store.position == position)
                #expect(try await store.list("c").ids.isEmpty)
            }
            #expect(try await fixture.check(folder).findings.isEmpty)
        }
        #expect(logs.warnings.isEmpty, "\(logs.warnings)")
        try await fixture.withStore(at: "killed") { store throws in
            #expect(try await store.set("c/d", [:]).sequence == SequenceNumber(1))
        }
    }

    @Test
    func `Without space for a whole segment, the journal preallocates a part`() async throws {
        var fixture = try StoreFixture()
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "1024k")
        defer { try? disk.unmount() }
        fixture.configuration.segmentBytes = 4 << 20
        let text = Value.string(String(repeating: "x", count: 10_000))
        for start in 0..<3 {
            try await fixture.withStore(at: "disk/data") { store in
                for number in 0..<8 { try await store.set("c/d\(start)-\(number)", ["text": text]) }
                #expect(try #require(await store.storage()).journalBytes < 700_000)
                // As after a crash: the segment is not truncated.
                try fixture.folder.copy("disk/data", to: "killed\(start)")
            }
            try await fixture.withStore(at: "killed\(start)") { store throws in
                #expect(try await store.list("c").ids.count == 8 * (start + 1))
            }
            #expect(try await fixture.check("disk/data").findings.isEmpty)
        }
    }

    @Test
    func `Of concurrent commits, those that fit succeed`() async throws {
        let fixture = try StoreFixture()
        // Space for the small commits and the index, and for either the files or the journal records of a huge commit, not both.
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "12m")
        defer { try? disk.unmount() }
        try await fixture.withStore(at: "disk/data") { store in
            try await store.set("c/first", [:])
            let huge = Value.string(String(repeating: "x", count: 1_000_000))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<20 {
                    group.addTask { try await store.set("c/d/sub\(index)/small", [:]) }
                    guard index % 4 == 0 else { continue }
                    group.addTask {
                        await expectStatus(.resourceExhausted) {
                            try await store.commit(
                                (0..<7).map { try Write.create(DocumentPath("c/huge\(index)-\($0)"), ["text": huge]) }
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.list("c", includingMissing: true).ids == ["(d)", "first"])
            #expect(try await store.collections(under: "c/d").count == 20)
            let attributes = try FileManager.default.attributesOfFileSystem(forPath: disk.folder.path)
            let free = try #require(attributes[.systemFreeSize] as? Int)
            #expect(free > 8 << 20, "Rejected commits leave nothing on disk")
        }
    }
}
