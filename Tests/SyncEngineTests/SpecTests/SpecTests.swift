import SyncEngine
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
}
