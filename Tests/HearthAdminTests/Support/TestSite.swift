import Cryptography
import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HTTPTypes
import HearthAPI
import Logging
import StorageIO
import UTF8Text

@testable import HearthAdmin

/// The pages over a temporary store, with a fixed clock and a fixed nonce.
struct TestSite: Sendable {
    let store: FileStore
    let pages: AdminPages
    let keys: APIKeyRegistry
    let folder: URL

    /// The folder for backups.
    var backupFolder: URL { folder.appendingPathExtension("backups") }

    static let nonce = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

    /// The key from which CSRF tokens are derived.
    static let csrfSecret = SymmetricKey(Array("0123456789abcdef0123456789abcdef".utf8))

    /// Returns the CSRF token of forms for a caller without a session.
    static func token(for caller: Caller = .openAccess) -> String {
        CSRFToken(for: Principal(caller: caller).formOwner(browserID: UTF8Key(nonce)), secret: csrfSecret).masked(by: nonce)
    }

    /// The repository's root folder.
    static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Shared, because loading and compiling assets takes longer than most tests.
    private static let assets = Result { try PageAssets(AssetLocation(folder: repository)) }

    /// Loads the translations.
    static func catalog() throws -> TranslationCatalog {
        try TranslationCatalog(templates: repository.appending(path: "Templates"))
    }

    /// Runs `body` with pages over a temporary store that contains `writes`.
    ///
    /// - Parameters:
    ///   - observer: Receives the lookups of the templates.
    ///   - isEmulator: True for a server in emulator mode.
    ///   - hasBackups: True for a server with a folder for backups.
    ///   - sharedJobs: The jobs that it shares with other servers.
    static func with<Result>(
        _ writes: [Write] = [],
        limits: ServiceLimits = ServiceLimits(),
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        observer: TemplateContext.Observer? = nil,
        isEmulator: Bool = false,
        hasBackups: Bool = false,
        sharedJobs: SharedJobs? = nil,
        _ body: (TestSite) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-admin-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let commitTime = try Timestamp(rfc3339: "2026-01-02T03:04:05.678901Z")
        let now = try Timestamp(rfc3339: "2026-01-02T05:04:06Z")
        var configuration = FileStoreConfiguration(folder: folder.path)
        configuration.now = { commitTime }
        // Preallocating the journal dominates the cost of a small store.
        configuration.segmentBytes = 256 << 10
        let store = try await FileStore.open(configuration, logger: logger)
        let backupFolder = folder.appendingPathExtension("backups")
        defer { try? FileManager.default.removeItem(at: backupFolder) }
        let host =
            hasBackups
            ? try await FileStoreHost.open(
                store,
                configuration,
                backupFolder: BackupFolder.open(backupFolder.path, outside: folder.path, creating: true),
                logger: logger
            ) : nil
        if !writes.isEmpty {
            _ = try await store.commit(writes)
            // The overview shows sizes as of the last indexed commit.
            try await store.waitUntilIndexed()
        }
        let keys = APIKeyRegistry()
        let rules = RulesRegistry(
            isEmulator: isEmulator,
            now: { commitTime },
            files: { id throws(StatusError) in
                guard id == nil else { return nil }
                return RulesFiles(
                    rules: try await .open(.rules, inFolder: folder.path),
                    history: try await .open(.rulesHistory, inFolder: folder.path)
                )
            }
        )
        let databases: DatabaseRegistry? =
            if let host { try await DatabaseRegistry.open(of: host, rules: rules, logger: logger) } else { nil }
        var pageAssets = try assets.get()
        pageAssets.templates.observer = observer
        let pages = AdminPages(
            context: ServiceContext(
                store: store,
                server: ServerDescription(startTime: .now - .seconds(7_201), limits: limits),
                keys: keys,
                rulesRegistry: rules,
                rules: try await rules.rules(of: .standard, isDefault: true),
                databases: databases
            ),
            assets: pageAssets,
            uploads: UploadStore(folder: folder.path),
            jobRunner: JobRunner(logger: logger, shared: sharedJobs, waitTime: .seconds(600)),
            logger: logger,
            dependencies: AdminPages.Dependencies(
                now: { now },
                nonce: { nonce },
                csrfSecret: csrfSecret,
                failedSignInDuration: .zero
            )
        )
        do {
            let result = try await body(TestSite(store: store, pages: pages, keys: keys, folder: folder))
            _ = await databases?.close()
            await store.close()
            return result
        } catch {
            _ = await databases?.close()
            await store.close()
            throw error
        }
    }

    /// Sends a GET request for a path with an optional query.
    func get(
        _ address: String,
        method: HTTPRequest.Method = .get,
        ifNoneMatch: String? = nil,
        host: String = "127.0.0.1:8080",
        acceptLanguage: String? = nil,
        as caller: Caller = .openAccess,
        cookies: [String] = []
    ) async -> PageResponse {
        let parts = address.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1)
        return await pages.response(
            to: PageRequest(
                method: method,
                path: parts.first.map { String(Substring($0)) } ?? "/",
                rawQuery: parts.count > 1 ? String(Substring(parts[1])) : nil,
                host: host,
                ifNoneMatch: ifNoneMatch,
                acceptLanguage: acceptLanguage,
                cookies: cookies,
                principal: Principal(caller: caller)
            )
        )
    }

    /// Submits a form, by default to the API reference.
    func send(_ form: String, to path: String = "/rpc/docs", as caller: Caller = .openAccess) async -> PageResponse {
        await post(path, form, as: caller)
    }

    /// Submits a form with a valid CSRF token.
    func post(
        _ address: String,
        _ form: String,
        as caller: Caller = .openAccess,
        cookies: [String] = [],
        origin: String? = "http://127.0.0.1:8080"
    ) async -> PageResponse {
        let parts = address.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1)
        return await pages.response(
            to: PageRequest(
                method: .post,
                path: parts.first.map { String(Substring($0)) } ?? "/",
                rawQuery: parts.count > 1 ? String(Substring(parts[1])) : nil,
                host: "127.0.0.1:8080",
                cookies: cookies,
                origin: origin,
                principal: Principal(caller: caller),
                form: Array("\(form)&form-token=\(Self.token(for: caller))".utf8)
            )
        )
    }

    /// Requests and parses a page.
    func page(_ address: String) async throws -> HTMLPage {
        try HTMLPage(await get(address).body)
    }
}
