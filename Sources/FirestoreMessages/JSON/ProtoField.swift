package import UTF8Text

/// A message field by its two names, both of which are accepted: `updateMask` and `update_mask`.
package struct ProtoField: ExpressibleByStringLiteral, Sendable {
    /// The JSON name, lowerCamelCase.
    package let name: UTF8Key
    /// The name in the `.proto` definition, snake_case.
    package let protoName: UTF8Key

    /// Creates a field.
    ///
    /// - Parameter value: The JSON name.
    package init(stringLiteral value: String) {
        name = UTF8Key(value)
        var protoName: [UInt8] = []
        for byte in value.utf8 {
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) {
                protoName += [UInt8(ascii: "_"), byte | 0x20]
            } else {
                protoName.append(byte)
            }
        }
        self.protoName = UTF8Key(String(decoding: protoName, as: UTF8.self))
    }

    /// Returns whether an object key names this field.
    package func matches(_ key: UTF8Key) -> Bool {
        key == name || key == protoName
    }
}
