import DocumentStore
import DocumentStoreConformance
import FileStore
import Logging
import Testing

@Suite("Conformance of the file store")
struct FileStoreConformanceTests {
    @Test(arguments: StoreRequirement.all)
    func `The store meets every requirement`(of requirement: StoreRequirement) async throws {
        try await requirement.check(with: FileStoreFactory())
    }

    @Test(arguments: StoreHostRequirement.all)
    func `The host meets every requirement`(of requirement: StoreHostRequirement) async throws {
        let fixture = try StoreFixture()
        let host = try await FileStoreHost.open(fixture.configuration, logger: .silent)
        try await requirement.check(on: host)
        await host.close()
        // The folder is removed with the fixture.
        withExtendedLifetime(fixture) {}
    }
}

/// Creates file stores in temporary folders.
private struct FileStoreFactory: StoreFactory {
    func withStore(_ body: (any ClosableStore) async throws -> Void) async throws {
        try await StoreFixture().withStore { store in try await body(store) }
    }

    func withStoreOfShortHistory(_ body: (any ClosableStore) async throws -> Void) async throws {
        var fixture = try StoreFixture()
        fixture.configuration.segmentBytes = 8 << 10
        fixture.configuration.retentionBytes = 64 << 10
        fixture.configuration.checkpointBytes = 16 << 10
        fixture.configuration.recentBytes = 1 << 10
        try await fixture.withStore { store in try await body(store) }
    }
}
