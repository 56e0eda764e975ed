/// An API key or the text of an ID token, as sent in `Authorization: Bearer …`. Its descriptions do not contain it.
struct BearerToken: Sendable {
    /// The secret text.
    let text: String

    /// Creates a token; `nil` if the text has characters other than printable ASCII characters, or is empty.
    init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
        self.text = text
    }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "…" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
