import CLibCrypto

/// A hash function of OpenSSL, looked up once: a look-up by name takes longer than the digest of a short text.
struct HashFunction: Sendable {
    // Safe: OpenSSL never changes a fetched algorithm, and counts its references atomically.
    nonisolated(unsafe) let pointer: OpaquePointer

    static let sha256 = HashFunction("SHA256")
    static let md5 = HashFunction("MD5")

    private init(_ name: String) {
        guard let pointer = EVP_MD_fetch(nil, name, nil) else { Self.fail() }
        self.pointer = pointer
    }

    /// Ends the process: a digest fails only without memory, or where the system's OpenSSL forbids the algorithm.
    static func fail() -> Never {
        fatalError("OpenSSL could not compute a digest: out of memory, or its configuration forbids the algorithm.")
    }
}
