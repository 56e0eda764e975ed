import CLibCrypto

/// A public key of OpenSSL.
///
/// Safe to share: nothing changes a key after its creation, and OpenSSL's verifications only read it.
final class OpenSSLKey: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// Decodes a SubjectPublicKeyInfo (RFC 5280, section 4.1) or an RSAPublicKey (RFC 8017, appendix A.1.1).
    ///
    /// - Returns: `nil` if it is something else, or describes an impossible key, such as a point that isn't on the curve.
    init?(der: [UInt8]) {
        let info = Self.decode(der) { d2i_PUBKEY(nil, &$0, $1) }
        guard let key = info ?? Self.decode(der, { d2i_PublicKey(EVP_PKEY_RSA, nil, &$0, $1) }) else { return nil }
        pointer = key
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    /// - Parameter body: Decodes a key from a position with a number of bytes, and moves the position to its end.
    private static func decode(_ der: [UInt8], _ body: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?) -> OpaquePointer? {
        der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            guard let key = body(&position, buffer.count) else {
                // Failures leave messages in a list of this thread.
                ERR_clear_error()
                return nil
            }
            guard let start = buffer.baseAddress, position == start + buffer.count else {
                EVP_PKEY_free(key)
                return nil
            }
            return key
        }
    }

    /// Returns whether a signature of a text was made with the private key.
    ///
    /// - Parameter hashFunction: `nil` if the algorithm of the key prescribes one.
    func verifies(_ signature: [UInt8], for text: [UInt8], _ hashFunction: HashFunction?) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        let isValid =
            EVP_DigestVerifyInit(context, nil, hashFunction?.pointer, nil, pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, text, text.count) == 1
        if !isValid { ERR_clear_error() }
        return isValid
    }
}

// MARK: - Reading a key

extension OpenSSLKey {
    /// Returns whether the key is one of an algorithm.
    func isFor(_ algorithm: String) -> Bool {
        EVP_PKEY_is_a(pointer, algorithm) == 1
    }

    /// Returns whether the key is a point of a curve.
    func isOn(curve: String) -> Bool {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else {
            ERR_clear_error()
            return false
        }
        return name.prefix(length).elementsEqual(curve.utf8.map(CChar.init))
    }

    /// Returns a number of the key, big-endian.
    ///
    /// - Parameter byteCount: The number of bytes; `nil` for as many as needed.
    func number(_ name: String, byteCount: Int? = nil) -> [UInt8]? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number else {
            ERR_clear_error()
            return nil
        }
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: byteCount ?? Int((BN_num_bits(number) + 7) / 8))
        return BN_bn2binpad(number, &bytes, Int32(bytes.count)) == bytes.count ? bytes : nil
    }

    /// Returns the bytes of a key of Ed25519.
    func rawBytes(count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var length = count
        guard EVP_PKEY_get_raw_public_key(pointer, &bytes, &length) == 1, length == count else {
            ERR_clear_error()
            return nil
        }
        return bytes
    }
}
