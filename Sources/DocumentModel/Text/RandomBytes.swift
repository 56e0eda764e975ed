/// Bytes of the system's random numbers, which nobody can guess.
package enum RandomBytes {
    /// So many of them.
    package static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

extension Hexadecimal {
    /// Random bytes, two small digits for each.
    package static func random(byteCount: Int) -> String {
        encode(RandomBytes.make(byteCount))
    }
}
