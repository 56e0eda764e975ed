import DocumentModel
import Foundation
import HearthAPI
import IdentityTokens
import KeySetFetching
import Logging
import ServiceLifecycle
import UTF8Text

/// The issuers and rules of a server that are configured by files, which it follows.
struct ServeAuthentication: Sendable {
    /// The trusted issuers.
    let issuers: TokenIssuers
    /// The authentication of end users.
    let endUsers: EndUserAuthenticator
    private let options: Options
    private let keySets: KeySetCache
    private let fetcher: KeySetFetcher?
    private let logger: Logger

    private struct Options: Sendable {
        /// The file with the rules of the server.
        let rules: String?
        /// The folder to which the names of files with keys are relative.
        let keyFolder: URL
    }

    /// The interval at which files are checked for changes.
    private static let maintenanceInterval = Duration.seconds(1)
    private static let maximumFileBytes = 1 << 20

    /// Reads the configuration.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for an invalid configuration; an error for a file that cannot be read.
    init(_ options: ServeAuthenticationOptions, logger: Logger) async throws {
        var issuers: [TokenIssuer] = []
        if let issuer = try options.firebaseIssuer { issuers.append(issuer) }
        var folder = URL(filePath: ".")
        if let path = options.authIssuers {
            folder = URL(filePath: path).deletingLastPathComponent()
            issuers += try IssuersFile(InputFile(path).readToEnd(maximumBytes: Self.maximumFileBytes), path: path).issuers.all
        }
        self.issuers = try TokenIssuers(issuers)
        self.options = Options(rules: options.rules, keyFolder: folder)
        self.logger = logger
        let fetcher = issuers.contains(where: \.keySource.isFetched) ? KeySetFetcher() : nil
        self.fetcher = fetcher
        keySets = KeySetCache(
            fetch: { issuer in
                guard let fetcher else { throw StatusError(.internal, "No issuer has keys to fetch.") }
                return try await fetcher.fetch(issuer)
            },
            report: { event in Self.log(event, logger) }
        )
        endUsers = EndUserAuthenticator(
            issuers.isEmpty ? nil : TokenAuthority(self.issuers, keySets: keySets),
            acceptsUnsignedTokens: options.emulator
        )
        for issuer in issuers {
            guard let path = path(ofKeysOf: issuer) else { continue }
            try keySets.update(issuer, to: InputFile(path).readToEnd(maximumBytes: Self.maximumFileBytes))
        }
    }

    /// Reads the rules of the server.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for rules that do not compile; an error for a file that cannot be read.
    func loadRules(in registry: RulesRegistry) throws {
        guard let path = options.rules else { return }
        do throws(StatusError) {
            try registry.setServerRules(InputFile(path).readToEnd(maximumBytes: Self.maximumFileBytes))
        } catch {
            throw StatusError(error.code, "--rules \(path): \(error.message)")
        }
    }

    /// Returns the path of the file with an issuer's keys; `nil` for keys that are fetched.
    private func path(ofKeysOf issuer: TokenIssuer) -> String? {
        switch issuer.keySource {
        case .keySetFile(let name), .publicKeyFile(let name), .secretFile(let name):
            URL(filePath: name, relativeTo: options.keyFolder).path(percentEncoded: false)
        case .keySetURL: nil
        }
    }

    /// Follows changes to the files, and keeps fetched keys fresh, until the task is cancelled.
    func run(_ registry: RulesRegistry) async {
        for issuer in issuers.all where issuer.keySource.isFetched { await keySets.refreshIfDue(issuer) }
        var files = WatchedFiles()
        if let rules = options.rules { files.add(rules) }
        for issuer in issuers.all { if let path = path(ofKeysOf: issuer) { files.add(path) } }
        while (try? await Task.sleep(for: Self.maintenanceInterval)) != nil {
            let changed = files.takeChanges()
            if let rules = options.rules, changed.contains(rules) {
                reporting("--rules \(rules)") { try loadRules(in: registry) }
            }
            for issuer in issuers.all {
                guard let path = path(ofKeysOf: issuer), changed.contains(path) else { continue }
                reporting(path) {
                    try keySets.update(issuer, to: InputFile(path).readToEnd(maximumBytes: Self.maximumFileBytes))
                }
            }
        }
        await fetcher?.shutDown()
    }

    /// Runs `body`. What was read before remains in use if it fails.
    private func reporting(_ name: String, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            logger.error("Failed to reload; keeping the previous contents", metadata: ["file": "\(name)", "error": "\(error)"])
        }
    }

    private static func log(_ event: KeySetEvent, _ logger: Logger) {
        switch event {
        case .loaded(let issuer, let keys, let hasChanged):
            guard hasChanged else { return }
            let skipped = keys.skippedKeys.map { "\($0)" }
            logger.notice(
                "Keys of a token issuer loaded",
                metadata: [
                    "issuer": "\(Excerpt(issuer.issuer.string).text)", "key.count": "\(keys.count)",
                    "key.skipped": .array(skipped.map { .string($0) }),
                ]
            )
        case .failed(let issuer, let error):
            logger.error(
                "Failed to fetch the keys of a token issuer; keeping the previous ones",
                metadata: ["issuer": "\(Excerpt(issuer.issuer.string).text)", "error": "\(error)"]
            )
        }
    }
}

/// Runs the maintenance of a server's issuers and rules.
struct ServeAuthenticationService: Service {
    private let authentication: ServeAuthentication
    private let rules: RulesRegistry
    /// The thread on which files are read.
    private let thread = ThreadPoolExecutor("hearth.authentication", count: 1)

    init(_ authentication: ServeAuthentication, rules: RulesRegistry) {
        (self.authentication, self.rules) = (authentication, rules)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskExecutorPreference(thread) { await authentication.run(rules) }
        }
    }
}
