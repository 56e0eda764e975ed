package import DocumentModel
import UTF8Text

/// The keys of one issuer.
package struct VerificationKeySet: Sendable {
    /// The skipped keys of a JWK set, for the log.
    package let skippedKeys: [SkippedKey]
    private let keys: [UTF8Key: VerificationKey]
    /// The key of an issuer with only one.
    private let singleKey: VerificationKey?

    /// Decodes the contents of an issuer's ``TokenIssuer/keySource``.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if no key is usable. The message does not quote the contents.
    package init(decoding bytes: [UInt8], for issuer: TokenIssuer) throws(StatusError) {
        switch issuer.keySource {
        case .keySetFile, .keySetURL:
            let set = try JSONWebKeySet(bytes, algorithms: issuer.algorithms)
            guard !set.keys.isEmpty else {
                let reasons = set.skipped.prefix(3).map { ": \($0)" }.joined()
                throw StatusError(.invalidArgument, "The key set has no usable key\(reasons).")
            }
            skippedKeys = set.skipped
            keys = Dictionary(uniqueKeysWithValues: set.keys.compactMap { key in key.identity.id.map { ($0, key) } })
            singleKey = nil
        case .publicKeyFile, .secretFile:
            skippedKeys = []
            keys = [:]
            do throws(UnusableKey) {
                singleKey = try Self.singleKey(bytes, for: issuer)
            } catch {
                throw StatusError(.invalidArgument, "The key file is not usable: \(error.reason).")
            }
        }
    }

    /// The number of usable keys.
    package var count: Int { keys.count + (singleKey == nil ? 0 : 1) }

    /// The identities of the keys.
    package var identities: Set<KeyIdentity> {
        Set(keys.values.map(\.identity) + (singleKey.map { [$0.identity] } ?? []))
    }

    /// Returns the key with an ID; an issuer's only key has any ID or none.
    func key(withID id: UTF8Key?) -> VerificationKey? {
        singleKey ?? id.flatMap { keys[$0] }
    }

    private static func singleKey(_ bytes: [UInt8], for issuer: TokenIssuer) throws(UnusableKey) -> VerificationKey {
        if case .secretFile = issuer.keySource { return try .secret(bytes.withoutFinalLineBreak) }
        let key = try VerificationKey(pem: bytes)
        guard issuer.algorithms.contains(key.identity.algorithm) else {
            throw UnusableKey("its algorithm is \(key.identity.algorithm.rawValue), which the issuer is not configured for")
        }
        return key
    }
}

extension [UInt8] {
    /// The bytes without one LF or CR LF at the end, which editors append.
    fileprivate var withoutFinalLineBreak: [UInt8] {
        guard last == UInt8(ascii: "\n") else { return self }
        let line = dropLast()
        return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }
}
