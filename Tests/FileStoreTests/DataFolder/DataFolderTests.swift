import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing

@Suite("Data folder")
struct DataFolderTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `A new folder is created, and an empty one is used`() async throws {
        try await fixture.withStore { _ in }
        try fixture.folder.write("", to: "empty/file")
        try fixture.folder.remove("empty/file")
        try await fixture.withStore(at: "empty") { store in _ = try await store.set("c/d", [:]) }
    }

    @Test
    func `A second server is rejected with the process ID of the first`() async throws {
        try await fixture.withStore { store in
            let error = await expectStatus(.failedPrecondition) { try await fixture.open() }
            #expect(error?.message.contains("process \(getpid())") == true)
            try await store.set("c/d", [:])
        }
        let fields = try await fixture.withStore { store in try await store.fields("c/d") }
        #expect(fields == [:])
    }

    @Test
    func `A file in place of the folder is rejected`() async throws {
        try fixture.folder.write("x", to: "data")
        let error = await expectStatus(.failedPrecondition) { try await fixture.open() }
        #expect(error?.message.contains("it is a file") == true)
        #expect(try fixture.folder.text(of: "data") == "x")
    }

    @Test
    func `A folder without a parent folder is rejected`() async throws {
        await expectStatus(.notFound) { try await fixture.open(at: "none/data") }
    }

    @Test
    func `A non-empty folder without a manifest is rejected and left unchanged`() async throws {
        try fixture.folder.write("mine", to: "data/thesis.tex")
        let error = await expectStatus(.failedPrecondition) { try await fixture.open() }
        #expect(error?.message.contains("thesis.tex") == true)
        #expect(try fixture.folder.names(in: "data") == ["thesis.tex"])
    }

    @Test
    func `A folder with a newer format is rejected`() async throws {
        try await fixture.withStore { _ in }
        let text = try fixture.folder.text(of: "data/hearth.json")
        try fixture.folder.write(text.replacingOccurrences(of: "\"format\":1", with: "\"format\":2"), to: "data/hearth.json")
        let error = await expectStatus(.failedPrecondition) { try await fixture.open() }
        #expect(error?.message.contains("version 2") == true)
    }

    @Test(
        arguments: [
            "", "{", "{}", "{\"format\":1}", "[]",
            #"{"format":1,"epoch":"\#(String(repeating: "0", count: 32))","names":"plain","sequence":1,"commitTime":"x","clean":true}"#,
        ]
    )
    func `A damaged manifest is rejected with its file name`(contents: String) async throws {
        try await fixture.withStore { _ in }
        try fixture.folder.write(contents, to: "data/hearth.json")
        let error = await expectStatus(.dataLoss) { try await fixture.open() }
        #expect(error?.file?.path == "hearth.json")
        #expect(try fixture.folder.text(of: "data/hearth.json") == contents)
    }

    @Test(arguments: ["documents", "journal"])
    func `A symbolic link in place of a subfolder is rejected`(name: String) async throws {
        try await fixture.withStore { _ in }
        try fixture.folder.remove("data/\(name)")
        try fixture.folder.write("x", to: "outside/file")
        try fixture.folder.link("data/\(name)", to: fixture.folder["outside"])
        await expectStatus(.failedPrecondition) { try await fixture.open() }
    }

    @Test(.enabled(if: geteuid() == 0, "requires root"))
    func `A folder of another user is rejected`() async throws {
        try await fixture.withStore { _ in }
        #expect(chown(fixture.folder["data"], 12_345, 12_345) == 0)
        let error = await expectStatus(.failedPrecondition) { try await fixture.open() }
        #expect(error?.message.contains("12345") == true)
    }

    @Test
    func `A first start that was interrupted before the manifest was written is repeated`() async throws {
        try fixture.folder.write("1\n", to: "data/hearth.lock")
        try fixture.folder.write("{", to: "data/.hearth-description.tmp")
        try fixture.folder.write("", to: "data/.hearth-probe-a.tmp")
        try await fixture.withStore { store in _ = try await store.set("c/d", [:]) }
        #expect(try fixture.folder.names(in: "data") == ["documents", "hearth.json", "hearth.lock", "index.sqlite", "journal"])
    }
}
