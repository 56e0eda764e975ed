public import Dispatch
internal import Foundation

/// Where a database is, and how it calls back.
///
/// What is not set comes from the environment: the address and TLS from `HEARTH_SERVER`, such as
/// `https://data.example.org`, and the key from `HEARTH_KEY`. Without these it is `127.0.0.1:8080`, without TLS.
public final class FirestoreSettings {
    /// The host of the server, with a port where it isn't the usual one, and a path where a proxy has Hearth below one.
    public var host: String
    /// Whether the server is spoken to by TLS.
    public var isSSLEnabled: Bool
    /// The key to show to the server; nil for none.
    public var key: String?
    /// How long an answer may take to begin; a call that waits longer fails as ``FirestoreErrorCode/deadlineExceeded``, and a
    /// write may have happened all the same. A minute unless it is said otherwise.
    public var timeout = Duration.seconds(60)
    /// Where completions and listeners are called; the main queue unless it is said otherwise.
    public var dispatchQueue = DispatchQueue.main

    /// Makes settings from the environment.
    public convenience init() {
        self.init(environment: ProcessInfo.processInfo.environment)
    }

    /// Makes settings from variables. One that is empty is as good as none, and an address without a scheme is one without TLS.
    init(environment: [String: String]) {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.utf8.isEmpty ? nil : $0 }
        }
        let server = Array((value("HEARTH_SERVER") ?? "http://127.0.0.1:8080").utf8)
        let schemes = ["https://", "http://"].map { Array($0.utf8) }
        // Letters in either case.
        let scheme = schemes.first { server.prefix($0.count).elementsEqual($0) { $0 == $1 || $0 | 0x20 == $1 } }
        isSSLEnabled = scheme == schemes[0]
        host = String(decoding: server.dropFirst(scheme?.count ?? 0), as: UTF8.self)
        key = value("HEARTH_KEY")
    }

    init(_ configuration: FirestoreConfiguration) {
        host = configuration.host
        isSSLEnabled = configuration.isSSLEnabled
        key = configuration.key
        timeout = configuration.timeout
        dispatchQueue = configuration.queue
    }
}

/// Settings as they were when a database was given them.
struct FirestoreConfiguration: Sendable {
    let host: String
    let isSSLEnabled: Bool
    let key: String?
    let timeout: Duration
    let queue: DispatchQueue

    init(_ settings: FirestoreSettings) {
        host = settings.host
        isSSLEnabled = settings.isSSLEnabled
        key = settings.key
        timeout = settings.timeout
        queue = settings.dispatchQueue
    }

    var address: String {
        "\(isSSLEnabled ? "https" : "http")://\(host)"
    }
}
