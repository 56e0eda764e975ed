import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("The index on a nearly full disk", .tags(.slow))
struct NearlyFullDiskTests {
    @Test(
        .enabled(if: TmpfsVolume.isAvailable, "Mounting a file system takes root"),
        .timeLimit(.minutes(10)),
        arguments: [true, false]
    )
    func `The index pauses and resumes when space is freed, and after a timeout it is rebuilt to free its own space`(
        isMuch: Bool
    ) async throws {
        var fixture = try StoreFixture()
        fixture.configuration.indexLowDiskSpaceTimeout = isMuch ? .seconds(3_600) : .seconds(1)
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "16m")
        defer { try? disk.unmount() }
        try fixture.folder.write([UInt8](repeating: 0, count: 5 << 20), to: "disk/ballast")
        let text = Value.string(String(repeating: "x", count: 5_000))
        let logs = WarningLog()
        try await fixture.withStore(at: "disk/data", logger: logs.logger) { store in
            var count = 0
            await expectStatus(.resourceExhausted) {
                while true {
                    let fields: MapValue = ["n": .integer(Int64(count)), "text": text]
                    _ = try await store.commit((count..<count + 10).map { try .set(DocumentPath("c/d\($0)"), fields) })
                    count += 10
                }
            }
            let inode = { () throws -> Int? in
                let path = fixture.folder["disk/data/index.sqlite"]
                return try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            }
            let index = try inode()
            // Documents have used the remaining space, so the index lacks the last of them.
            await expectStatus(.resourceExhausted) { _ = try await store.ids(in: "c", where: "n", is: Int64(count - 10)) }
            try await store.delete("c/d0")
            if isMuch {
                try fixture.folder.remove("disk/ballast")
            } else {
                for number in 1..<count / 2 { try await store.delete("c/d\(number)") }
            }
            var last: [String]?
            while last == nil {
                do {
                    last = try await store.ids(in: "c", where: "n", is: Int64(count - 10))
                } catch let error as StatusError where error.code == .resourceExhausted {
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            #expect(last?.count == 10)
            let first = try await store.ids(in: "c", where: "n", is: 0)
            #expect(first.count == (isMuch ? 9 : 0))
            let indexAfterwards = try inode()
            if isMuch { #expect(indexAfterwards == index) }
        }
        let unexpected = logs.warnings.filter { $0["disk.free_bytes"] == nil && !"\($0)".contains("nearly full") }
        #expect(unexpected.isEmpty)
        #expect(try await fixture.check("disk/data").findings.isEmpty)
    }
}
