import DocumentModel
import Foundation
import Logging
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

    @Test("A folder that may not be written keeps no store that was not closed from opening")
    func equalFolder() async throws {
        try await fixture.withStore { store throws in
            for id in ["a", "b"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            try fixture.folder.copy("data", to: "crashed")
        }
        try fixture.folder.write("half", to: "crashed/documents/c/.hearth-1a.tmp")
        let logs = WarningLog()
        try await marked("crashed/documents/c") {
            try await fixture.withStore(at: "crashed", logger: logs.logger) { store throws in
                #expect(try await store.list("c").ids == ["a", "b"])
                #expect(store.data.description.sequence.rawValue == 2)
                try await store.set("other/a", [:])
            }
        }
        #expect(logs.warnings.isEmpty, "\(logs.warnings)")
    }

    @Test("Where it holds files that are behind, their documents wait in a file of their own until they are written")
    func foldersBehind() async throws {
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
        try await marked("crashed/documents/c") {
            for round in 0..<2 {
                let store = try await fixture.open(at: "crashed", logger: logs.logger)
                #expect(logs.warnings.compactMap { $0["store.unwritable"] } == Array(repeating: "3", count: round + 1))
                #expect(try await store.list("c").ids == ["a", "new"])
                #expect(try await store.fields("c/a") == ["n": .integer(2)])
                for id in ["a", "new", "gone"] {
                    let error = await expectStatus(.failedPrecondition) { try await store.set("c/\(id)", [:]) }
                    #expect(error?.path == "c/\(id)")
                }
                #expect(await store.writeObstacle == nil)
                try await store.set("other/a", ["n": .integer(Int64(round))])
                #expect(await store.close() != nil)
                // All that the journal had is on disk, and it may go.
                #expect(store.data.description.sequence.rawValue == UInt64(6 + round))
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
        #expect(try await fixture.check("crashed").findings.isEmpty)
    }

    @Test("They are written as soon as they may be, without a new start")
    func mendedWhileOpen() async throws {
        try await fixture.withStore { store throws in
            try await store.set("c/a", ["n": .integer(1)])
            try fixture.folder.copy("data", to: "crashed")
            try await store.set("c/a", ["n": .integer(2)])
            try fixture.folder.remove("crashed/journal")
            try fixture.folder.copy("data/journal", to: "crashed/journal")
        }
        var opened: FileStore?
        try await marked("crashed/documents/c") { opened = try await fixture.open(at: "crashed") }
        let store = try #require(opened)
        _ = try await store.commit([.update(DocumentPath("c/a"), [(FieldPath("m"), .integer(3))])])
        #expect(try await store.fields("c/a") == ["n": .integer(2), "m": .integer(3)])
        #expect(store.parts.uninstalled.isEmpty)
        #expect(await store.close() == nil)
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
