import Crypto
import DocumentModel
import DocumentStore
import Foundation
import HTTPTypes
import HearthService
import Logging
import StrictJSON

@testable import HearthAdmin

/// The pages over a store of their own, with a clock that stands still and a nonce that stays the same.
struct TestSite: Sendable {
    let store: FileStore
    let pages: AdminPages
    let keys: AccessKeys
    let folder: URL

    static let nonce = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

    /// With what the words in forms are made.
    static let formSecret = SymmetricKey(data: Array("0123456789abcdef0123456789abcdef".utf8))

    /// The word that forms send which were shown to a caller without a session.
    static func token(for caller: Caller = .anybody) -> String {
        FormToken(for: Visitor(caller: caller).formName(browser: UTF8Key(nonce)), secret: formSecret).masked(by: nonce)
    }

    /// The repository's folder, which holds the templates and static files.
    static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Reading and compiling them takes longer than most tests.
    private static let assets = Result { try PageAssets(AssetLocation(folder: repository)) }

    /// The pages' texts.
    static func catalogue() throws -> Catalogue {
        try Catalogue(templates: repository.appending(path: "Templates"))
    }

    /// Runs `body` with pages over a store that holds what `writes` make, and removes its folder in the end.
    static func with<Result>(
        _ writes: [Write] = [],
        limits: ServiceLimits = ServiceLimits(),
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        _ body: (TestSite) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-admin-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let commitTime = try Timestamp(rfc3339: "2026-01-02T03:04:05.678901Z")
        let now = try Timestamp(rfc3339: "2026-01-02T05:04:06Z")
        var configuration = FileStoreConfiguration(folder: folder.path)
        configuration.now = { commitTime }
        // Preallocating journal is most of what a small store costs.
        configuration.segmentBytes = 256 << 10
        let store = try await FileStore.open(configuration, logger: logger)
        if !writes.isEmpty { _ = try await store.commit(writes) }
        let keys = AccessKeys()
        let pages = AdminPages(
            context: ServiceContext(
                store: store,
                server: ServerDescription(startTime: .now - .seconds(7_201), limits: limits),
                keys: keys
            ),
            assets: try assets.get(),
            logger: logger,
            surroundings: AdminPages.Surroundings(
                now: { now },
                nonce: { nonce },
                formSecret: formSecret,
                signInTime: .zero,
                patience: .seconds(600),
                uploadFolder: folder.path
            )
        )
        do {
            let result = try await body(TestSite(store: store, pages: pages, keys: keys, folder: folder))
            await store.close()
            return result
        } catch {
            await store.close()
            throw error
        }
    }

    /// Gets an address: a path with or without query.
    func get(
        _ address: String,
        method: HTTPRequest.Method = .get,
        knownTags: String? = nil,
        host: String = "127.0.0.1:8080",
        acceptedLanguages: String? = nil,
        as caller: Caller = .anybody,
        cookies: [String] = []
    ) async -> PageResponse {
        let parts = address.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1)
        return await pages.response(
            to: AdminPages.PageRequest(
                method: method,
                path: parts.first.map { String(Substring($0)) } ?? "/",
                query: parts.count > 1 ? String(Substring(parts[1])) : nil,
                host: host,
                knownTags: knownTags,
                acceptedLanguages: acceptedLanguages,
                cookies: cookies,
                visitor: Visitor(caller: caller)
            )
        )
    }

    /// Sends a form, of the documentation unless another address is given.
    func send(_ form: String, to path: String = "/rpc/docs", as caller: Caller = .anybody) async -> PageResponse {
        await post(path, form, as: caller)
    }

    /// Sends a form to an address, with the word that it was shown with.
    func post(
        _ address: String,
        _ form: String,
        as caller: Caller = .anybody,
        cookies: [String] = [],
        origin: String? = "http://127.0.0.1:8080"
    ) async -> PageResponse {
        let parts = address.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1)
        return await pages.response(
            to: AdminPages.PageRequest(
                method: .post,
                path: parts.first.map { String(Substring($0)) } ?? "/",
                query: parts.count > 1 ? String(Substring(parts[1])) : nil,
                host: "127.0.0.1:8080",
                cookies: cookies,
                origin: origin,
                visitor: Visitor(caller: caller),
                form: Array("\(form)&form-token=\(Self.token(for: caller))".utf8)
            )
        )
    }

    /// Gets a page and parses it.
    func page(_ address: String) async throws -> HTMLPage {
        try HTMLPage(await get(address).body)
    }
}
