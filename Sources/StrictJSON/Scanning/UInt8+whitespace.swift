extension UInt8 {
    /// True if the byte is JSON whitespace (RFC 8259, section 2).
    @inline(__always)
    package var isJSONWhitespace: Bool {
        switch self {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): true
        default: false
        }
    }
}
