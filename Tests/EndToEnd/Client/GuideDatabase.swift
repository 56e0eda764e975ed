import HearthClient
import TestSupport
import Testing

extension EndToEndServer {
    /// The default database of the server.
    var firestore: Firestore {
        let settings = FirestoreSettings()
        settings.host = String(address.dropFirst("http://".count))
        settings.isSSLEnabled = false
        settings.key = nil
        return Firestore(settings: settings)
    }
}

/// Calls `body` with the database of a server with the documents of the guide.
func withGuide(_ body: (Firestore) async throws -> Void) async throws {
    try await withServer { server in
        #expect(try await hearth("example", "load", "guide", "--server", server.address).status == .code(0))
        let db = server.firestore
        try await body(db)
        try await db.terminate()
    }
}
