extension [UInt8] {
    /// Where the last byte is that is not zero; nil when all are.
    ///
    /// Looks at eight bytes at a time, because nearly all of a preallocated segment is zeros.
    var lastNonzeroIndex: Int? {
        withUnsafeBytes { bytes in
            var end = bytes.count
            while end >= 8, bytes.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self) == 0 { end -= 8 }
            while end > 0, bytes[end - 1] == 0 { end -= 1 }
            return end > 0 ? end - 1 : nil
        }
    }
}
