import SyncCache
import SyncEngine
import TestSupport
import Testing

@Suite("Spec tests of Firestore's client SDKs")
struct SpecTests {
    @Test(arguments: SpecTest.replayed.filter { $0.applies(to: .transient) })
    func `A client with a transient cache behaves like the SDKs`(in test: SpecTest) throws {
        var runner = SpecRunner(test, cache: MemoryCache(isEager: test.usesEagerCache))
        try runner.run()
    }

    @Test(arguments: SpecTest.replayed.filter { $0.applies(to: .durable) })
    func `A client with a durable cache behaves like the SDKs`(in test: SpecTest) throws {
        var runner = SpecRunner(test, cache: MemoryCache(isEager: false))
        try runner.run()
    }

    @Test(arguments: SpecTest.replayed.filter { $0.applies(to: .durable) })
    func `A client with a cache on disk, which a restart opens again, behaves like the SDKs`(in test: SpecTest) throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        var runner = SpecRunner(test, cache: try PersistentCache(folder: folder["cache"])) { cache in
            cache.close()
            return try PersistentCache(folder: folder["cache"])
        }
        try runner.run()
    }
}
