/// A string that is a web URL, safe to link to.
struct ExternalLink: Sendable {
    /// The stored URL.
    let url: String
    /// The scheme and the authority of the URL, as they are written.
    let origin: Substring.UTF8View
    /// The link text: the URL, shortened in the middle if it is long.
    let text: String

    /// Validates an `http` or `https` URL with a host; returns `nil` for any URL that a browser may interpret differently than it
    /// looks.
    ///
    /// The check compares bytes and strips nothing. Whitespace, control characters, quotes and backslashes are rejected, and so
    /// are URLs with user information, which can disguise the host.
    ///
    /// - Parameter textLimit: The maximum length of the link text.
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
        origin = bytes[..<authority.endIndex]
        text = string.truncatingMiddle(toScalars: textLimit)
    }
}

extension ExternalLink {
    private static let maximumBytes = 2_048

    /// Returns the start of the authority after a case-insensitive `http://` or `https://`.
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
