import UTF8Text

/// The headers that a client sends within a handshake, because a browser would ask for permission to send them as such: lines
/// `Name:Value`.
struct WebChannelHeaderBlock {
    /// The values of the `Authorization` headers.
    let authorization: [String]

    init(_ block: some Collection<UInt8>) {
        authorization = block.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.compactMap { line in
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            guard name.map({ $0 | 0x20 }).elementsEqual("authorization".utf8) else { return nil }
            let value = line.dropFirst(name.count + 1).drop { $0 == UInt8(ascii: " ") }
            return String(decoding: value, as: UTF8.self)
        }
    }
}
