import DocumentModel
import DocumentStore
import DocumentStoreConformance
import JSONRPC
import SecurityRules
import StrictJSON
import Synchronization
import Testing
import UTF8Text

@testable import HearthAPI

/// A service with security rules, called by end users.
struct RulesFixture {
    let store: MemoryStore
    let registry: RulesRegistry
    let context: ServiceContext

    /// Creates a service whose rules have these statements below `/databases/{database}/documents`.
    init(_ statements: String, isEmulator: Bool = false, store: MemoryStore = MemoryStore()) throws {
        self.store = store
        registry = RulesRegistry(isEmulator: isEmulator)
        context = ServiceContext(store: store, rulesRegistry: registry)
        try set(statements)
    }

    /// Creates a service whose rules are replaced by others as soon as a page of a collection has been read from its store.
    static func replacingRules(_ statements: String, with others: String) throws -> RulesFixture {
        let fixture = Mutex<RulesFixture?>(nil)
        let store = MemoryStore { _, _ in
            // The first page only.
            guard
                let fixture = fixture.withLock({ fixture in
                    defer { fixture = nil }
                    return fixture
                })
            else { return }
            try fixture.set(others)
        }
        let created = try RulesFixture(statements, store: store)
        fixture.withLock { $0 = created }
        return created
    }

    /// Replaces the rules.
    func set(_ statements: String) throws {
        let text = """
            rules_version = '2';
            service cloud.firestore {
              match /databases/{database}/documents {
            \(statements)
              }
            }
            """
        try registry.setServerRules(Array(text.utf8))
    }

    /// Returns the caller with a user ID, or nobody signed in for `nil`.
    static func caller(_ uid: String?, claims: String = "{}") throws -> Caller {
        guard let uid else { return .anonymous }
        let claims = try JSONText(claims).root
        return Caller(
            EndUser(
                EndUser.ID(issuer: "tests", uid: UTF8Key(uid)),
                authentication: RulesRequest.Authentication(uid: UTF8Key(uid), claims: claims),
                expirationTime: nil,
                tokenDigest: UTF8Key(uid)
            )
        )
    }

    /// Returns the context of a user.
    func context(of uid: String?) throws -> ServiceContext {
        context.withCaller(try Self.caller(uid))
    }

    /// Returns the service of a user.
    func service(of uid: String?, claims: String = "{}") throws -> TemporaryService {
        TemporaryService(context: context.withCaller(try Self.caller(uid, claims: claims)), folder: "")
    }

    /// Sets a document as an administrator.
    func set(_ path: String, _ fields: String) async throws {
        let admin = TemporaryService(context: context, folder: "")
        try await admin.result(of: "documents.set", #"{"path": "\#(path)", "fields": \#(fields)}"#)
    }

    func delete(_ path: String) async throws {
        let admin = TemporaryService(context: context, folder: "")
        try await admin.result(of: "documents.delete", #"{"path": "\#(path)"}"#)
    }

    /// Returns the status of a call by a user: `OK`, or that of its error.
    func status(_ uid: String?, _ method: String, _ params: String, claims: String = "{}") async throws -> String {
        let response = try await service(of: uid, claims: claims).response(to: method, params)
        guard let error = response["error"] else { return "OK" }
        return error["data"]?["status"]?.string ?? String(decoding: error.rawBytes, as: UTF8.self)
    }
}
