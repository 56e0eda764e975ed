import DocumentModel
import DocumentStore
import Foundation
import Logging
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Foreign entries in the documents folder")
struct ForeignEntryTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    /// A kind of foreign entry.
    enum Foreign: CaseIterable {
        case link, deadLink, socket, pipe, namedAsFile, namedNotAsEncoded, notUTF8, shortened

        var name: String {
            switch self {
            case .link, .deadLink: "link"
            case .socket: "socket"
            case .pipe: "pipe"
            case .namedAsFile: "shop.json"
            case .namedNotAsEncoded: "%zz"
            case .notUTF8: "a\u{fffd}"
            case .shortened: "long%~" + String(repeating: "0", count: 32)
            }
        }

        var message: String {
            switch self {
            case .link, .deadLink: "It is a symbolic link"
            case .socket, .pipe: "It is a socket, a pipe or a device"
            case .namedAsFile: "only document files have names that end in .json"
            case .namedNotAsEncoded, .notUTF8: "The folder name is not the name of any document or collection"
            case .shortened: "The folder name is shortened"
            }
        }

        func create(in folder: TemporaryFolder, _ parent: String) throws {
            try folder.write("x", to: parent + "/notes")
            let path = parent + "/" + name
            switch self {
            case .link: try folder.link(path, to: ".")
            case .deadLink: try folder.link(path, to: "nowhere")
            case .socket: try createSocket(at: folder[path])
            case .pipe: #expect(mkfifo(folder[path], 0o600) == 0)
            case .notUTF8: #expect(mkdir(Array(folder[parent].utf8CString.dropLast()) + [0x2f, 0x61, -1, 0], 0o700) == 0)
            case .namedAsFile, .namedNotAsEncoded, .shortened: try folder.write("x", to: path + "/file")
            }
        }
    }

    @Test(
        arguments: Foreign.allCases,
        ["", "/good/d", "/good"]
    )
    func `Foreign entries are reported at the root, below a document and in a collection`(
        foreign: Foreign,
        parent: String
    ) async throws {
        try await fixture.withStore { store in
            try await store.set("good/d", [:])
            try await store.set("good/d/below/x", [:])
            let time = try await store.set("good/e", [:]).commitTime
            try foreign.create(in: fixture.folder, "data/documents" + parent)
            let now = try await damaged(store, parent)
            let then = try await damaged(store, parent, asOf: time)
            for found in [now, then] {
                #expect(found.map(\.file) == [StatusError.FileLocation(path: "documents\(parent)/\(foreign.name)")])
                #expect(found.first?.message.contains(foreign.message) == true, "\(found)")
                #expect(found.first?.message.contains(fixture.folder.path) == false)
            }
            #expect(try await store.collections() == ["good"])
            #expect(try await store.list("good", includingMissing: true).ids == ["d", "e"])
        }
        let findings = try await fixture.findings()
        #expect(findings.map(\.kind) == [.foreignName])
        #expect(findings.map(\.file.path) == ["documents\(parent)/\(foreign.name)"])
    }

    @Test(
        arguments: [
            ("", "__bad__/x", "The folder name is not a valid collection ID"),
            ("", "top.json", "A document file cannot be here"),
            ("/good/d", "__bad__/x", "The folder name is not a valid collection ID"),
            ("/good/d", "top.json", "A document file cannot be here"),
            ("/good", "__bad__/x", "The folder name is not a valid document ID"),
            ("/good", "__bad__.json", "The file name is not a valid document ID"),
        ]
    )
    func `Invalid document and collection names are reported`(parent: String, file: String, message: String) async throws {
        try await fixture.withStore { store in
            try await store.set("good/d/below/x", [:])
            try fixture.folder.write("x", to: "data/documents\(parent)/\(file)")
            let found = try await damaged(store, parent)
            #expect(found.map(\.file?.path) == ["documents\(parent)/\(file.split(separator: "/")[0])"])
            #expect(found.first?.message.hasPrefix(message) == true, "\(found)")
        }
    }

    @Test(arguments: ["", "/good/d", "/good"])
    func `Hidden files and files of other programs are ignored, and named by a check`(parent: String) async throws {
        let names = [
            ".git/config", ".DS_Store", ".b.json.swp", "._b.json", ".hidden.json", "README", "notes.txt", "b.json~", "#b.json#",
            "Thumbs.db",
        ]
        let logs = WarningLog()
        try await fixture.withStore { store in try await store.set("good/d/below/x", [:]) }
        for name in names { try fixture.folder.write("x", to: "data/documents\(parent)/\(name)") }
        try fixture.folder.link("data/documents\(parent)/.#lock", to: "nowhere")
        try await fixture.withStore(logger: logs.logger) { store throws in
            #expect(try await damaged(store, parent).isEmpty)
            #expect(try await store.collections() == ["good"])
        }
        #expect(logs.warnings.isEmpty)
        let (report, findings) = try await fixture.check()
        #expect(report.findings == 0 && findings.allSatisfy { $0.kind == .ignored })
        let files = names.map { $0 == ".git/config" ? ".git" : $0 } + [".#lock"]
        #expect(Set(findings.map(\.file.path)) == Set(files.map { "documents\(parent)/\($0)" }))
        for name in names { #expect(fixture.folder.exists("data/documents\(parent)/\(name)")) }
    }

    @Test
    func `A collection without documents is listed if it contains foreign entries, but not if they are ignored`() async throws {
        try await fixture.withStore { store in
            try fixture.folder.write("x", to: "data/documents/a/%zz.json")
            try fixture.folder.write("x", to: "data/documents/b/d/%zz/file")
            try fixture.folder.write("x", to: "data/documents/c/d/e/README")
            #expect(try await store.collections() == ["a", "b"])
            #expect(try await store.list("a").damaged.map(\.file?.path) == ["documents/a/%zz.json"])
            #expect(try await store.list("b", includingMissing: true).ids == ["(d)"])
            #expect(try await damaged(store, "/b/d").map(\.file?.path) == ["documents/b/d/%zz"])
        }
    }

    @Test
    func `Each foreign entry is reported on one page`() async throws {
        try await fixture.withStore { store in
            for id in ["a", "b", "c"] { try await store.set("\(id)/d", [:]) }
            for name in ["0.json", "bb.json", "z.json"] { try fixture.folder.write("x", to: "data/documents/\(name)") }
            var reported: [String?] = []
            var after: CollectionID?
            repeat {
                let page = try await store.collections(under: nil, after: after, limit: 1)
                reported += page.damaged.map(\.file?.path)
                after = page.next
            } while after != nil
            #expect(reported.compactMap(\.self) == ["documents/0.json", "documents/bb.json", "documents/z.json"])
        }
    }

    @Test(arguments: Foreign.allCases)
    func `Reading a foreign entry reports the same error as listing its collection`(foreign: Foreign) async throws {
        guard ![.namedNotAsEncoded, .notUTF8, .shortened].contains(foreign) else { return }
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            try foreign.create(in: fixture.folder, "data/documents/c")
            if foreign != .namedAsFile {
                try FileManager.default.moveItem(
                    atPath: fixture.folder["data/documents/c/\(foreign.name)"],
                    toPath: fixture.folder["data/documents/c/shop.json"]
                )
            }
            let read = await expectStatus(.dataLoss) { try await store.document(at: DocumentPath("c/shop")) }
            let listed = try #require(try await store.list("c").damaged.first)
            #expect(read?.message == listed.message && listed.message.contains(foreign.message))
            #expect(read?.file == StatusError.FileLocation(path: "documents/c/shop.json") && listed.file == read?.file)
            #expect(read?.path == "c/shop" && listed.path == read?.path)
            #expect(listed.code == .dataLoss)
        }
    }

    @Test
    func `A folder with a shortened name must have its ID, unless it is empty`() async throws {
        let (one, other) = (String(repeating: "lång", count: 100), String(repeating: "kort", count: 100))
        try await fixture.withStore { store in
            for id in [one, other] { try await store.set("\(id)/d", [:]) }
            let names = try fixture.folder.names(in: "data/documents")
            let idFile = DocumentFolders.idFileName
            let text = try fixture.folder.text(of: "data/documents/\(names[0])/\(idFile)")
            try fixture.folder.write(text, to: "data/documents/\(names[1])/\(idFile)")
            #expect(try await damaged(store, "").map(\.file?.path) == ["documents/\(names[1])"])
            #expect(try await damaged(store, "").first?.message.contains("has a different name") == true)
            try fixture.folder.remove("data/documents/\(names[1])/\(idFile)")
            #expect(try await damaged(store, "").map(\.file?.path) == ["documents/\(names[1])"])
            try fixture.folder.remove("data/documents/\(names[1])/d.json")
            #expect(try await damaged(store, "").isEmpty)
            #expect(try await store.collections().count == 1)
        }
    }

    @Test
    func `A document is readable if a file exists in place of the folder of its subcollections`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            try fixture.folder.write("x", to: "data/documents/c/d")
            #expect(try await store.fields("c/d") == ["n": .integer(1)])
            let page = try await store.collections(under: DocumentPath("c/d"), after: nil, limit: 10)
            #expect(page.collections.isEmpty)
            #expect(page.damaged.map(\.file?.path) == ["documents/c/d"])
        }
    }

    @Test
    func `The store warns once on start, with the number of foreign entries at the root`() async throws {
        let logs = WarningLog()
        for _ in 0..<2 { try await fixture.withStore(logger: logs.logger) { _ in } }
        #expect(logs.warnings.isEmpty)
        for name in ["one.json", "two.json"] { try fixture.folder.write("x", to: "data/documents/\(name)") }
        try await fixture.withStore(logger: logs.logger) { _ in }
        #expect(logs.warnings.map { $0["store.foreign_entries"] } == ["2"])
        #expect(logs.warnings.allSatisfy { !"\($0)".contains(fixture.folder.path) })
    }

    /// Returns the errors reported for the root, a document or a collection.
    private func damaged(_ store: FileStore, _ parent: String, asOf time: Timestamp? = nil) async throws -> [StatusError] {
        let path = parent.dropFirst().split(separator: "/").map(String.init)
        guard path.count.isMultiple(of: 2) else {
            let collection = try CollectionPath(path.joined(separator: "/"))
            return try await store.documents(in: collection, after: nil, limit: 10, includingMissing: true, readTime: time)
                .damaged
        }
        let parent = path.isEmpty ? nil : try DocumentPath(path.joined(separator: "/"))
        return try await store.collections(under: parent, after: nil, limit: 10, readTime: time).damaged
    }
}

/// Creates a socket file.
private func createSocket(at path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    try #require(result == 0)
}
