import StrictJSON

/// A field of a message by its two names, both of which are read: `updateMask` and `update_mask`.
struct MessageField: ExpressibleByStringLiteral, Sendable {
    /// The name in JSON, which is the one that is written.
    let name: UTF8Key
    /// The name in the protocol's definition.
    let original: UTF8Key

    /// - Parameter value: The name in JSON.
    init(stringLiteral value: String) {
        name = UTF8Key(value)
        var original: [UInt8] = []
        for byte in value.utf8 {
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) {
                original += [UInt8(ascii: "_"), byte | 0x20]
            } else {
                original.append(byte)
            }
        }
        self.original = UTF8Key(String(decoding: original, as: UTF8.self))
    }

    /// Whether a member of an object is this field.
    func isNamed(_ key: UTF8Key) -> Bool {
        key == name || key == original
    }
}
