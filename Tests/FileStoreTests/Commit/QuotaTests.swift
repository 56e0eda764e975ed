import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Quotas", .timeLimit(.minutes(10)))
struct QuotaTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private func expectRefusal(
        _ message: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ write: () async throws -> Void
    ) async {
        let error = await #expect(throws: StatusError.self, sourceLocation: sourceLocation) { try await write() }
        #expect(error?.code == .resourceExhausted, sourceLocation: sourceLocation)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        #expect(error?.cause is DatabaseQuota.Exceeded, sourceLocation: sourceLocation)
    }

    @Test
    func `Documents over the quota are refused; deletes and changes pass, also after a restart`() async throws {
        try await fixture.withStore { store throws in
            try await store.waitUntilIndexed()
            for name in ["a", "b", "c"] { try await store.set("c/\(name)", ["n": .integer(1)]) }
            try await store.setQuota(DatabaseQuota(documentCount: 3))
            try await store.waitUntilIndexed()
            await expectRefusal("holds 3 of at most 3 documents, and the commit would add 1") {
                try await store.set("c/d", ["n": .integer(1)])
            }
            #expect(try await store.fields("c/d") == nil)
            try await store.set("c/a", ["n": .integer(2), "text": .string(String(repeating: "x", count: 10_000))])
            // A commit counts as a whole.
            _ = try await store.commit([.delete(DocumentPath("c/b")), .set(DocumentPath("c/d"), [:])])
            await expectRefusal("holds 3 of at most 3") {
                _ = try await store.commit([
                    .delete(DocumentPath("c/c")), .set(DocumentPath("c/e"), [:]), .set(DocumentPath("c/f"), [:]),
                ])
            }
            try await store.delete("c/c")
            try await store.set("c/e", [:])
        }
        try await fixture.withStore { store throws in
            #expect(await store.quota() == DatabaseQuota(documentCount: 3))
            // The first commit waits for the index to be opened.
            await expectRefusal("holds 3 of at most 3") { try await store.set("c/g", [:]) }
            try await store.setQuota(DatabaseQuota())
            try await store.set("c/g", [:])
        }
        #expect(!FileManager.default.fileExists(atPath: fixture.folder["data/quota.json"]))
    }

    @Test
    func `Bytes over the quota are refused, and a database above its quota may only shrink`() async throws {
        try await fixture.withStore { store throws in
            try await store.waitUntilIndexed()
            let text = { (count: Int) in ["t": Value.string(String(repeating: "x", count: count))] as MapValue }
            for number in 0..<10 { try await store.set("c/\(number)", text(1_000)) }
            try await store.waitUntilIndexed()
            let used = try await store.size(of: nil).byteCount
            try await store.setQuota(DatabaseQuota(byteCount: used + 500))
            try await store.set("c/0", text(1_400))
            await expectRefusal("\(used + 400) of at most \(used + 500) bytes of documents, and the commit would add 101") {
                try await store.set("c/0", text(1_501))
            }
            try await store.setQuota(DatabaseQuota(byteCount: 1))
            try await store.set("c/0", text(10))
            try await store.delete("c/1")
            await expectRefusal("of at most 1 bytes") { try await store.set("c/2", text(1_001)) }
        }
    }

    @Test
    func `Concurrent commits do not exceed a quota, whether or not the index has seen the earlier ones`() async throws {
        try await fixture.withStore { store throws in
            try await store.waitUntilIndexed()
            try await store.setQuota(DatabaseQuota(documentCount: 100))
            let done = await withTaskGroup(of: Int.self) { group in
                for caller in 0..<8 {
                    group.addTask {
                        var done = 0
                        for number in 0..<50 where (try? await store.set("c/\(caller)-\(number)", [:])) != nil { done += 1 }
                        return done
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(done == 100)
            #expect(try await store.list("c", limit: 1_000).documents.count == 100)
        }
    }

    @Test
    func `A large commit over the quota is refused as a whole`() async throws {
        try await fixture.withStore { store throws in
            try await store.waitUntilIndexed()
            try await store.setQuota(DatabaseQuota(documentCount: 50))
            let writes = try (0..<51).map { try Write.set(DocumentPath("c/\($0)"), [:]) }
            await expectRefusal("holds 0 of at most 50 documents, and the commit would add 51") {
                _ = try await store.commit(writes)
            }
            #expect(try await store.list("c").documents.isEmpty)
            _ = try await store.commit(Array(writes.dropLast()))
            await expectRefusal("holds 50 of at most 50") { _ = try await store.commit(Array(writes.suffix(1))) }
        }
    }

    @Test
    func `A damaged file limits nothing, and is replaced by the next quota`() async throws {
        try await fixture.withStore { store throws in try await store.set("c/a", [:]) }
        for text in ["", "[]", "{", #"{"documentCount":-1}"#, #"{"bytes":"many"}"#, #"{"documents":1}"#] {
            try Data(text.utf8).write(to: URL(filePath: fixture.folder["data/quota.json"]))
            try await fixture.withStore { store throws in
                #expect(await store.quota() == DatabaseQuota(), "\(text)")
                try await store.set("c/b", [:])
            }
        }
        try await fixture.withStore { store throws in try await store.setQuota(DatabaseQuota(documentCount: 9, byteCount: 8)) }
        try await fixture.withStore { store throws in
            #expect(await store.quota() == DatabaseQuota(documentCount: 9, byteCount: 8))
        }
    }
}
