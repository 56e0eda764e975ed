/// The 64-bit FNV-1a hash, with which a token identifies the database, epoch or target that it was issued for.
///
/// The hash detects mistakes, not attacks: a token grants nothing that its holder could not read without it.
enum FNV1aHash {
    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
