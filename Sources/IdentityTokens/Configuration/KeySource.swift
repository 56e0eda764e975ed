/// The source of an issuer's keys. The caller reads the file or fetches the URL.
package enum KeySource: Hashable, Sendable {
    /// A file with a JWK set (RFC 7517, section 5).
    case keySetFile(String)
    /// The address of a JWK set.
    case keySetURL(HTTPSURL)
    /// A file with one public key in PEM format (RFC 7468, section 13).
    case publicKeyFile(String)
    /// A file with the secret of HS256: its bytes without a final line break.
    case secretFile(String)

    /// True for a source with one key, which tokens need not name.
    var hasSingleKey: Bool {
        switch self {
        case .keySetFile, .keySetURL: false
        case .publicKeyFile, .secretFile: true
        }
    }

    /// True for a source that is fetched, and not read from a file.
    package var isFetched: Bool {
        if case .keySetURL = self { true } else { false }
    }
}
