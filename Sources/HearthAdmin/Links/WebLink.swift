/// A string that is the address of a web page, safe to link to.
struct WebLink: Sendable {
    /// The address as it was stored.
    let url: String
    /// As much of it as there is room for, its beginning and its end.
    let text: String

    /// Takes `http` and `https` addresses with a host, and nothing that a browser would read in another way than it looks.
    ///
    /// The check goes byte by byte and nothing is stripped: white space, controls, quotes and backslashes are refused, and so are
    /// addresses with a user name, whose true host comes last.
    ///
    /// - Parameter textLimit: How many characters the link's text may have.
    init?(_ string: String, textLimit: Int = .max) {
        let bytes = string.utf8
        guard bytes.count <= Self.maximumBytes,
            let start = Self.endOfScheme(in: bytes),
            bytes.allSatisfy(Self.isPlain),
            DisplayText(string).runs.allSatisfy({ $0.mark == nil })
        else { return nil }
        let authority = bytes[start...].prefix { !Self.endsAuthority($0) }
        guard let first = authority.first, first != UInt8(ascii: ":"), !authority.contains(UInt8(ascii: "@")) else { return nil }
        url = string
        text = string.shortened(scalars: textLimit)
    }
}

extension WebLink {
    private static let maximumBytes = 2_048

    /// Where the authority begins after `http://` or `https://`, in either case.
    private static func endOfScheme(in bytes: String.UTF8View) -> String.Index? {
        for scheme in ["https://", "http://"] {
            let isScheme = bytes.count > scheme.utf8.count && zip(bytes, scheme.utf8).allSatisfy { lowercase($0) == $1 }
            if isScheme { return bytes.index(bytes.startIndex, offsetBy: scheme.utf8.count) }
        }
        return nil
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7f, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: true
        }
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}

extension WebLink: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "url": url
        case "text": text
        default: nil
        }
    }
}
