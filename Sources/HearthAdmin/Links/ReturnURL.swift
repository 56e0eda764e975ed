import UTF8Text

/// A URL on this server to return to after a form was submitted.
///
/// The URL is submitted with the form, so it is validated to prevent open redirects: it must be a path that starts with exactly
/// one slash and consists of visible ASCII characters without backslashes.
struct ReturnURL: Sendable {
    /// The path, with its query.
    let url: String

    /// Validates a submitted URL; an absent or invalid one is replaced with the overview.
    init(_ submitted: UTF8Key?) {
        let bytes = submitted?.string.utf8
        let slash = UInt8(ascii: "/")
        let backslash = UInt8(ascii: "\\")
        guard let bytes, bytes.first == slash, bytes.dropFirst().first != slash,
            bytes.allSatisfy({ (0x21...0x7e).contains($0) && $0 != backslash })
        else {
            url = AdminURL.overview
            return
        }
        url = String(Substring(bytes[...]))
    }
}
