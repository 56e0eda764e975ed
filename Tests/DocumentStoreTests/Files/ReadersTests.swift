import Dispatch
import DocumentModel
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import DocumentStore

@Suite struct ReadersTests {
    @Test("A document is read while all threads that read collections are busy", .timeLimit(.minutes(1)))
    func documentsBesideLists() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            let gate = DispatchSemaphore(value: 0)
            for _ in 0..<fixture.configuration.readers { store.listers.submit { gate.wait() } }
            let document = try await store.document(at: DocumentPath("c/d"), readTime: nil)
            for _ in 0..<fixture.configuration.readers { gate.signal() }
            #expect(document != nil)
        }
    }

    @Test("A document that was written or read before is told from memory, and only as it is")
    func documentInMemory() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d/e/ü f")
            try await store.set(path.string, ["n": .integer(1)])
            // What changes elsewhere may make the system look again, and then it does not tell.
            let told = (0..<1_000).lazy.compactMap { _ in store.parts.files.documentInMemory(at: path) }.first
            #expect(try told?.decoded().fields == ["n": .integer(1)])
            try fixture.folder.write("{\"n\": 2}", to: "data/documents/c/d/e/ü f.json")
            #expect(store.parts.files.documentInMemory(at: path) == nil)
        }
    }

    @Test("A file that was changed a moment ago is not known from one read, since it may be half written")
    func changedAMomentAgo() async throws {
        let fixture = try StoreFixture()
        let file = fixture.folder["data/documents/c/d.json"]
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d")
            try await store.set("c/d", [:])
            let text = try fixture.folder.text(of: "data/documents/c/d.json")
            // However long it takes until it is read, what is yet to come is no longer ago.
            for (age, isKnown) in [(-600.0, false), (600.0, true)] {
                try fixture.folder.write(text, to: "data/documents/c/d.json")
                try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: file)
                #expect(try await store.document(at: path) != nil)
                #expect((0..<1_000).contains { _ in store.parts.files.documentInMemory(at: path) != nil } == isKnown)
            }
        }
    }
}
