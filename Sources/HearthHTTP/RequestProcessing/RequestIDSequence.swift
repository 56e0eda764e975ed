import Synchronization

/// The IDs of the requests of this process: 32 hexadecimal digits, the first half random for the process, the second counting from a
/// random number.
enum RequestIDSequence {
    private static let prefix = UInt64.random(in: .min ... .max)
    private static let count = Atomic(UInt64.random(in: .min ... .max))

    /// Returns a new ID. Made for every request, so it costs one allocation only.
    static func next() -> String {
        let numbers = (prefix, count.wrappingAdd(1, ordering: .relaxed).newValue)
        return String(unsafeUninitializedCapacity: 32) { buffer in
            for index in 0..<16 {
                let shift = UInt64(60 - 4 * index)
                buffer[index] = digit(numbers.0 >> shift)
                buffer[16 + index] = digit(numbers.1 >> shift)
            }
            return 32
        }
    }

    /// Returns the digit of the lowest four bits.
    private static func digit(_ bits: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: bits & 0xF)
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }
}
