import DocumentStoreConformance
import Testing

@Suite("Conformance of the memory store")
struct MemoryStoreConformanceTests {
    @Test(arguments: StoreRequirement.all)
    func `The store meets every requirement`(of requirement: StoreRequirement) async throws {
        try await requirement.check(with: MemoryStoreFactory())
    }

    @Test(arguments: StoreHostRequirement.all)
    func `The host meets every requirement`(of requirement: StoreHostRequirement) async throws {
        try await requirement.check(on: MemoryStoreHost())
    }
}
