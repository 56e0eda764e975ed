import DocumentModel
import StrictJSON
import TestSupport
import Testing

@testable import DocumentStore

@Suite("The index")
struct IndexLifeTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test("shows every commit that was acknowledged before it is read, all of it")
    func freshness() async throws {
        try await fixture.withStore { store in
            for number in 1...20 as ClosedRange<Int64> {
                _ = try await store.commit(["a", "b"].map { try .set(DocumentPath("c/\($0)"), ["n": .integer(number)]) })
                let found1 = try await store.ids(in: "c", where: "n", is: number)
                #expect(found1 == ["a", "b"])
                let found2 = try await store.ids(in: "c", where: "n", is: number - 1)
                #expect(found2 == [])
                let sequence = try await store.readIndex { $0.sequence }
                #expect(sequence >= store.position.lastSequence)
            }
        }
        #expect(try await fixture.findings() == [])
    }

    @Test("goes on after a restart where it was, and is not made anew")
    func restart() async throws {
        try await fixture.withStore { store in try await store.set("c/a", ["n": .integer(1)]) }
        let before = try fixture.folder.contents(of: "data")
        #expect(before.keys.filter { $0.hasPrefix("index") } == ["index.sqlite"])
        try await fixture.withStore { store in
            let found3 = try await store.ids(in: "c", where: "n", is: 1)
            #expect(found3 == ["a"])
        }
        let after = try fixture.folder.contents(of: "data")
        #expect(Set(after.keys).union(before.keys).filter { after[$0] != before[$0] } == [])
    }

    @Test("takes what it lacks after a crash from the journal", arguments: [false, true])
    func crash(isMissing: Bool) async throws {
        try await fixture.withStore { store in
            for number in 0..<30 { try await store.set("c/d\(number % 7)", ["n": .integer(Int64(number))]) }
            try await store.delete("c/d0")
            // The crash: the folder as it is, under the same numbers that the file system gave the files.
            try fixture.folder.copy("data", to: "copy")
        }
        if isMissing { try fixture.folder.remove("copy/index.sqlite") }
        try await fixture.withStore(at: "copy") { store in
            let found4 = try await store.ids(in: "c", where: "n", is: 29)
            #expect(found4 == ["d1"])
            let found5 = try await store.ids(in: "c", where: "n", is: 28)
            #expect(found5 == [])
        }
    }

    @Test("that lags behind is brought up to date from the journal, and made anew where that does not reach back")
    func lag() async throws {
        try await fixture.withStore { store in try await store.set("c/a", ["n": .integer(1)]) }
        let old = try fixture.folder.bytes(of: "data/index.sqlite")
        try await fixture.withStore { store in
            try await store.set("c/b", ["n": .integer(1)])
            try await store.delete("c/a")
        }
        try fixture.folder.write(old, to: "data/index.sqlite")
        try await fixture.withStore { store in
            let found6 = try await store.ids(in: "c", where: "n", is: 1)
            #expect(found6 == ["b"])
        }
        #expect(try await fixture.findings() == [])
        try fixture.folder.write(old, to: "data/index.sqlite")
        for name in try fixture.folder.names(in: "data/journal") { try fixture.folder.remove("data/journal/\(name)") }
        try await fixture.withStore { store in
            let found7 = try await store.ids(in: "c", where: "n", is: 1)
            #expect(found7 == ["b"])
        }
        #expect(try await fixture.findings() == [])
    }

    @Test(
        "is made anew when it is damaged, of another history, or was being written when the machine went down",
        arguments: Harm.allCases
    )
    func harm(_ harm: Harm) async throws {
        try await fixture.withStore { store in
            for number in 0..<300 { try await store.set("c/d\(number)", ["n": .integer(Int64(number % 3))]) }
        }
        try harm.make(in: fixture.folder)
        if harm == .noDatabase || harm == .tornHeader {
            #expect(try await fixture.findings().map(\.kind) == [.damagedIndex])
        }
        try await fixture.withStore { store in
            let found8 = try await store.ids(in: "c", where: "n", is: 1).count
            #expect(found8 == 100)
            try await store.set("c/new", ["n": .integer(1)])
            let found9 = try await store.ids(in: "c", where: "n", is: 1).count
            #expect(found9 == 101)
        }
        #expect(try await fixture.findings() == [])
    }

    /// What may befall the file.
    enum Harm: CaseIterable {
        case gone, empty, noDatabase, tornHeader, otherMachineStart, otherHistory, leftoverLog

        func make(in folder: TemporaryFolder) throws {
            let file = "data/index.sqlite"
            var bytes = try folder.bytes(of: file)
            switch self {
            case .gone: return try folder.remove(file)
            case .empty: bytes = []
            case .noDatabase: bytes = Array("not a database at all".utf8)
            case .tornHeader: bytes.replaceSubrange(0..<100, with: repeatElement(0, count: 100))
            case .otherMachineStart:
                // What a power cut leaves: pages of which some were never written, and the note that it was being written.
                bytes.replaceSubrange(bytes.count / 2..<bytes.count, with: repeatElement(0, count: bytes.count - bytes.count / 2))
                let text = try folder.text(of: "data/hearth.json")
                let mark = "\"openIndex\":\"00000000-0000-0000-0000-000000000000/1\"}"
                try folder.write(text.replacing("}", with: "," + mark), to: "data/hearth.json")
            case .otherHistory:
                for place in bytes.indices.dropLast(32) where (0x30...0x66).contains(bytes[place]) {
                    // The epoch is the only text of 32 hexadecimal digits.
                    let digits = bytes[place..<place + 32]
                    guard digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { continue }
                    bytes[place] = bytes[place] == 0x30 ? 0x31 : 0x30
                    break
                }
            case .leftoverLog:
                try folder.remove(file)
                return try folder.write([UInt8](repeating: 7, count: 5_000), to: file + "-wal")
            }
            try folder.write(bytes, to: file)
        }
    }

    @Test("is complete when documents are written while it is made")
    func concurrentWrites() async throws {
        try await fixture.withStore { store in
            for number in 0..<400 { try await store.set("c/d\(number)", ["n": .integer(0)]) }
        }
        try fixture.folder.remove("data/index.sqlite")
        try await fixture.withStore { store in
            for number in 0..<200 {
                try await store.set("c/d\(number * 2)", ["n": .integer(1)])
                if number.isMultiple(of: 3) { try await store.delete("c/d\(number * 2 + 1)") }
            }
            let found10 = try await store.ids(in: "c", where: "n", is: 1).count
            #expect(found10 == 200)
            let found11 = try await store.ids(in: "c", where: "n", is: 0).count
            #expect(found11 == 133)
        }
        #expect(try await fixture.findings() == [])
    }

    @Test("leaves out a damaged document when it is made, and the next commits of others work")
    func damagedDocument() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            try await store.set("c/b", ["n": .integer(1)])
        }
        try fixture.folder.remove("data/index.sqlite")
        try fixture.folder.write("{", to: "data/documents/c/a.json")
        try await fixture.withStore { store in
            let found12 = try await store.ids(in: "c", where: "n", is: 1)
            #expect(found12 == ["b"])
        }
    }

    @Test("is right again after a commit of a document that was edited, whatever it knew")
    func editedDocument() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1), "m": .integer(1)])
            let text = try fixture.folder.text(of: "data/documents/c/a.json")
            try fixture.folder.write(text.replacing("\"m\": 1", with: "\"m\": 2"), to: "data/documents/c/a.json")
            _ = try await store.commit([.update(DocumentPath("c/a"), [(FieldPath("n"), .integer(5))])])
            let found13 = try await store.ids(in: "c", where: "m", is: 1)
            #expect(found13 == [])
            let found14 = try await store.ids(in: "c", where: "m", is: 2)
            #expect(found14 == ["a"])
        }
        #expect(try await fixture.findings() == [])
    }

    @Test("is compared by a check, which counts the documents and names the first, and made anew by a repair")
    func check() async throws {
        try await fixture.withStore { store in
            for id in ["edited", "removed", "same"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            try await store.set("c/same/s/nested", ["n": .integer(1)])
        }
        let text = try fixture.folder.text(of: "data/documents/c/edited.json")
        try fixture.folder.write(text.replacing("\"n\": 1", with: "\"n\": 2"), to: "data/documents/c/edited.json")
        try fixture.folder.remove("data/documents/c/removed.json")
        try fixture.folder.write(text, to: "data/documents/c/added.json")
        let findings = try await fixture.findings().filter { $0.kind == .outdatedIndex }
        #expect(findings.count == 1)
        #expect(findings.first?.path.map { ["c/edited", "c/removed", "c/added"].contains($0) } == true)
        #expect(findings.first?.message.contains("3 documents") == true, "\(findings)")
        try await FileStore.repair(fixture.folder["data"], logger: .silent)
        #expect(try await fixture.findings().filter { $0.kind == .outdatedIndex || $0.kind == .damagedIndex } == [])
    }

    @Test("waits for nobody's cancelled reading")
    func cancellation() async throws {
        try await fixture.withStore { store in
            for number in 0..<50 { try await store.set("c/d\(number)", ["n": .integer(1)]) }
            let scan = IndexScan(target: .collection(try CollectionPath("c")), subject: .documents)
            let reading = Task {
                try await store.readIndex { snapshot throws(StatusError) in
                    while true {
                        let cursor = try snapshot.cursor(scan)
                        while try cursor.next() {}
                    }
                }
            }
            await Task.yield()
            reading.cancel()
            await expectStatus(.cancelled) { try await reading.value }
            let found15 = try await store.ids(in: "c", where: "n", is: 1).count
            #expect(found15 == 50)
        }
    }

    @Test("does not keep the store from being closed while somebody reads")
    func closing() async throws {
        let store = try await fixture.open()
        try await store.set("c/a", ["n": .integer(1)])
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let scan = IndexScan(target: .collection(try CollectionPath("c")), subject: .documents)
        let reading = Task {
            try await store.readIndex { snapshot throws(StatusError) in
                start.yield()
                while true { _ = try snapshot.count(scan) }
            }
        }
        for await _ in started { break }
        #expect(await store.close() == nil)
        await expectStatus(.cancelled) { try await reading.value }
        await expectStatus(.unavailable) { try await store.readIndex { $0.sequence } }
    }
}
