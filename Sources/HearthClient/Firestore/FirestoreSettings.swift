public import Dispatch
internal import Foundation
public import HearthTransport

/// The server address, credential, timeout and callback queue of a database.
///
/// The defaults come from the environment: host and TLS from `HEARTH_SERVER`, such as `https://data.example.org`, and the API
/// key from `HEARTH_KEY`. Without `HEARTH_SERVER`, the server is `127.0.0.1:8080` without TLS.
public final class FirestoreSettings {
    /// The host of the server, with an optional port and path prefix.
    public var host: String
    /// True to use TLS.
    public var isSSLEnabled: Bool
    /// Certificates in PEM format that are trusted beside those of the system; `nil` for none. For a server whose certificate was
    /// issued by an authority of your own.
    public var certificateAuthorities: [UInt8]?
    /// The certificate that is presented to a server that asks for one; `nil` for none.
    public var clientCertificate: ClientCertificate?
    /// The credential; `nil` for none.
    public var credential: FirestoreCredential?
    /// The API key; `nil` for none. It is the ``credential``: setting it replaces an ID token.
    public var key: String? {
        get {
            guard case .key(let key)? = credential?.kind else { return nil }
            return key
        }
        set { credential = newValue.map { .key($0) } }
    }
    /// The maximum time to wait for a response. The default is one minute.
    ///
    /// A call that waits longer fails with ``FirestoreErrorCode/deadlineExceeded``; a write may nevertheless have taken effect.
    /// The time includes that for an ID token.
    public var timeout = Duration.seconds(60)
    /// The settings of the local cache; `nil` for none. Without a cache, reads and writes need the server, and listeners are silent without it.
    ///
    /// The default on Apple's systems is that of Firestore's SDK, ``PersistentCacheSettings``. Elsewhere, where programs mostly run beside their
    /// server, there is no cache by default.
    public var cacheSettings: (any LocalCacheSettings)?
    /// The size that ``isPersistenceEnabled`` gives a cache.
    var persistentCacheByteCount: Int64 = 100 << 20
    /// The queue for completions and listeners. The default is the main queue.
    public var dispatchQueue = DispatchQueue.main

    /// Creates settings with the defaults from the environment.
    public convenience init() {
        self.init(environment: ProcessInfo.processInfo.environment)
    }

    /// Creates settings from environment variables. Ignores empty ones. An address without a scheme implies no TLS.
    init(environment: [String: String]) {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.utf8.isEmpty ? nil : $0 }
        }
        let server = Array((value("HEARTH_SERVER") ?? "http://127.0.0.1:8080").utf8)
        let schemes = ["https://", "http://"].map { Array($0.utf8) }
        // Case-insensitive.
        let scheme = schemes.first { server.prefix($0.count).elementsEqual($0) { $0 == $1 || $0 | 0x20 == $1 } }
        isSSLEnabled = scheme == schemes[0]
        host = String(decoding: server.dropFirst(scheme?.count ?? 0), as: UTF8.self)
        credential = value("HEARTH_KEY").map { .key($0) }
        #if canImport(Darwin)
        cacheSettings = PersistentCacheSettings()
        #endif
    }

    init(_ configuration: FirestoreConfiguration) {
        host = configuration.host
        isSSLEnabled = configuration.isSSLEnabled
        certificateAuthorities = configuration.certificateAuthorities
        clientCertificate = configuration.clientCertificate
        credential = configuration.credential
        timeout = configuration.timeout
        cacheSettings = configuration.cacheSettings
        dispatchQueue = configuration.queue
    }
}

/// An immutable copy of the settings.
struct FirestoreConfiguration: Sendable {
    let host: String
    let isSSLEnabled: Bool
    let certificateAuthorities: [UInt8]?
    let clientCertificate: ClientCertificate?
    let credential: FirestoreCredential?
    let timeout: Duration
    let cacheSettings: (any LocalCacheSettings)?
    let queue: DispatchQueue

    init(_ settings: FirestoreSettings) {
        host = settings.host
        isSSLEnabled = settings.isSSLEnabled
        certificateAuthorities = settings.certificateAuthorities
        clientCertificate = settings.clientCertificate
        credential = settings.credential
        timeout = settings.timeout
        cacheSettings = settings.cacheSettings
        queue = settings.dispatchQueue
    }

    var address: String {
        "\(isSSLEnabled ? "https" : "http")://\(host)"
    }
}

extension FirestoreConfiguration: Equatable {
    static func == (left: FirestoreConfiguration, right: FirestoreConfiguration) -> Bool {
        let hasEqualCache =
            switch (left.cacheSettings, right.cacheSettings) {
            case (nil, nil): true
            case (let left?, let right?): left.isEqual(to: right)
            default: false
            }
        return hasEqualCache && left.host == right.host && left.isSSLEnabled == right.isSSLEnabled
            && left.certificateAuthorities == right.certificateAuthorities && left.clientCertificate == right.clientCertificate
            && left.credential == right.credential && left.timeout == right.timeout && left.queue === right.queue
    }
}

extension FirestoreSettings: Equatable {
    /// Returns whether two settings have the same values.
    public static func == (left: FirestoreSettings, right: FirestoreSettings) -> Bool {
        FirestoreConfiguration(left) == FirestoreConfiguration(right)
    }
}
