import DocumentModel
import DocumentStore
import Foundation
import Logging
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite(
    "An immutable file blocks only the commits that would change it",
    .tags(.crash),
    .enabled(if: ImmutableAttribute.isSupported)
)
struct ImmutableFileTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(in: TemporaryFolder.disk)
    }

    @Test
    func `Other commits succeed, even in the same batch; without the attribute the file is written again`() async throws {
        try await fixture.withStore { store throws in
            for id in ["marked", "gone", "other"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            try await whileImmutable("data/documents/c/marked.json", "data/documents/c/gone.json") {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        group.addTask { _ = try await store.set("c/other\(number)", [:]) }
                        group.addTask {
                            let error = await expectStatus(.failedPrecondition) {
                                try await store.commit([
                                    .set(DocumentPath("c/other"), ["n": .integer(2)]), .set(DocumentPath("c/marked"), [:]),
                                ])
                            }
                            #expect(error?.message.contains("documents/c/marked.json") == true)
                            #expect(error?.message.contains("chattr") == true && error?.path == "c/marked")
                            #expect(error?.writeIndex == 1 && error?.file?.path == "documents/c/marked.json")
                        }
                        group.addTask { await expectStatus(.failedPrecondition) { try await store.delete("c/gone") } }
                    }
                    try await group.waitForAll()
                }
                #expect(await store.writeBlockedReason == nil)
                for id in ["marked", "gone", "other"] { #expect(try await store.fields("c/\(id)") == ["n": .integer(1)]) }
                #expect(try fixture.folder.names(in: "data/documents/c").count == 23)
            }
            try await store.set("c/marked", ["n": .integer(2)])
            try await store.delete("c/gone")
        }
    }

    @Test
    func `A caller who is denied a commit is not told that its file is immutable`() async throws {
        try await fixture.withStore { store throws in
            for number in 0..<30 { try await store.set("c/\(number)", [:]) }
            try await whileImmutable("data/documents/c/7.json") {
                for count in [8, 30] {
                    let writes = try (0..<count).map { try Write.set(DocumentPath("c/\($0)"), ["n": .integer(1)]) }
                    for (denial, status) in [
                        (nil, .failedPrecondition), (StatusError(.permissionDenied, "no"), .permissionDenied),
                    ]
                        as [(StatusError?, StatusCode)]
                    {
                        let author = CommitAuthor(authorization: FixedAuthorization(denial: denial))
                        await expectStatus(status) { try await store.commit(writes, validating: ReadSet(), by: author) }
                    }
                }
            }
        }
    }

    @Test
    func `Nothing is written or removed in an immutable folder`() async throws {
        try await fixture.withStore { store throws in
            try await store.set("c/a", [:])
            try await whileImmutable("data/documents/c") {
                await expectStatus(.failedPrecondition) { try await store.delete("c/a") }
                for path in ["c/b", "c/b/inner/d"] {
                    let error = await expectStatus(.failedPrecondition) { try await store.set(path, [:]) }
                    #expect(error?.path == path)
                }
                try await store.set("other/a", [:])
            }
            try await store.delete("c/a")
            #expect(try await store.collections() == ["other"])
        }
    }

    @Test
    func `A store that was not closed opens with an immutable file that matches the journal`() async throws {
        try await fixture.withStore { store throws in
            try await store.set("c/a", ["n": .integer(1)])
            try fixture.folder.copy("data", to: "crashed")
        }
        try await whileImmutable("crashed/documents/c/a.json") {
            try await fixture.withStore(at: "crashed") { store throws in
                #expect(try await store.fields("c/a") == ["n": .integer(1)])
                try await store.set("c/b", [:])
            }
        }
    }

    @Test
    func `A store that was not closed opens with an immutable folder`() async throws {
        try await fixture.withStore { store throws in
            for id in ["a", "b"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            try fixture.folder.copy("data", to: "crashed")
        }
        try fixture.folder.write("half", to: "crashed/documents/c/.hearth-1a.tmp")
        let logs = WarningLog()
        try await whileImmutable("crashed/documents/c") {
            try await fixture.withStore(at: "crashed", logger: logs.logger) { store throws in
                #expect(try await store.list("c").ids == ["a", "b"])
                #expect(store.data.manifest.sequence.rawValue == 2)
                try await store.set("other/a", [:])
            }
        }
        #expect(logs.warnings.isEmpty, "\(logs.warnings)")
    }

    @Test
    func `Stale files in an immutable folder are quarantined until they can be written`() async throws {
        try await fixture.withStore { store throws in
            for id in ["a", "gone"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            try fixture.folder.copy("data", to: "crashed")
            try await store.set("c/a", ["n": .integer(2)])
            try await store.set("c/new", ["n": .integer(3)])
            try await store.delete("c/gone")
            try fixture.folder.remove("crashed/journal")
            try fixture.folder.copy("data/journal", to: "crashed/journal")
        }
        let logs = WarningLog()
        try await whileImmutable("crashed/documents/c") {
            for round in 0..<2 {
                let store = try await fixture.open(at: "crashed", logger: logs.logger)
                #expect(logs.warnings.compactMap { $0["store.unwritable_documents"] } == Array(repeating: "3", count: round + 1))
                #expect(try await store.list("c").ids == ["a", "new"])
                #expect(try await store.fields("c/a") == ["n": .integer(2)])
                for id in ["a", "new", "gone"] {
                    let error = await expectStatus(.failedPrecondition) { try await store.set("c/\(id)", [:]) }
                    #expect(error?.path == "c/\(id)")
                }
                #expect(await store.writeBlockedReason == nil)
                try await store.set("other/a", ["n": .integer(Int64(round))])
                #expect(await store.close() != nil)
                // Everything in the journal is on disk, so it is not needed.
                #expect(store.data.manifest.sequence.rawValue == UInt64(6 + round))
                try fixture.folder.remove("crashed/journal")
                #expect(try fixture.folder.text(of: "crashed/waiting.ndjson").split(separator: "\n").count == 4)
            }
            let waiting = try fixture.folder.bytes(of: "crashed/waiting.ndjson")
            for damage in [[], Array("{".utf8), waiting.dropLast(30)] as [[UInt8]] {
                try fixture.folder.write(damage, to: "crashed/waiting.ndjson")
                await expectStatus(.dataLoss) { try await fixture.open(at: "crashed") }
            }
            try fixture.folder.write(waiting, to: "crashed/waiting.ndjson")
            #expect(try fixture.folder.text(of: "crashed/hearth.json").contains("\"clean\":false"))
        }
        try await fixture.withStore(at: "crashed") { store throws in
            #expect(try await store.fields("c/a") == ["n": .integer(2)])
            #expect(try await store.fields("other/a") == ["n": .integer(1)])
        }
        #expect(Set(try fixture.folder.names(in: "crashed/documents/c")) == ["a.json", "new.json"])
        #expect(try !fixture.folder.names(in: "crashed").contains("waiting.ndjson"))
        // The journal was removed above.
        #expect(try await fixture.check("crashed").findings.allSatisfy { $0.kind == .missingHistory })
    }

    @Test
    func `Quarantined documents are written as soon as their files are writable, without a restart`() async throws {
        try await fixture.withStore { store throws in
            try await store.set("c/a", ["n": .integer(1)])
            try fixture.folder.copy("data", to: "crashed")
            try await store.set("c/a", ["n": .integer(2)])
            try fixture.folder.remove("crashed/journal")
            try fixture.folder.copy("data/journal", to: "crashed/journal")
        }
        var opened: FileStore?
        try await whileImmutable("crashed/documents/c") { opened = try await fixture.open(at: "crashed") }
        let store = try #require(opened)
        _ = try await store.commit([.update(DocumentPath("c/a"), [(FieldPath("m"), .integer(3))])])
        #expect(try await store.fields("c/a") == ["n": .integer(2), "m": .integer(3)])
        #expect(store.components.unapplied.isEmpty)
        #expect(await store.close() == nil)
    }

    private func whileImmutable(_ files: String..., body: () async throws -> Void) async throws {
        for file in files { try ImmutableAttribute.set(true, fixture.folder[file]) }
        do {
            try await body()
        } catch {
            for file in files { try ImmutableAttribute.set(false, fixture.folder[file]) }
            throw error
        }
        for file in files { try ImmutableAttribute.set(false, fixture.folder[file]) }
    }
}

/// An authorization that denies all commits, or none.
private struct FixedAuthorization: CommitAuthorization {
    let denial: StatusError?

    func authorize(
        _ writes: [ProposedWrite],
        at time: Timestamp,
        reading read: (DocumentPath) throws(StatusError) -> Document?
    ) throws(StatusError) {
        if let denial { throw denial }
    }
}
