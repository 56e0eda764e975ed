import CLibCrypto

/// The MD5 hash function (RFC 1321), for formats that prescribe it. It protects nothing.
package enum MD5 {
    private static let byteCount = 16

    /// Returns the digest of bytes: 16 bytes.
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            guard EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, HashFunction.md5.pointer, nil) == 1 else {
                HashFunction.fail()
            }
            count = byteCount
        }
    }
}
