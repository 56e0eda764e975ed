import DocumentModel
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import DocumentStore

@Suite("A file that is marked as unchangeable stops only the commits that would change it", .enabled(if: Mark.isPossible))
struct UnchangeableFileTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(in: TemporaryFolder.disk)
    }

    @Test("Commits beside it go on, also those that come together with it; without the mark it is written again")
    func file() async throws {
        try await fixture.withStore { store throws in
            for id in ["marked", "gone", "other"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            try await marked("data/documents/c/marked.json", "data/documents/c/gone.json") {
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
                        }
                        group.addTask { await expectStatus(.failedPrecondition) { try await store.delete("c/gone") } }
                    }
                    try await group.waitForAll()
                }
                #expect(await store.writeObstacle == nil)
                for id in ["marked", "gone", "other"] { #expect(try await store.fields("c/\(id)") == ["n": .integer(1)]) }
                #expect(try fixture.folder.names(in: "data/documents/c").count == 23)
            }
            try await store.set("c/marked", ["n": .integer(2)])
            try await store.delete("c/gone")
        }
    }

    @Test("In a folder that is marked nothing is written or removed")
    func folder() async throws {
        try await fixture.withStore { store throws in
            try await store.set("c/a", [:])
            try await marked("data/documents/c") {
                await expectStatus(.failedPrecondition) { try await store.delete("c/a") }
                await expectStatus(.unavailable) { try await store.set("c/b", [:]) }
                try await store.set("other/a", [:])
            }
            try await store.delete("c/a")
            #expect(try await store.collections() == ["other"])
        }
    }

    @Test("A store that was not closed opens with one that is as the journal says")
    func recovery() async throws {
        try await fixture.withStore { store throws in
            try await store.set("c/a", ["n": .integer(1)])
            try fixture.folder.copy("data", to: "crashed")
        }
        try await marked("crashed/documents/c/a.json") {
            try await fixture.withStore(at: "crashed") { store throws in
                #expect(try await store.fields("c/a") == ["n": .integer(1)])
                try await store.set("c/b", [:])
            }
        }
    }

    private func marked(_ files: String..., body: () async throws -> Void) async throws {
        for file in files { try Mark.set(true, fixture.folder[file]) }
        do {
            try await body()
        } catch {
            for file in files { try Mark.set(false, fixture.folder[file]) }
            throw error
        }
        for file in files { try Mark.set(false, fixture.folder[file]) }
    }
}

/// The mark that a file is not to be changed, which only the superuser sets, and not every file system has.
private enum Mark {
    static let isPossible = (try? probe()) != nil

    static func set(_ isSet: Bool, _ path: String) throws {
        try #require(try ChildProcess.run("/usr/bin/chattr", [isSet ? "+i" : "-i", path]) == .code(0))
    }

    private static func probe() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "file")
        for isSet in [true, false] {
            guard try ChildProcess.run("/usr/bin/chattr", [isSet ? "+i" : "-i", folder["file"]]) == .code(0) else {
                throw CancellationError()
            }
        }
    }
}
