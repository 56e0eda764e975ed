import CLibCrypto

/// A SHA-256 digest (FIPS 180-4) in the making, for contents that come in pieces.
package struct SHA256: ~Copyable {
    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex2(context, HashFunction.sha256.pointer, nil) == 1 else {
            HashFunction.fail()
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: [UInt8]) {
        guard EVP_DigestUpdate(context, bytes, bytes.count) == 1 else { HashFunction.fail() }
    }

    /// Returns the digest of all bytes.
    package consuming func finalize() -> SHA256Digest {
        SHA256Digest { EVP_DigestFinal_ex(context, $0, nil) == 1 }
    }

    /// Returns the digest of bytes.
    package static func digest(of bytes: [UInt8]) -> SHA256Digest {
        SHA256Digest { EVP_Digest(bytes, bytes.count, $0, nil, HashFunction.sha256.pointer, nil) == 1 }
    }
}

/// A SHA-256 digest: 32 bytes, without an allocation.
package struct SHA256Digest: RandomAccessCollection, Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// The number of bytes of a digest.
    package static let byteCount = 32

    /// - Parameter fill: Writes the bytes, and returns whether it has.
    init(_ fill: (UnsafeMutablePointer<UInt8>?) -> Bool) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let isFilled = withUnsafeMutableBytes(of: &words) { fill($0.baseAddress?.assumingMemoryBound(to: UInt8.self)) }
        guard isFilled else { HashFunction.fail() }
        self.words = words
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { Self.byteCount }

    package subscript(index: Int) -> UInt8 {
        withUnsafeBytes(of: words) { $0[index] }
    }

    package static func == (left: SHA256Digest, right: SHA256Digest) -> Bool {
        left.words == right.words
    }

    package func hash(into hasher: inout Hasher) {
        withUnsafeBytes(of: words) { hasher.combine(bytes: $0) }
    }
}
