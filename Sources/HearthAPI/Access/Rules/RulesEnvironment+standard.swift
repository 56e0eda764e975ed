import CZlib
import Cryptography
package import SecurityRules
import StorageIO

extension RulesEnvironment {
    /// The functions of rules on a server.
    package static let standard = RulesEnvironment { algorithm, bytes in
        switch algorithm {
        case .md5: MD5.digest(of: bytes)
        case .sha256: Array(SHA256.digest(of: bytes))
        case .crc32: UInt32(truncatingIfNeeded: CZlib.crc32(0, bytes, UInt32(bytes.count))).littleEndianBytes
        case .crc32c: bytes.withUnsafeBytes { CRC32C.checksum($0) }.littleEndianBytes
        }
    }
}

extension UInt32 {
    fileprivate var littleEndianBytes: [UInt8] {
        withUnsafeBytes(of: littleEndian) { Array($0) }
    }
}
