/// Bytes from the system's cryptographically secure random number generator.
package enum RandomBytes {
    /// Returns `count` random bytes.
    package static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

extension Hexadecimal {
    /// Returns random bytes as lowercase digits, two per byte.
    package static func random(byteCount: Int) -> String {
        encode(RandomBytes.make(byteCount))
    }
}
