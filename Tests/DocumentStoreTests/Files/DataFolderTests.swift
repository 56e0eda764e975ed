import DocumentModel
import DocumentStore
import Foundation
import StrictJSON
import TestSupport
import Testing

@Suite("The data folder")
struct DataFolderTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test("A new folder is made, and an empty one is taken")
    func newFolder() async throws {
        try await fixture.withStore { _ in }
        try fixture.folder.write("", to: "empty/file")
        try fixture.folder.remove("empty/file")
        try await fixture.withStore(at: "empty") { store in _ = try await store.set("c/d", [:]) }
    }

    @Test("A second server is refused, and told which process holds the folder")
    func locked() async throws {
        try await fixture.withStore { store in
            let error = await expectStatus(.failedPrecondition) { try await fixture.open() }
            #expect(error?.message.contains("process \(getpid())") == true)
            try await store.set("c/d", [:])
        }
        let fields = try await fixture.withStore { store in try await store.fields("c/d") }
        #expect(fields == [:])
    }

    @Test("A file in place of the folder is refused")
    func file() async throws {
        try fixture.folder.write("x", to: "data")
        let error = await expectStatus(.failedPrecondition) { try await fixture.open() }
        #expect(error?.message.contains("it is a file") == true)
        #expect(try fixture.folder.text(of: "data") == "x")
    }

    @Test("A folder in a folder that does not exist is refused")
    func noParent() async throws {
        await expectStatus(.notFound) { try await fixture.open(at: "none/data") }
    }

    @Test("A folder that is not empty and not Hearth's is refused and left as it is")
    func foreign() async throws {
        try fixture.folder.write("mine", to: "data/thesis.tex")
        let error = await expectStatus(.failedPrecondition) { try await fixture.open() }
        #expect(error?.message.contains("thesis.tex") == true)
        #expect(try fixture.folder.names(in: "data") == ["thesis.tex"])
    }

    @Test("A folder of a newer Hearth is refused")
    func newerFormat() async throws {
        try await fixture.withStore { _ in }
        let text = try fixture.folder.text(of: "data/hearth.json")
        try fixture.folder.write(text.replacingOccurrences(of: "\"format\":1", with: "\"format\":2"), to: "data/hearth.json")
        let error = await expectStatus(.failedPrecondition) { try await fixture.open() }
        #expect(error?.message.contains("version 2") == true)
    }

    @Test("A damaged hearth.json is refused with its place", arguments: ["", "{", "{}", "{\"format\":1}", "[]"])
    func damagedDescription(contents: String) async throws {
        try await fixture.withStore { _ in }
        try fixture.folder.write(contents, to: "data/hearth.json")
        let error = await expectStatus(.dataLoss) { try await fixture.open() }
        #expect(error?.file?.path == "hearth.json")
        #expect(try fixture.folder.text(of: "data/hearth.json") == contents)
    }

    @Test("A link in place of a folder of the data folder is refused", arguments: ["documents", "journal"])
    func linkedFolder(name: String) async throws {
        try await fixture.withStore { _ in }
        try fixture.folder.remove("data/\(name)")
        try fixture.folder.write("x", to: "outside/file")
        try fixture.folder.link("data/\(name)", to: fixture.folder["outside"])
        await expectStatus(.failedPrecondition) { try await fixture.open() }
    }

    @Test("A folder that belongs to someone else is refused", .enabled(if: geteuid() == 0, "needs root"))
    func foreignOwner() async throws {
        try await fixture.withStore { _ in }
        #expect(chown(fixture.folder["data"], 12_345, 12_345) == 0)
        let error = await expectStatus(.failedPrecondition) { try await fixture.open() }
        #expect(error?.message.contains("12345") == true)
    }

    @Test("A start that was interrupted before hearth.json was written is taken up")
    func interruptedStart() async throws {
        try fixture.folder.write("1\n", to: "data/hearth.lock")
        try fixture.folder.write("{", to: "data/.hearth-description.tmp")
        try fixture.folder.write("", to: "data/.hearth-probe-a.tmp")
        try await fixture.withStore { store in _ = try await store.set("c/d", [:]) }
        #expect(try fixture.folder.names(in: "data") == ["documents", "hearth.json", "hearth.lock", "index.sqlite", "journal"])
    }
}
