/// FNV-1a of 64 bits, by which tokens know what they were given for: to recognise a mistake, not an attack, since whoever may use
/// a token may do without one.
enum TokenHash {
    static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
