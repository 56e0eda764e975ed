import DocumentIndex
import DocumentModel
import DocumentStore
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("The memory of an idle store")
struct IdleMemoryTests {
    @Test(.timeLimit(.minutes(10)))
    func `A store that is not used gives its caches back, and fills them again when it is used`() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.idleMemoryReleaseTime = .milliseconds(100)
        try await fixture.withStore { store throws in
            let cache = store.components.cache
            for round in 0..<2 {
                for number in 0..<100 { try await store.set("c/d\(number)", ["n": .integer(Int64(round))]) }
                _ = try await store.readIndex { $0.sequence }
                while cache.count > 0 { try await Task.sleep(for: .milliseconds(5)) }
                #expect(try await store.fields("c/d7") == ["n": .integer(Int64(round))])
                let size = try await store.components.index.read(atLeast: .zero) { snapshot throws(StatusError) in
                    try snapshot.size(of: nil)
                }
                #expect(size.documentCount == 100)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `A monitor that reads the storage report all the time does not keep the caches of an idle store`() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.idleMemoryReleaseTime = .milliseconds(100)
        try await fixture.withStore { store throws in
            for number in 0..<10 { try await store.set("c/d\(number)", ["n": .integer(1)]) }
            try await store.waitUntilIndexed()
            let cache = store.components.cache
            while cache.count > 0 { #expect(await store.storage()?.size?.documentCount == 10) }
        }
    }
}
