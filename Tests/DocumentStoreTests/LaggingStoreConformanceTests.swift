import DocumentStoreConformance
import Testing

@Suite("Conformance of a store whose known position lags")
struct LaggingStoreConformanceTests {
    @Test(arguments: StoreRequirement.all)
    func `The store meets every requirement`(of requirement: StoreRequirement) async throws {
        try await requirement.check(with: LaggingStoreFactory(MemoryStoreFactory()))
    }
}
