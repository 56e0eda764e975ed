import Foundation
import Testing

@testable import HearthClient

@Suite("Settings from the environment")
struct FirestoreSettingsTests {
    @Test(
        arguments: [
            (nil, "http://127.0.0.1:8080", false), ("", "http://127.0.0.1:8080", false),
            ("http://127.0.0.1:9000", "http://127.0.0.1:9000", false),
            ("https://data.example.org", "https://data.example.org", true),
            ("HTTPS://data.example.org:8443", "https://data.example.org:8443", true),
            ("Http://[::1]:80", "http://[::1]:80", false), ("data.example.org", "http://data.example.org", false),
            ("localhost:1", "http://localhost:1", false),
            ("https://proxy.example/hearth/", "https://proxy.example/hearth", true),
        ] as [(String?, String, Bool)]
    )
    func `HEARTH_SERVER sets host and TLS`(server: String?, address: String, isSSLEnabled: Bool) throws {
        let settings = FirestoreSettings(environment: ["HEARTH_SERVER": server].compactMapValues(\.self))
        #expect(settings.isSSLEnabled == isSSLEnabled)
        #expect(settings.key == nil)
        #expect(try ServerAddress(FirestoreConfiguration(settings).address).description == address)
    }

    @Test(arguments: ["http://", "https://a b", "http://me:secret@x"])
    func `An invalid address is reported by the first call`(server: String) async throws {
        let db = Firestore(settings: FirestoreSettings(environment: ["HEARTH_SERVER": server]))
        let error = await #expect(throws: FirestoreError.self) { try await db.document("a/b").getDocument() }
        #expect(error?.code == FirestoreErrorCode.invalidArgument.rawValue)
        #expect(error?.localizedDescription.contains("secret") == false)
    }

    @Test(arguments: [(nil, nil), ("", nil), ("fsk_1_2", "fsk_1_2")] as [(String?, String?)])
    func `HEARTH_KEY sets the key`(key: String?, expected: String?) {
        #expect(FirestoreSettings(environment: ["HEARTH_KEY": key].compactMapValues(\.self)).key == expected)
    }

    @Test func `Where apps run, the cache is persistent by default, elsewhere there is none`() {
        let settings = FirestoreSettings(environment: [:])
        #if canImport(Darwin)
        #expect(settings.cacheSettings is PersistentCacheSettings)
        #else
        #expect(settings.cacheSettings == nil)
        #endif
    }

    @Test func `Equal settings can be set again after the first use`() async throws {
        let settings = FirestoreSettings(environment: ["HEARTH_SERVER": "http://127.0.0.1:1"])
        settings.cacheSettings = MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings())
        settings.credential = .idToken { _ in nil }
        let db = Firestore(settings: settings)
        let error = await #expect(throws: FirestoreError.self) { try await db.document("a/b").getDocument(source: .cache) }
        #expect(error?.code == FirestoreErrorCode.unavailable.rawValue)
        db.settings = settings
        db.useEmulator(withHost: "127.0.0.1", port: 1)
        let others = db.settings
        let standard = MemoryLRUGCSettings(sizeBytes: NSNumber(value: 100 << 20))
        others.cacheSettings = MemoryCacheSettings(garbageCollectorSettings: standard)
        #expect(others == settings)
        others.cacheSettings = MemoryCacheSettings()
        #expect(others != settings)
        try await db.terminate()
    }

    @available(*, deprecated)
    @Test func `The older settings of the cache set the newer one`() {
        let settings = FirestoreSettings(environment: [:])
        settings.cacheSettings = nil
        #expect(!settings.isPersistenceEnabled)
        settings.cacheSizeBytes = 2 << 20
        #expect(settings.cacheSettings == nil && settings.cacheSizeBytes == 2 << 20)
        settings.isPersistenceEnabled = true
        #expect((settings.cacheSettings as? PersistentCacheSettings)?.maximumByteCount == 2 << 20)
        settings.cacheSizeBytes = FirestoreCacheSizeUnlimited
        #expect((settings.cacheSettings as? PersistentCacheSettings)?.maximumByteCount == nil && settings.isPersistenceEnabled)
        #expect(settings.cacheSizeBytes == FirestoreCacheSizeUnlimited)
        settings.isPersistenceEnabled = false
        #expect(settings.cacheSettings is MemoryCacheSettings)
    }

    @Test func `An invalid key is reported by the first call without revealing it`() async throws {
        let db = Firestore(settings: FirestoreSettings(environment: ["HEARTH_KEY": "two words"]))
        let error = await #expect(throws: FirestoreError.self) { try await db.collection("a").getDocuments() }
        #expect(error?.code == FirestoreErrorCode.invalidArgument.rawValue)
        #expect(error?.localizedDescription.contains("two words") == false)
    }
}
